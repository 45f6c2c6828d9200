"""Exact search under point metrics, and the shortlist: the lifted product in tiles, then the exact order.

The compiled functions at the end keep a running shortlist over tiles, and order a few candidates.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, MatrixMetric, overflow_is_far, rounding_bound, row_parts

if TYPE_CHECKING:
    from lann.search._cell_search import CellSearch


class Search(Protocol):
    """A search for the nearest points of a metric.

    Attributes
    ----------
    metric : DiagonalMetric or MatrixMetric
        The points and how they measure.
    """

    metric: DiagonalMetric | MatrixMetric

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest points of each query, nearest first, equal distances by index.

        Parameters
        ----------
        queries : (n_queries, n_axes)
        k : int
            At most the number of points, or one less with `exclude`.
        exclude : (n_queries,) or None
            For each query a point that is not its neighbor: the query itself; -1 for none.
        n_jobs : int or None
            Number of threads; the result does not depend on it.

        Returns
        -------
        indices : (n_queries, k)
        distances : (n_queries, k)
            Squared.
        """


# Number of values of a tile that are scanned at a time.
GROUP = 32
# Lists of up to this many entries are sorted by insertion.
FEW = 16
# One tile of distances is 512 × 512 float32, 1 MB: it stays in the second-level cache between the product
# that writes it and the scan that reads it.
QUERY_BLOCK = 512
POINT_TILE = 512
# Fewer queries than a block are divided among the threads in blocks of at least this size.
THIN_BLOCK = 128
TILE_SIZE = QUERY_BLOCK * POINT_TILE
# Numbers in the lifted queries of a block, at most.
LIFTED_QUERIES = 8_000_000
# Beyond this size float32 could overflow in the lifted product; the search then runs in float64.
FLOAT32_SAFE = 1e30


class ExactSearch:
    """Exact search for the nearest points under point metrics, equal distances by index.

    A float32 matrix product gives approximate distances; the nearest points, and some spare ones, are
    measured again in float64 by the direct formula. A bound on the rounding of the product then proves that
    no nearer point was missed; where it cannot, the query is searched again with a limit that includes every
    possible neighbor. The result therefore depends neither on the tiles nor on the number of threads.

    Parameters
    ----------
    metric : DiagonalMetric or MatrixMetric
    dtype : type or None, default=None
        Of the product; None is float32 where that is precise enough.
    """

    def __init__(self, metric: DiagonalMetric | MatrixMetric, *, dtype: type | None = None) -> None:
        self.metric = metric
        if dtype is None:
            single = metric.lift_in_single and metric.lifted_size < FLOAT32_SAFE
            dtype = np.float32 if single else np.float64
        self.dtype = dtype
        n_padded = -(-metric.n_points // GROUP) * GROUP
        # Padding rows consist of a constant, so large that they are never near.
        self._lifted: NDArray[Any] = np.zeros((n_padded, metric.lift_width), dtype)
        for part in row_parts(metric.n_points):
            self._lifted[part] = metric.lift_points(dtype, part)
        self._lifted[metric.n_points :, -1] = np.finfo(dtype).max

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest points of each query: see `Search.query`."""
        thin = max(THIN_BLOCK, len(queries) // 4)
        block = min(QUERY_BLOCK, thin, max(LIFTED_QUERIES // self._lifted.shape[1], 1))
        return _query_blocks(self._search_block, queries, k, exclude, block, n_jobs)

    def update(self, rows: Indices) -> None:
        """Update the lifted product after the weights of some points were changed."""
        self.metric.changed(rows)
        self._lifted[rows] = self.metric.lift_points(self.dtype, rows)

    def shortlists(self, queries: Floats, keep: int, *, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Return the `keep` points nearest by the lifted product, and a lower bound for all others.

        Returns
        -------
        indices : (n_queries, keep)
            -1 where there are fewer points.
        limits : (n_queries,)
            By the lifted product, no other point is nearer than this.
        """
        found = map_blocks(
            lambda part: self._shortlist_block(queries[part], keep), len(queries), THIN_BLOCK, n_jobs=n_jobs
        )
        return np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])

    @overflow_is_far
    def _shortlist_block(self, queries: Floats, keep: int) -> tuple[Indices, Floats, NDArray]:
        lifted, offset = self.metric.lift_queries(queries, self.dtype)
        n_queries, n_points = len(queries), len(self._lifted)
        values: NDArray[Any] = np.empty((n_queries, 4 * keep + 2 * GROUP), self.dtype)
        indices = np.full(values.shape, -1, np.int32)
        counts = np.zeros(n_queries, np.int64)
        limits: NDArray[Any] = np.full(n_queries, np.finfo(self.dtype).max, self.dtype)
        width = max(POINT_TILE, TILE_SIZE // n_queries // GROUP * GROUP)
        buffer: NDArray[Any] = np.empty((n_queries, min(width, n_points)), self.dtype)
        for start in range(0, n_points, width):
            points = self._lifted[start : start + width]
            whole = len(points) == buffer.shape[1]
            tile = np.matmul(lifted, points.T, out=buffer if whole else None)
            scan_tile(tile.reshape(n_queries, -1, GROUP), start, values, indices, counts, limits, keep)
        finish_lists(values, indices, counts, limits, keep)
        kept = indices[:, :keep].astype(np.int64)
        kept[np.arange(keep) >= counts[:, None]] = -1
        return kept, limits.astype(np.float64) + offset, lifted

    @overflow_is_far
    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        sizes, rounding = self.metric.rounding(queries, self.dtype)
        if self.dtype == np.float32 and not sizes.max() < FLOAT32_SAFE:
            return ExactSearch(self.metric, dtype=np.float64)._search_block(queries, k, exclude)
        n_points = self.metric.n_points
        keep = min(k + 8 + k // 8 + (exclude is not None), n_points)
        candidates, limits, lifted = self._shortlist_block(queries, keep)
        if exclude is not None:
            candidates[candidates == exclude[:, None]] = -1
        measured = self.metric.distances(queries, np.maximum(candidates, 0))
        indices, distances = smallest(measured, candidates, k)
        if keep < n_points:
            bounds = distances[:, -1] + rounding_bound(sizes, distances[:, -1], rounding)
            for row in np.flatnonzero(~(limits > bounds)):
                own = -1 if exclude is None else int(exclude[row])
                nearest = self._measure_within(queries[row], lifted[row], bounds[row], own, k)
                indices[row], distances[row] = nearest
        return indices, distances

    def _measure_within(
        self, query: Floats, lifted: NDArray, bound: float, excluded: int, k: int
    ) -> tuple[Indices, Floats]:
        """Return the k nearest among all points whose lifted product does not exceed `bound`."""
        _, offset = self.metric.lift_queries(query[None], self.dtype)
        products = self._lifted[: self.metric.n_points] @ lifted + offset
        found = np.flatnonzero(~(products > bound))  # overflows count as possible
        found = found[found != excluded][None]
        indices, distances = smallest(self.metric.distances(query[None], found), found, k)
        return indices[0], distances[0]


def _query_blocks(
    search: Callable[[Floats, int, Indices | None], tuple[Indices, Floats]],
    queries: Floats,
    k: int,
    exclude: Indices | None,
    block: int,
    n_jobs: int | None,
) -> tuple[Indices, Floats]:
    """Return the k nearest points of each query, found block by block."""
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    if len(queries) == 0:
        return np.empty((0, k), np.int64), np.empty((0, k))

    def search_part(part: slice) -> tuple[Indices, Floats]:
        return search(queries[part], k, None if exclude is None else exclude[part])

    return concatenate_results(map_blocks(search_part, len(queries), block, n_jobs=n_jobs))


MEASURED_BLOCK = 128
# Distances of one block to one tile of points: 128 × 2048 float64 are 2 MB.
MEASURED_TILE = 2048
# A lifted product does this many times as many multiplications per second as the direct formula.
LIFT_SPEEDUP = 4
# Largest number of entries of a lifted product: 1 GB.
LARGEST_LIFT = 2**27


def exhaustive_search(metric: DiagonalMetric | MatrixMetric) -> ExactSearch | MeasuredSearch:
    """Return the fastest exact search among all points that fits into memory."""
    if isinstance(metric, MatrixMetric):
        narrow = LIFT_SPEEDUP * metric.n_axes * metric.rank < metric.lift_width
        if narrow or metric.n_points * metric.lift_width > LARGEST_LIFT:
            return MeasuredSearch(metric)
    return ExactSearch(metric)


class MeasuredSearch:
    """Exact search for the nearest points, equal distances by index, by the direct formula."""

    def __init__(self, metric: DiagonalMetric | MatrixMetric) -> None:
        self.metric = metric

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest points of each query: see `Search.query`."""
        return _query_blocks(self._search_block, queries, k, exclude, MEASURED_BLOCK, n_jobs)

    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        indices, distances = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        for start in range(0, self.metric.n_points, MEASURED_TILE):
            points = np.arange(start, min(start + MEASURED_TILE, self.metric.n_points))
            tile = np.tile(points, (len(queries), 1))
            measured = self.metric.distances(queries, tile)
            if exclude is not None:
                tile[tile == exclude[:, None]] = -1
            indices, distances = smallest(
                np.concatenate([distances, measured], axis=1), np.concatenate([indices, tile], axis=1), k
            )
        return indices, distances


MEASURED_QUERIES = 2048
CHUNK = 16_384


class Shortlist:
    """Search for the nearest among `n_candidates` candidates, the nearest points under a coarse metric.

    A point metric is valid only near its point: one that ignores features would reach into neighborhoods far
    away. The shortlist prevents that, and makes large data possible.

    Parameters
    ----------
    coarse : ExactSearch or CellSearch
        Finds the candidates.
    metric : DiagonalMetric or MatrixMetric
        Ranks them.
    n_candidates : int
    """

    def __init__(
        self,
        coarse: ExactSearch | CellSearch,
        metric: DiagonalMetric | MatrixMetric,
        n_candidates: int,
    ) -> None:
        self.coarse = coarse
        self.metric = metric
        self.n_candidates = n_candidates

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest of at least k candidates: see `Search.query`."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        # In chunks: the candidates of a million queries would fill the memory.
        for start in range(0, len(queries), CHUNK):
            part = slice(start, start + CHUNK)
            own = None if exclude is None else exclude[part]
            indices[part], distances[part] = self._query_chunk(queries[part], k, own, n_jobs)
        return indices, distances

    def _query_chunk(
        self, queries: Floats, k: int, exclude: Indices | None, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        available = self.metric.n_points - (exclude is not None)
        n_candidates = min(max(self.n_candidates, k), available)
        candidates, _ = self.coarse.query(queries, n_candidates, exclude=exclude, n_jobs=n_jobs)

        def rank(part: slice) -> tuple[Indices, Floats]:
            found = candidates[part]
            return smallest(self.metric.distances(queries[part], np.maximum(found, 0)), found, k)

        return concatenate_results(map_blocks(rank, len(queries), MEASURED_QUERIES, n_jobs=n_jobs))


@njit(nogil=True, cache=True)
def scan_tile(tile, first, values, indices, counts, limits, keep):
    """Merge one tile of distances into the running list of every query: see `scan_rows`."""
    scan_rows(tile, np.arange(tile.shape[0]), first, values, indices, counts, limits, keep)


@njit(nogil=True, cache=True)
def scan_rows(tile, rows, first, values, indices, counts, limits, keep):
    """Merge one tile of distances into the running lists of some queries: the `keep` smallest of each.

    A list grows to its capacity before it is cut back to `keep`, so that most values cost one comparison, a
    group at a time. In a group with a near value, every value is written and the count advances only past
    the near ones, which needs no branch.

    tile: (n_rows, n_groups, GROUP); rows: (n_rows,) queries; first: index of the tile's first point
    values, indices: (n_queries, capacity), capacity at least keep + 2 GROUP; counts, limits: (n_queries,)
    """
    n_rows, n_groups, size = tile.shape  # a size known only at run time is what LLVM vectorizes best
    full = np.uint64(values.shape[1] - size)
    for number in range(n_rows):
        query = rows[number]
        # An unsigned count needs no check for an index from the end.
        limit, count = limits[query], np.uint64(counts[query])
        row_values, row_indices = values[query], indices[query]
        for group in range(n_groups):
            row = tile[number, group]
            hits = np.int32(0)
            for slot in range(size):
                hits += np.int32(row[slot] < limit)
            if hits == 0:
                continue
            start = first + group * size
            for slot in range(size):
                row_values[count] = row[slot]
                row_indices[count] = start + slot
                count += np.uint64(row[slot] < limit)
            if count > full:
                _partition(row_values, row_indices, np.int64(count), keep - 1)
                count, limit = np.uint64(keep), row_values[keep - 1]
        counts[query], limits[query] = np.int64(count), limit


@njit(nogil=True, cache=True)
def finish_lists(values, indices, counts, limits, keep):
    """Cut every list to its `keep` smallest; afterwards `limits` is a lower bound of all other values."""
    for query in range(values.shape[0]):
        if counts[query] > keep:
            _partition(values[query], indices[query], counts[query], keep - 1)
            counts[query], limits[query] = keep, values[query, keep - 1]


@njit(nogil=True, cache=True)
def _partition(values, indices, size, nth):
    """Rearrange both arrays so that values[nth] is that of the sorted array, with smaller ones before it."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                indices[left], indices[right] = indices[right], indices[left]
                left += 1
                right -= 1
        if nth <= right:
            high = right
        elif nth >= left:
            low = left
        else:
            return


def concatenate_results(blocks: Iterable[tuple[Indices, Floats]]) -> tuple[Indices, Floats]:
    """Concatenate the indices and distances of blocks of queries."""
    indices, distances = zip(*blocks, strict=True)
    return np.concatenate(indices), np.concatenate(distances)


def smallest(distances: Floats, indices: Indices, k: int) -> tuple[Indices, Floats]:
    """Return the indices and distances of the k smallest of each row, in order: (n_queries, k) each.

    Equal distances are ordered by index. A negative index marks an empty slot.
    """
    best_indices, best_distances = np.empty((len(distances), k), np.int64), np.empty((len(distances), k))
    _write_smallest(distances, indices, best_indices, best_distances)
    return best_indices, best_distances


@njit(nogil=True, cache=True)
def _write_smallest(distances, indices, best_indices, best_distances):
    n_queries, n_candidates = distances.shape
    k = best_indices.shape[1]
    best_distances[:], best_indices[:] = np.inf, -1
    row_distances, row_indices = np.empty(n_candidates), np.empty(n_candidates, np.int64)
    for query in range(n_queries):
        if k <= FEW:
            for slot in range(n_candidates):
                if indices[query, slot] >= 0:
                    insert(
                        best_distances[query],
                        best_indices[query],
                        distances[query, slot],
                        indices[query, slot],
                    )
            continue
        count = 0
        for slot in range(n_candidates):
            row_distances[count], row_indices[count] = distances[query, slot], indices[query, slot]
            count += indices[query, slot] >= 0
        _sort_smallest(row_distances, row_indices, count, k)
        for slot in range(min(k, count)):
            best_distances[query, slot], best_indices[query, slot] = row_distances[slot], row_indices[slot]


@njit(nogil=True, cache=True)
def _sort_smallest(distances, indices, size, k):
    """Rearrange both arrays so that the k smallest of the first `size` entries come first, in order.

    A quicksort that leaves out the parts behind the first k, and sorts short parts by insertion.
    """
    lows, highs = np.empty(64, np.int64), np.empty(64, np.int64)  # the shorter part comes first: log2(size)
    lows[0], highs[0], n_parts = 0, size - 1, 1
    while n_parts > 0:
        n_parts -= 1
        low, high = lows[n_parts], highs[n_parts]
        while high - low >= FEW:
            middle = (low + high) // 2
            pivot, pivot_index = distances[middle], indices[middle]
            left, right = low, high
            while left <= right:
                while _before(distances[left], indices[left], pivot, pivot_index):
                    left += 1
                while _before(pivot, pivot_index, distances[right], indices[right]):
                    right -= 1
                if left <= right:
                    distances[left], distances[right] = distances[right], distances[left]
                    indices[left], indices[right] = indices[right], indices[left]
                    left += 1
                    right -= 1
            if left >= k:  # the right part is not among the k smallest
                high = right
            elif right - low < high - left:
                lows[n_parts], highs[n_parts] = left, high
                n_parts += 1
                high = right
            else:
                lows[n_parts], highs[n_parts] = low, right
                n_parts += 1
                low = left
        for slot in range(low + 1, high + 1):
            distance, index, to = distances[slot], indices[slot], slot
            while to > low and _before(distance, index, distances[to - 1], indices[to - 1]):
                distances[to], indices[to] = distances[to - 1], indices[to - 1]
                to -= 1
            distances[to], indices[to] = distance, index


@njit(nogil=True, cache=True)
def insert(distances, indices, distance, index):
    """Insert an entry into a sorted list of fixed length, dropping the last, unless it comes after all."""
    slot = distances.shape[0] - 1
    if not _before(distance, index, distances[slot], indices[slot]):
        return
    while slot > 0 and _before(distance, index, distances[slot - 1], indices[slot - 1]):
        distances[slot], indices[slot] = distances[slot - 1], indices[slot - 1]
        slot -= 1
    distances[slot], indices[slot] = distance, index


@njit(nogil=True, cache=True)
def count_found(indices):
    """Return how many entries of such a list are filled, which are the first ones."""
    n_found = 0
    while n_found < indices.shape[0] and indices[n_found] >= 0:
        n_found += 1
    return n_found


@njit(nogil=True, cache=True)
def _before(distance, index, other_distance, other_index):
    if distance != other_distance:
        return distance < other_distance
    return other_index < 0 or index < other_index
