import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann.metric import _matrix
from lann.metric._diagonal import DiagonalMetric, rounding_bound
from lann.metric._matrix import MatrixMetric, metric_products
from lann.search import ExactSearch


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


def test_the_order_of_pairs_does_not_matter(monkeypatch):
    metric, queries, rng = random_metric(3, n_points=15, n_axes=6, rank=5)
    candidates = rng.integers(0, 15, (7, 9))
    steps = rng.normal(size=(7, 9, 6))
    plain = metric.distances(queries, candidates), metric_products(steps, metric.matrices, candidates)
    monkeypatch.setattr(_matrix, "GROUP_FROM", 0)
    grouped = metric.distances(queries, candidates), metric_products(steps, metric.matrices, candidates)
    np.testing.assert_array_equal(plain[0], grouped[0])
    np.testing.assert_array_equal(plain[1], grouped[1])
    alone = [metric.distances(queries[i : i + 1], candidates[i : i + 1]) for i in range(7)]
    np.testing.assert_array_equal(plain[0], np.concatenate(alone))


def test_products_with_the_metric():
    metric, _, rng = random_metric(4, n_points=9, n_axes=5, rank=3)
    candidates, steps = rng.integers(0, 9, (4, 6)), rng.normal(size=(4, 6, 5))
    squares = metric.matrices @ metric.matrices.swapaxes(1, 2)
    expected = np.einsum("qcab,qcb->qca", squares[candidates], steps)
    np.testing.assert_allclose(
        metric_products(steps, metric.matrices, candidates), expected, rtol=1e-12, atol=1e-12
    )


def test_a_subset_measures_like_the_whole():
    metric, queries, _ = random_metric(1, n_points=12)
    rows = np.array([7, 2, 11])
    some = metric.subset(rows)
    assert some.n_points == 3
    own = np.tile(np.arange(3), (7, 1))
    np.testing.assert_array_equal(some.distances(queries, own), metric.distances(queries, rows[own]))


@pytest.mark.filterwarnings("error")
def test_an_overflow_is_infinitely_far():
    metric = MatrixMetric(np.zeros((1, 2)), np.array([[[1e200, 1.0], [-1e200, 1.0]]]))
    assert np.isposinf(metric.distances(np.full((1, 2), 1e200), np.zeros((1, 1), np.int64)))


@pytest.mark.parametrize("shape", [(4, 3), (5, 3, 3), (4, 2, 3)])
def test_matrices_of_another_shape_raise(shape):
    with pytest.raises(ValueError, match="do not match points"):
        MatrixMetric(np.zeros((4, 3)), np.zeros(shape))


def test_axes_without_weight_where_squares_are_beyond_float32():
    rng = np.random.default_rng(0)
    points, queries = rng.normal(size=(60, 2)), rng.normal(size=(9, 2)) * [1e25, 1.0]
    matrices = rng.normal(size=(60, 2, 2)) * [[0.0], [1.0]]  # the first axis does not count
    metric = MatrixMetric(points, matrices)
    indices, distances = ExactSearch(metric).query(queries, 3)
    truth = metric.distances(queries, np.tile(np.arange(60), (9, 1)))
    np.testing.assert_allclose(distances, np.sort(truth, axis=1)[:, :3], rtol=1e-9)
    assert indices.min() >= 0
