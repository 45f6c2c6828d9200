import numpy as np
import pytest

from lann.metrics.levels import Levels
from lann.training import Settings, inherit, join


@pytest.mark.parametrize("n_points", [90, 7])
def test_a_point_that_is_there_already_inherits_its_own_weights(learned, n_points):
    rng = np.random.default_rng(1)
    levels = learned.replace(point_log_weights=rng.normal(size=learned.X.shape))
    rows = rng.permutation(90)[:n_points]
    inherited = inherit(levels, levels.X[rows], levels.labels[rows], Settings())
    np.testing.assert_allclose(inherited, levels.point_log_weights[rows], atol=1e-6)


def test_a_new_point_inherits_from_its_own_class(learned):
    levels = learned.replace(
        point_log_weights=np.where(learned.labels == 1, 1.0, -1.0)[:, None] * np.ones(learned.X.shape)
    )
    new = levels.X[:5] + 0.01
    np.testing.assert_allclose(inherit(levels, new, np.full(5, 1), Settings()), 1.0)
    np.testing.assert_allclose(inherit(levels, new, np.full(5, 0), Settings()), -1.0)


def test_the_first_point_of_a_class_inherits_nothing(blobs):
    X, y = blobs
    levels = Levels.plain(X[:60], y[:60], 3).replace(point_log_weights=np.ones((60, 4)))
    np.testing.assert_array_equal(inherit(levels, X[60:], y[60:], Settings()), np.zeros((30, 4)))


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
