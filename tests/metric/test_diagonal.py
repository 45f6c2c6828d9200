import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric._diagonal import DiagonalMetric


def random_metric(seed, shared=False, n_points=None, offset=0.0):
    rng = np.random.default_rng(seed)
    shape = (n_points or int(rng.integers(1, 20)), int(rng.integers(1, 8)))
    points = rng.normal(size=shape) + offset
    weights = rng.exponential(size=shape[1] if shared else shape)
    weights[rng.random(weights.shape) < 0.2] = 0.0
    queries = rng.normal(size=(7, shape[1])) + offset
    return DiagonalMetric(points, weights), queries, rng


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 1e6]))
def test_distances_are_weighted_sums_of_squares(reference, seed, shared, offset):
    metric, queries, rng = random_metric(seed, shared, offset=offset)
    candidates = rng.integers(0, metric.n_points, (7, 4))
    expected = np.take_along_axis(
        reference.distances(queries, metric.points, metric.weights), candidates, axis=1
    )
    np.testing.assert_allclose(metric.distances(queries, candidates), expected, rtol=1e-13)


@given(st.integers(0, 10**6), st.booleans(), st.sampled_from([0.0, 1e6]))
def test_the_lifted_product_is_the_distance(reference, seed, shared, offset):
    metric, queries, _ = random_metric(seed, shared, offset=offset)
    lifted, add = metric.lift_queries(queries, np.float64)
    product = lifted @ metric.lift_points(np.float64).T + add[:, None]
    expected = reference.distances(queries, metric.points, metric.weights)
    np.testing.assert_allclose(product, expected, rtol=1e-10, atol=1e-10 * (1 + expected.max()))


def class_metric(seed, n_points=40):
    rng = np.random.default_rng(seed)
    points, table = rng.normal(size=(n_points, 3)), rng.exponential(size=(4, 3))
    labels = rng.integers(0, 4, n_points)
    return (
        DiagonalMetric(points, table, labels),
        DiagonalMetric(points, table[labels]),
        rng.normal(size=(7, 3)),
    )


def test_weights_of_classes_measure_as_if_every_point_had_its_own():
    by_class, by_point, queries = class_metric(2)
    every = np.tile(np.arange(40), (7, 1))
    np.testing.assert_array_equal(by_class.distances(queries, every), by_point.distances(queries, every))
    np.testing.assert_allclose(by_class.mean_weights, by_point.mean_weights, rtol=1e-13)
    rows = np.array([5, 31, 2])
    np.testing.assert_array_equal(by_class.weights_of(rows), by_point.weights_of(rows))
    some, own = by_class.subset(rows), np.tile(np.arange(3), (7, 1))
    np.testing.assert_array_equal(some.distances(queries, own), by_point.distances(queries, rows[own]))
    assert by_class.weights.shape == (4, 3)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_the_lifted_product_has_a_column_per_class_if_there_are_fewer_than_axes(reference, n_classes):
    rng = np.random.default_rng(5)
    points, table = rng.normal(size=(20, 3)), rng.exponential(size=(n_classes, 3))
    metric = DiagonalMetric(points, table, rng.integers(0, n_classes, 20))
    queries = rng.normal(size=(7, 3))
    lifted, add = metric.lift_queries(queries, np.float64)
    assert lifted.shape[1] == metric.lift_width == (n_classes if n_classes < 3 else 3) + 4
    expected = reference.distances(queries, points, metric.weights_of(slice(None)))
    np.testing.assert_allclose(lifted @ metric.lift_points(np.float64).T + add[:, None], expected, rtol=1e-12)
    rows = np.array([4, 11])
    np.testing.assert_array_equal(metric.lift_points(np.float32, rows), metric.lift_points(np.float32)[rows])


def test_single_precision_is_stored_and_not_computed_with():
    rng = np.random.default_rng(3)
    points, weights = rng.normal(size=(30, 4)), rng.exponential(size=(30, 4))
    stored = DiagonalMetric(points.astype(np.float32), weights.astype(np.float32))
    rounded = DiagonalMetric(stored.points.astype(np.float64), stored.weights.astype(np.float64))
    queries, every = rng.normal(size=(7, 4)), np.tile(np.arange(30), (7, 1))
    assert stored.points.dtype == stored.weights.dtype == np.float32
    np.testing.assert_array_equal(stored.distances(queries, every), rounded.distances(queries, every))
    np.testing.assert_array_equal(stored.lift_points(np.float32), rounded.lift_points(np.float32))
