from types import SimpleNamespace

import pytest
from sklearn.naive_bayes import GaussianNB

from benchmarks.common.methods import make_estimator
from benchmarks.noisy.data import load_noisy_sets
from benchmarks.noisy.measure import describe_vote, measure_split


@pytest.mark.parametrize(
    ("attributes", "description"),
    [
        ({}, None),
        ({"n_neighbors_": 5, "power_": 1.0}, "k=5, power=1"),
        ({"n_neighbors_": 35, "power_": 0.5, "floor_": 0.02}, "k=35, power=0.5, floor=0.02"),
        ({"n_neighbors_": 35, "power_": 2.0, "vote_": SimpleNamespace(floor=0.0)}, "k=35, power=2, floor=0"),
        ({"best_params_": {"n_neighbors": 7, "weights": "distance"}}, "k=7, weights=distance"),
    ],
)
def test_votes_in_words(attributes, description):
    assert describe_vote(SimpleNamespace(**attributes)) == description


def test_a_measurement_has_the_vote_of_neighbors(folder):
    (data,), _ = load_noisy_sets(["titanic"])
    (split,) = data.splits(0, 1)
    ours = measure_split(make_estimator("lann", 1, 0), data, split, 1)
    assert ours["vote"].startswith("k=")
    assert "power=" in ours["vote"]
    assert ours["accuracy"] > 0.5
    assert "vote" not in measure_split(GaussianNB(), data, split, 1)
