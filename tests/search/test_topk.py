import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lann import _native
from lann.search import smallest
from lann.search._exact import ALL_ROWS, GROUP


@given(st.integers(0, 10**6), st.integers(1, 6))
def test_smallest_sorts_with_ties_by_index(reference, seed, k):
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, 4, (5, 9)).astype(float)
    order = np.stack([rng.permutation(9) for _ in range(5)])  # candidates come in any order
    indices, values = smallest(np.take_along_axis(distances, order, axis=1), order, k)
    expected, expected_values = reference.nearest(distances, k)
    np.testing.assert_array_equal(indices, expected)
    np.testing.assert_array_equal(values, expected_values)


@given(st.integers(0, 10**6), st.integers(1, 120), st.integers(1, 300), st.sampled_from([3, 1000]))
def test_smallest_of_many(seed, k, n_candidates, spread):
    """By insertion or by partition; with and without ties, empty slots, and fewer candidates than k."""
    rng = np.random.default_rng(seed)
    distances = rng.integers(0, spread, (3, n_candidates)).astype(float)
    order = np.stack([rng.permutation(n_candidates) for _ in range(3)])
    order[rng.random(order.shape) < 0.1] = -1
    found, values = smallest(np.where(order < 0, 0.0, np.take_along_axis(distances, order, axis=1)), order, k)
    for row in range(3):
        present = np.sort(order[row][order[row] >= 0])
        expected = present[np.lexsort((present, distances[row, present]))][:k]
        np.testing.assert_array_equal(found[row, : len(expected)], expected)
        np.testing.assert_array_equal(values[row, : len(expected)], distances[row, expected])
        assert np.all(found[row, len(expected) :] == -1)
        assert np.all(values[row, len(expected) :] == np.inf)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    seed=st.integers(0, 10**6), keep=st.integers(1, 20), n_tiles=st.integers(1, 6), spread=st.integers(1, 500)
)
def test_a_scan_keeps_the_smallest_and_bounds_the_rest(dtype, seed, keep, n_tiles, spread):
    rng = np.random.default_rng(seed)
    n_queries, width = 3, 2 * GROUP
    everything = rng.integers(0, spread, (n_queries, n_tiles * width)).astype(dtype)
    values = np.empty((n_queries, keep + 2 * GROUP), dtype)
    indices = np.full(values.shape, -1, np.int32)
    counts, limits = np.zeros(n_queries, np.int64), np.full(n_queries, np.finfo(dtype).max, dtype)
    for start in range(0, n_tiles * width, width):
        tile = np.ascontiguousarray(everything[:, start : start + width])
        _native.scan_rows(tile, ALL_ROWS, start, values, indices, counts, limits, keep)
    _native.finish_lists(values, indices, counts, limits, keep)
    for query, row in enumerate(everything):
        assert counts[query] == keep
        kept = indices[query, :keep]
        assert len(set(kept)) == keep
        np.testing.assert_array_equal(row[kept], values[query, :keep])
        np.testing.assert_array_equal(np.sort(row[kept]), np.sort(row)[:keep])
        assert np.delete(row, kept).min() >= limits[query]
