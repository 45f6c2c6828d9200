import numpy as np
import pytest

from lann.curves import FeatureCurves
from lann.metrics.levels import Levels


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    labels = rng.integers(0, 2, 30)
    curves = FeatureCurves.straight(X, 4)
    curves = FeatureCurves(curves.edges, np.exp(rng.normal(size=curves.slopes.shape)))
    return Levels(X, labels, curves, rng.normal(size=(2, 3)), rng.normal(size=X.shape))


def test_plain_levels_are_euclidean():
    X = np.random.default_rng(0).normal(size=(10, 3))
    plain = Levels.plain(X, np.zeros(10, np.int64), 2)
    np.testing.assert_array_equal(plain.points, X)
    np.testing.assert_array_equal(plain.weights, np.ones((10, 3)))
    assert plain.class_metric().shared
    np.testing.assert_array_equal(plain.relevances(np.ones(3)), np.ones((10, 3)))


def test_weights_of_class_and_point_multiply(levels):
    expected = np.exp(levels.class_log_weights)[levels.labels] * np.exp(levels.point_log_weights)
    np.testing.assert_allclose(levels.weights, expected)
    np.testing.assert_array_equal(levels.local_metric().weights, levels.weights)
    np.testing.assert_array_equal(levels.local_metric().points, levels.curves.transform(levels.X))


def test_the_class_metric_leaves_out_the_points_own_weights(levels):
    metric = levels.class_metric()
    np.testing.assert_allclose(metric.weights, np.exp(levels.class_log_weights)[levels.labels])
    same = levels.replace(point_log_weights=np.zeros_like(levels.point_log_weights)).local_metric()
    np.testing.assert_array_equal(metric.weights, same.weights)


def test_relevances_predict_the_distance_of_a_small_step(levels):
    scale = np.array([1.0, 2.0, 0.5])
    relevances = levels.relevances(scale)
    metric, step = levels.local_metric(), 1e-7
    for feature in range(3):
        moved = levels.X.copy()
        moved[:, feature] += step * scale[feature]
        own = np.arange(30)[:, None]
        d = metric.distances(levels.curves.transform(moved), own)[:, 0]
        inside = levels.curves.locate(moved)[0][:, feature] == levels.curves.locate(levels.X)[0][:, feature]
        assert inside.sum() > 25
        np.testing.assert_allclose(d[inside] / step**2, relevances[inside, feature], rtol=1e-4)


def test_replace_leaves_the_original_alone(levels):
    before = levels.class_log_weights.copy()
    other = levels.replace(class_log_weights=np.zeros((2, 3)))
    np.testing.assert_array_equal(levels.class_log_weights, before)
    assert not other.class_log_weights.any()
    assert other.X is levels.X


def test_a_fixed_norm_keeps_the_proportions():
    rng = np.random.default_rng(7)
    levels = Levels.plain(rng.normal(size=(20, 4)), rng.integers(3, size=20), 3)
    levels = levels.replace(
        class_log_weights=rng.normal(size=(3, 4)), point_log_weights=rng.normal(size=(20, 4))
    )
    fixed = levels.with_fixed_norm()
    np.testing.assert_allclose(fixed.weights.sum(axis=1), 4.0)
    ratio = fixed.weights / levels.weights
    np.testing.assert_allclose(ratio, ratio[:, :1] * np.ones(4))
