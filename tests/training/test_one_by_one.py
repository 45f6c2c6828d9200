import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings, join, warm_start


def inherited(levels, X, labels):
    start = Levels.plain(X, labels, len(levels.class_log_weights))
    return warm_start(start, levels, Settings()).point_log_weights


@pytest.mark.parametrize("n_points", [90, 7])
def test_a_point_that_is_there_already_inherits_its_own_weights(learned, n_points):
    rng = np.random.default_rng(1)
    levels = learned.replace(point_log_weights=rng.normal(size=learned.X.shape))
    rows = rng.permutation(90)[:n_points]
    own = inherited(levels, levels.X[rows], levels.labels[rows])
    np.testing.assert_allclose(own, levels.point_log_weights[rows], atol=1e-6)


def test_a_new_point_inherits_from_its_own_class(learned):
    levels = learned.replace(
        point_log_weights=np.where(learned.labels == 1, 1.0, -1.0)[:, None] * np.ones(learned.X.shape)
    )
    new = levels.X[:5] + 0.01
    np.testing.assert_allclose(inherited(levels, new, np.full(5, 1)), 1.0)
    np.testing.assert_allclose(inherited(levels, new, np.full(5, 0)), -1.0)


def test_the_first_point_of_a_class_inherits_nothing(blobs):
    X, y = blobs
    levels = Levels.plain(X[:60], y[:60], 3).replace(point_log_weights=np.ones((60, 4)))
    np.testing.assert_array_equal(inherited(levels, X[60:], y[60:]), np.zeros((30, 4)))


def test_a_warm_start_takes_over_what_is_learned_again(learned):
    start = Levels.plain(learned.X, learned.labels, 3)
    everything = warm_start(start, learned, Settings())
    np.testing.assert_array_equal(everything.map, learned.map)
    np.testing.assert_array_equal(everything.class_log_weights, learned.class_log_weights)
    np.testing.assert_allclose(everything.points, learned.points)
    curves = warm_start(start, learned, Settings(linear_map=False, class_metrics=False, point_metrics=False))
    assert curves.curves is learned.curves
    assert curves.map is None
    assert not curves.class_log_weights.any()
    nothing = warm_start(start, learned, Settings(form="low_rank", n_components=2, curves=False))
    assert nothing is start
    all_axes = warm_start(start, learned, Settings(form="low_rank"))
    np.testing.assert_array_equal(all_axes.map, learned.map)


def test_matrices_are_taken_over_by_matrices_only(learned):
    maps = np.random.default_rng(0).normal(size=(90, 4, 4))
    earlier = learned.replace(point_matrices=maps)
    start = Levels.plain(learned.X, learned.labels, 3)
    again = warm_start(start, earlier, Settings(form="full"))
    np.testing.assert_allclose(again.point_matrices, maps, atol=1e-6)
    assert warm_start(start, earlier, Settings()).point_matrices is None


@pytest.mark.parametrize("point_weights", [True, False])
def test_points_join(learned, point_weights):
    settings = Settings(point_weights=point_weights)
    joined = join(learned, learned.X[:3] + 0.05, learned.labels[:3], settings)
    assert joined.X.shape == (93, 4)
    assert joined.point_log_weights.shape == (93, 4)
    np.testing.assert_array_equal(joined.labels[90:], learned.labels[:3])
    assert joined.curves is learned.curves
    np.testing.assert_array_equal(joined.class_log_weights, learned.class_log_weights)
    moved = np.any(joined.point_log_weights[:90] != learned.point_log_weights, axis=1).sum()
    assert (moved > 0) == point_weights
