import numpy as np
import pytest

from lann.training import OnlineSettings, train_online
from lann.training._online import choose_temperature


def run(levels, callback=None, **settings):
    return train_online(levels, OnlineSettings(**settings), np.random.default_rng(0), callback=callback)


@pytest.mark.parametrize("form", ["diagonal", "full", "low_rank"])
@pytest.mark.parametrize("constraint", ["norm", "determinant", "bounded"])
def test_training_lowers_the_loss(plain, form, constraint):
    levels, losses, _ = run(plain, form=form, constraint=constraint, n_components=3, max_iter=5)
    assert len(losses) == 5
    assert losses[-1] < losses[0]
    n_axes = 3 if form == "low_rank" else 4
    assert (levels.components is None) == (form != "low_rank")
    if form == "diagonal":
        assert levels.point_matrices is None
        assert levels.point_log_weights.any()
    else:
        assert levels.point_matrices.shape == (90, n_axes, n_axes)


@pytest.mark.parametrize("form", ["diagonal", "full"])
def test_the_final_metrics_have_the_norm(plain, form):
    levels, _, _ = run(plain, form=form, constraint="norm", max_iter=2)
    metrics = levels.local_matrices(np.arange(90))
    np.testing.assert_allclose(np.trace(metrics, axis1=1, axis2=2), 4.0)


def test_the_temperature_is_the_given_or_the_chosen_one(plain):
    assert run(plain, temperature=7.0, max_iter=0)[2] == 7.0
    assert run(plain, temperature=None, max_iter=0)[2] == choose_temperature(plain)


def test_a_single_neighbor_at_a_typical_distance_convinces(plain):
    """With the chosen β, against any number of classes without a neighbor."""
    squared = np.sum(np.square(plain.X[:, None] - plain.X), axis=2)
    near = np.sort(squared, axis=1)[:, 1:6]
    vote = np.median(np.mean(1 / (near + 1e-3 * np.median(near)), axis=1))
    evidence = np.exp(vote / choose_temperature(plain))
    others = len(plain.class_log_weights) - 1
    assert evidence / (evidence + others) == pytest.approx(np.e / (np.e + 1))
