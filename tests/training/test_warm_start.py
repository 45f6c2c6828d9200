import numpy as np

from lann.metric import Levels
from lann.training import Settings, warm_start


def test_levels_that_are_learned_again_start_from_the_previous_ones(learned):
    start = Levels.plain(learned.X, learned.labels, 3)
    everything = warm_start(start, learned, Settings())
    np.testing.assert_array_equal(everything.components, learned.components)
    np.testing.assert_array_equal(everything.class_log_weights, learned.class_log_weights)
    np.testing.assert_allclose(everything.points, learned.points)
    np.testing.assert_allclose(everything.point_log_weights, learned.point_log_weights, atol=1e-6)
    all_axes = warm_start(start, learned, Settings(form="low_rank"))
    np.testing.assert_array_equal(all_axes.components, learned.components)


def test_levels_that_are_not_learned_again_start_from_nothing(learned):
    start = Levels.plain(learned.X, learned.labels, 3)
    only_curves = Settings(linear_map=False, class_metrics=False, point_metrics=False)
    found = warm_start(start, learned, only_curves)
    assert found.curves is learned.curves
    assert found.components is None
    assert not found.class_log_weights.any()
    assert not found.point_log_weights.any()


def test_matrices_are_used_for_matrices_only(learned):
    matrices = np.random.default_rng(0).normal(size=(90, 4, 4))
    previous = learned.replace(point_matrices=matrices)
    start = Levels.plain(learned.X, learned.labels, 3)
    again = warm_start(start, previous, Settings(form="full"))
    np.testing.assert_allclose(again.point_matrices, matrices, atol=1e-6)
    assert warm_start(start, previous, Settings()).point_matrices is None
