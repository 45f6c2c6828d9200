import numpy as np
import pytest

from lann.reject._row_evidence import NoveltyScale, Reading, compute_certainties, novelty_threshold

PROBABILITIES = np.array([[0.7, 0.2, 0.1], [0.4, 0.35, 0.25], [0.1, 0.2, 0.7]])


def test_separation_orders_equal_probabilities_only():
    reading = Reading(PROBABILITIES, np.array([-0.5, 1.0, 0.5]), None)
    certainties = compute_certainties(reading, np.zeros(3), "combined")
    assert certainties.argsort().tolist() == [1, 0, 2]
    assert ((certainties > 0) & (certainties < 1)).all()


def test_novelty_is_the_distance_relative_to_the_median_of_held_out_rows():
    rng = np.random.default_rng(0)
    distances = rng.normal(size=200)
    parts = np.column_stack([distances, 3 * rng.normal(size=200) - 8, np.full(200, -np.inf)])
    scale = NoveltyScale.fit(parts)
    alone = parts.copy()
    alone[:, 1] = -1e3
    np.testing.assert_allclose(scale.novelties(alone), np.exp(distances - np.median(distances)))
    assert (scale.novelties(parts) >= scale.novelties(alone)).all()


@pytest.mark.parametrize(("share", "n_above"), [(0.05, 10), (0.01, 2), (0.5, 100)])
def test_the_threshold_leaves_at_most_the_share(share, n_above):
    novelties = np.random.default_rng(0).permutation(np.arange(200.0))
    assert n_above - 1 <= (novelties > novelty_threshold(novelties, share)).sum() <= n_above


def test_new_rows_are_above_the_threshold_with_the_probability_of_the_share():
    rng = np.random.default_rng(0)
    shares = [
        (rng.exponential(size=500) > novelty_threshold(rng.exponential(size=100), 0.05)).mean()
        for _ in range(300)
    ]
    assert 0.045 < np.mean(shares) < 0.054
