"""Exact search under point metrics: the lifted product in tiles, then the exact order of the nearest."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, MatrixMetric, overflow_is_far, rounding_bound, row_parts
from lann.search._topk import GROUP, concatenate_results, finish_lists, scan_tile, smallest


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
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) == 0:
            return np.empty((0, k), np.int64), np.empty((0, k))

        def search(part: slice) -> tuple[Indices, Floats]:
            return self._search_block(queries[part], k, None if exclude is None else exclude[part])

        thin = max(THIN_BLOCK, len(queries) // 4)
        block = min(QUERY_BLOCK, thin, max(LIFTED_QUERIES // self._lifted.shape[1], 1))
        return concatenate_results(map_blocks(search, len(queries), block, n_jobs=n_jobs))

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


def complete_lists(
    metric: DiagonalMetric | MatrixMetric,
    queries: Floats,
    lists: tuple[Indices, Floats],
    *,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> None:
    """Search exactly for the queries to which an approximate search has found too few points.

    Parameters
    ----------
    metric : DiagonalMetric or MatrixMetric
    queries : (n_queries, n_axes)
    lists : tuple of (n_queries, k) and (n_queries, k)
        Points, -1 at the end where there are too few, and their distances; set for these queries.
    exclude : (n_queries,) or None
        A point that each query does not find.
    n_jobs : int or None
        Number of threads.
    """
    indices, distances = lists
    lost = np.flatnonzero(indices[:, -1] < 0)
    if len(lost):
        own = None if exclude is None else exclude[lost]
        exact = ExactSearch(metric)
        k = indices.shape[1]
        indices[lost], distances[lost] = exact.query(queries[lost], k, exclude=own, n_jobs=n_jobs)


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
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) == 0:
            return np.empty((0, k), np.int64), np.empty((0, k))

        def search(part: slice) -> tuple[Indices, Floats]:
            return self._search_block(queries[part], k, None if exclude is None else exclude[part])

        return concatenate_results(map_blocks(search, len(queries), MEASURED_BLOCK, n_jobs=n_jobs))

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
