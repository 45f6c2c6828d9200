import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric._diagonal import DiagonalMetric, rounding_bound
from lann.metric._matrix import MatrixMetric, metric_products


def random_metric(seed, n_points=None, n_axes=None, rank=None, offset=0.0, dtype=np.float64):
    rng = np.random.default_rng(seed)
    n_points = n_points or int(rng.integers(1, 20))
    n_axes = n_axes or int(rng.integers(1, 10))
    rank = rank or int(rng.integers(1, 10))
    points = rng.normal(size=(n_points, n_axes)) + offset
    matrices = rng.normal(size=(n_points, n_axes, rank)).astype(dtype)
    matrices[rng.random(matrices.shape) < 0.2] = 0.0
    return MatrixMetric(points, matrices), rng.normal(size=(7, n_axes)) + offset, rng


def sizes_of_terms(metric, queries):
    """(Σ_a √Λ_aa |x_a − p_a|)²: what rounding is relative to, (n_queries, n_points)."""
    steep = np.sqrt(np.einsum("jar,jar->ja", metric.matrices, metric.matrices, dtype=np.float64))
    return np.einsum("ja,qja->qj", steep, np.abs(queries[:, None] - metric.points)) ** 2


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e6]), st.sampled_from([np.float64, np.float32]))
def test_distances_are_squared_lengths_of_projections(reference, seed, offset, dtype):
    metric, queries, rng = random_metric(seed, offset=offset, dtype=dtype)
    candidates = rng.integers(0, metric.n_points, (7, 4))
    expected = reference.matrix_distances(queries, metric.points, metric.matrices)
    tolerance = 1e-13 * np.take_along_axis(sizes_of_terms(metric, queries), candidates, axis=1)
    found = metric.distances(queries, candidates)
    assert np.all(np.abs(found - np.take_along_axis(expected, candidates, axis=1)) <= tolerance)
    assert np.all(found >= 0)


@given(st.integers(0, 10**6))
def test_with_diagonal_matrices_it_is_the_diagonal_metric(seed):
    metric, queries, rng = random_metric(seed)
    weights = rng.exponential(size=metric.points.shape)
    matrices = np.sqrt(weights)[:, :, None] * np.eye(metric.n_axes)
    candidates = rng.integers(0, metric.n_points, (7, 4))
    np.testing.assert_allclose(
        MatrixMetric(metric.points, matrices).distances(queries, candidates),
        DiagonalMetric(metric.points, weights).distances(queries, candidates),
        rtol=1e-13,
    )


@given(st.integers(0, 10**6), st.sampled_from([0.0, 1e6]))
def test_the_lifted_product_is_the_distance(reference, seed, offset):
    metric, queries, _ = random_metric(seed, offset=offset)
    lifted, add = metric.lift_queries(queries, np.float64)
    points = metric.lift_points(np.float64)
    width = metric.n_axes * (metric.n_axes + 1) // 2 + metric.n_axes + 1
    assert lifted.shape == (7, width)
    assert points.shape == (metric.n_points, width)
    assert np.abs(points).max() <= metric.lifted_size
    expected = reference.matrix_distances(queries, metric.points, metric.matrices)
    np.testing.assert_allclose(
        lifted @ points.T + add[:, None], expected, rtol=1e-9, atol=1e-9 * (1 + expected.max())
    )


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    seed=st.integers(0, 10**6),
    shape=st.sampled_from([(1, 1), (3, 3), (20, 20), (12, 2), (2, 9)]),
    spread=st.sampled_from([0.1, 1.0, 3.0]),
    scale=st.sampled_from([1e-4, 1.0, 1e6]),
    offset=st.sampled_from([0.0, 10.0, 1e4]),
)
def test_the_rounding_bound_holds_for_every_pair(dtype, seed, shape, spread, scale, offset):
    rng = np.random.default_rng(seed)
    n_axes, rank = shape
    points = (rng.normal(size=(40, n_axes)) + offset * rng.random(n_axes)) * scale
    matrices = np.exp(spread * rng.normal(size=(40, n_axes, 1))) * rng.normal(size=(40, n_axes, rank))
    queries = np.concatenate([points[:8] + 1e-6 * scale * rng.normal(size=(8, n_axes)), points[:4] * 3])
    metric = MatrixMetric(points, matrices)
    lifted, add = metric.lift_queries(queries, dtype)
    products = (lifted @ metric.lift_points(dtype).T).astype(np.float64) + add[:, None]
    measured = metric.distances(queries, np.tile(np.arange(40), (len(queries), 1)))
    sizes, rounding = metric.rounding(queries, dtype)
    assert np.all(np.abs(products - measured) <= rounding_bound(sizes[:, None], measured, rounding))


def test_products_with_the_metric():
    metric, _, rng = random_metric(4, n_points=9, n_axes=5, rank=3)
    candidates, steps = rng.integers(0, 9, (4, 6)), rng.normal(size=(4, 6, 5))
    squares = metric.matrices @ metric.matrices.swapaxes(1, 2)
    expected = np.einsum("qcab,qcb->qca", squares[candidates], steps)
    np.testing.assert_allclose(
        metric_products(steps, metric.matrices, candidates), expected, rtol=1e-12, atol=1e-12
    )
