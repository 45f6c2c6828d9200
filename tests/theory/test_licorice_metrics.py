"""Near a stick of licorice only the distance across its axis decides: the learned metrics say so.

A point's *quotient* is how much a step along its stick's axis counts, against a step across it: 0 is ideal,
1 says nothing. `local_matrices` is checked against second differences in tests/explain/test_point_metrics.py.
"""

from functools import cache

import numpy as np
import pytest

from lann import LANNClassifier
from lann.baselines import GMLVQ, LMNN
from lann.datasets import make_licorice
from lann.explain import local_matrices

SEEDS = (0, 1, 2)
# Sticks are long; the shape of a long one alone makes a metric shrink its axis. Those of length 1.5 spread
# as far along the axis as across, so that only their labels can tell the axis.
LONG, ROUND = 10.0, 1.5

# Point metrics alone, and quick: what is learned is in the space of the features.
POINT = {"levels": ("point",), "n_candidates": 100, "max_iter": 4}
MODELS = {
    "weights": POINT | {"alpha": 0.0, "learning_rate": 0.2},
    "matrices": POINT | {"metric": "full"},
    "default": {},
    "unlearned": {"metric": "full", "max_iter": 0},
}
# Constants of the training for few rows of three features and few epochs.
CONSTANTS = {
    "weights": {"feature_dropout": 0.0, "smoothing": 0.15},
    "matrices": {"feature_dropout": 0.0, "candidate_dropout": 0.85, "smoothing": 0.3},
}


class WithConstants(LANNClassifier):
    """A classifier that is trained with the constants of a model."""

    def _settings(self, class_weight):
        return super()._settings(class_weight).replace(**CONSTANTS[self.model])


def draw(model, length, seed):
    """Points, labels, and each point's axis; along the coordinates where metrics are diagonal."""
    X, y, cylinders = make_licorice(
        540,
        n_cylinders=6,
        length=length,
        axis_aligned=model in ("weights", "default"),
        random_state=seed,
        return_axes=True,
    )
    return X, y, cylinders.axes[cylinders.membership]


@cache
def learned(model, length, seed, permuted=False):
    """Each point's quotient, |cos| between its axis and what it sees least, and whether it is inside."""
    X, y, axes = draw(model, length, seed)
    labels = np.random.default_rng(seed).permutation(y) if permuted else y
    clf = (WithConstants if model in CONSTANTS else LANNClassifier)(random_state=seed, **MODELS[model])
    clf.model = model
    matrices = local_matrices(clf.fit(X, labels))
    least_seen = np.linalg.eigh(matrices)[1][:, :, 0]
    cosines = np.abs(np.einsum("ja,ja->j", least_seen, axes))
    return quotients(matrices, axes), cosines, y == 1


def quotients(matrices, axes):
    """How much a step along the axis counts, against the mean of two across it: (n_points,)."""
    along = np.einsum("jab,ja,jb->j", matrices, axes, axes)
    return along / ((np.trace(matrices, axis1=1, axis2=2) - along) / 2)


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [LONG, ROUND])
@pytest.mark.parametrize("model", ["weights", "matrices"])
def test_a_step_along_the_axis_counts_less_than_one_across(model, length, seed):
    quotient, _, inside = learned(model, length, seed)
    # Seen from outside the boundary is a wall, not a tube: a step around the axis matters little, too.
    assert np.median(quotient[inside]) < (0.2 if length == LONG else 0.3)
    assert np.median(quotient[~inside]) < (0.3 if length == LONG else 0.65)
    assert min(np.mean(quotient[inside] < 1), np.mean(quotient[~inside] < 1)) > 0.85


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("length", [LONG, ROUND])
def test_what_a_point_sees_least_is_the_axis(length, seed):
    _, cosine, inside = learned("matrices", length, seed)
    assert np.median(cosine[inside]) > 0.95  # .5 is chance
    if length == LONG:
        assert np.median(cosine[~inside]) > 0.95


@pytest.mark.parametrize("seed", SEEDS)
def test_so_do_the_defaults_with_curves_and_a_map(seed):
    quotient, _, inside = learned("default", LONG, seed)
    for some in (quotient[inside], quotient[~inside]):
        assert np.median(some) < 0.2
        assert np.mean(some < 1) > 0.8


def test_before_learning_there_is_no_preference():
    quotient, _, _ = learned("unlearned", LONG, 0)
    np.testing.assert_allclose(quotient, 1.0)


@pytest.mark.parametrize("model", ["weights", "matrices"])
def test_permuted_labels_leave_no_preference_where_the_shape_has_none(model):
    real = [learned(model, ROUND, seed) for seed in SEEDS]
    shuffled = [learned(model, ROUND, seed, permuted=True) for seed in SEEDS]
    assert min(np.median(quotient) for quotient, _, _ in shuffled) > 0.5
    assert max(np.median(quotient) for quotient, _, _ in real) < 0.5
    if model == "weights":  # of three axes, which is the least?
        right = [np.mean(cosine > 0.9) for _, cosine, _ in shuffled]
        assert abs(np.mean(right) - 1 / 3) < 0.15
        assert min(np.mean(cosine > 0.9) for _, cosine, _ in real) > 0.7
    else:  # the median of |cos| between random directions is .5; points nearby agree, so draws vary
        assert abs(np.mean([np.median(cosine) for _, cosine, _ in shuffled]) - 0.5) < 0.25


@pytest.mark.parametrize("model", ["weights", "matrices"])
def test_on_long_cylinders_labels_teach_much_more_than_the_shape(model):
    shape = np.median(learned(model, LONG, 0, permuted=True)[0])
    assert shape < 0.9
    assert np.median(learned(model, LONG, 0)[0]) < shape / 3


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("shared", [GMLVQ, LMNN])
def test_a_metric_that_all_points_share_cannot_say_so(shared, seed):
    """Over three directions at right angles the mean quotient of one matrix is never below 1 (Nesbitt)."""
    X, y, axes = draw("weights", LONG, seed)
    clf = shared().fit(X, y)
    axes_seen = clf.components_  # (n_axes, 3)
    quotient = quotients(np.broadcast_to(axes_seen.T @ axes_seen, (len(X), 3, 3)), axes)
    assert np.mean(quotient) > 1 - 1e-9
    assert np.mean(learned("weights", LONG, seed)[0]) < 0.3
