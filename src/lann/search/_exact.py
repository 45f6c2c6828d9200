"""Exact search under point metrics, and the shortlist: the lifted product in tiles, then the exact order."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, MatrixMetric, overflow_is_far, rounding_bound, row_parts

if TYPE_CHECKING:
    from lann.search._cell_search import CellSearch
    from lann.search._torch_search import TorchSearch


# Number of values of a tile that are scanned at a time.
GROUP = 32


class NearestLists(NamedTuple):
    """The nearest points of each query so far, by the lifted product.

    Attributes
    ----------
    values, positions : (n_queries, capacity)
        Lifted products, and where the points are among those that are lifted.
    counts, limits : (n_queries,)
        Number of entries, and the value that others must not exceed.
    """

    values: NDArray[Any]
    positions: NDArray[np.int32]
    counts: Indices
    limits: NDArray[Any]

    @classmethod
    def empty(cls, n_queries: int, keep: int, dtype: type) -> NearestLists:
        """Return lists without entries, of which `keep` will be kept."""
        values: NDArray[Any] = np.empty((n_queries, 4 * keep + 2 * GROUP), dtype)
        limits: NDArray[Any] = np.full(n_queries, np.finfo(dtype).max, dtype)
        return cls(values, np.full(values.shape, -1, np.int32), np.zeros(n_queries, np.int64), limits)

    def candidates(self, keep: int) -> Indices:
        """Return the positions that are kept, -1 where there are fewer: (n_queries, keep)."""
        return np.where(np.arange(keep) < self.counts[:, None], self.positions[:, :keep], np.int64(-1))


ALL_ROWS: Indices = np.empty(0, np.int64)
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
    def _shortlist_block(self, queries: Floats, keep: int) -> tuple[Indices, Floats, NDArray, Floats]:
        """Return the shortlists of some queries with their limits, and how the queries are lifted."""
        lifted, offset = self.metric.lift_queries(queries, self.dtype)
        n_queries, n_points = len(queries), len(self._lifted)
        lists = NearestLists.empty(n_queries, keep, self.dtype)
        width = max(POINT_TILE, TILE_SIZE // n_queries // GROUP * GROUP)
        buffer: NDArray[Any] = np.empty((n_queries, min(width, n_points)), self.dtype)
        for start in range(0, n_points, width):
            points = self._lifted[start : start + width]
            whole = len(points) == buffer.shape[1]
            tile = np.matmul(lifted, points.T, out=buffer if whole else None)
            _native.scan_rows(tile, ALL_ROWS, start, *lists, keep)
        _native.finish_lists(*lists, keep)
        return lists.candidates(keep), lists.limits.astype(np.float64) + offset, lifted, offset

    @overflow_is_far
    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        sizes, rounding = self.metric.rounding(queries, self.dtype)
        if self.dtype == np.float32 and not sizes.max() < FLOAT32_SAFE:
            return ExactSearch(self.metric, dtype=np.float64)._search_block(queries, k, exclude)
        n_points = self.metric.n_points
        keep = min(k + 8 + k // 8 + (exclude is not None), n_points)
        candidates, limits, lifted, offset = self._shortlist_block(queries, keep)
        indices, distances = rank(self.metric, queries, k, candidates, exclude)
        if keep < n_points:
            bounds = distances[:, -1] + rounding_bound(sizes, distances[:, -1], rounding)
            for row in np.flatnonzero(~(limits > bounds)):
                own = slice(row, row + 1)
                products = self._lifted[:n_points] @ lifted[row] + offset[row]
                possible = np.flatnonzero(~(products > bounds[row]))[None]  # overflows count as possible
                excluded = None if exclude is None else exclude[own]
                indices[own], distances[own] = rank(self.metric, queries[own], k, possible, excluded)
        return indices, distances


def _query_blocks(
    search: Callable[[Floats, int, Any], tuple[Indices, Floats]],
    queries: Floats,
    k: int,
    by_query: Indices | None,
    block: int,
    n_jobs: int | None,
) -> tuple[Indices, Floats]:
    """Return the k nearest points of each query, found block by block with what is given for each query."""
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    if len(queries) == 0:
        return np.empty((0, k), np.int64), np.empty((0, k))

    def search_part(part: slice) -> tuple[Indices, Floats]:
        return search(queries[part], k, None if by_query is None else by_query[part])

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
        """Return the k nearest points of each query: see `ExactSearch.query`."""
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
    coarse : ExactSearch, CellSearch or TorchSearch
        Finds the candidates.
    metric : DiagonalMetric or MatrixMetric
        Ranks them.
    n_candidates : int
    """

    def __init__(
        self,
        coarse: ExactSearch | CellSearch | TorchSearch,
        metric: DiagonalMetric | MatrixMetric,
        n_candidates: int,
    ) -> None:
        self.coarse, self.metric, self.n_candidates = coarse, metric, n_candidates

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest of at least k candidates: see `ExactSearch.query`."""
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        n_candidates = min(max(self.n_candidates, k), self.metric.n_points - (exclude is not None))
        # In chunks: the candidates of a million queries would fill the memory.
        for start in range(0, len(queries), CHUNK):
            part = slice(start, start + CHUNK)
            own = None if exclude is None else exclude[part]
            candidates, _ = self.coarse.query(queries[part], n_candidates, exclude=own, n_jobs=n_jobs)
            indices[part], distances[part] = _query_blocks(
                partial(rank, self.metric), queries[part], k, candidates, MEASURED_QUERIES, n_jobs
            )
        return indices, distances


def concatenate_results(blocks: Iterable[tuple[Indices, Floats]]) -> tuple[Indices, Floats]:
    """Concatenate the indices and distances of blocks of queries."""
    indices, distances = zip(*blocks, strict=True)
    return np.concatenate(indices), np.concatenate(distances)


def rank(
    metric: DiagonalMetric | MatrixMetric, queries: Floats, k: int, candidates: Indices,
    exclude: Indices | None = None,
) -> tuple[Indices, Floats]:  # fmt: skip
    """Return the k nearest of the candidates of each query, -1 being none, as the direct formula measures."""
    if exclude is not None:
        candidates = np.where(candidates == exclude[:, None], -1, candidates)
    return smallest(metric.distances(queries, np.maximum(candidates, 0)), candidates, k)


def smallest(distances: Floats, indices: Indices, k: int) -> tuple[Indices, Floats]:
    """Return the indices and distances of the k smallest of each row, in order: (n_queries, k) each.

    Equal distances are ordered by index. A negative index marks an empty slot.
    """
    best_indices, best_distances = np.empty((len(distances), k), np.int64), np.empty((len(distances), k))
    distances, indices = (
        np.ascontiguousarray(distances, np.float64),
        np.ascontiguousarray(indices, np.int64),
    )
    _native.smallest(distances, indices, best_indices, best_distances)
    return best_indices, best_distances
