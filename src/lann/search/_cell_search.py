"""Approximate search for many points: the cells nearest to a query."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, overflow_is_far, rounding_bound
from lann.search._cells import CellIndex
from lann.search._exact import FLOAT32_SAFE, GROUP, ExactSearch, NearestLists, rank

QUERY_BLOCK = 2048
LIFT_BLOCK = 65_536
# The cells nearest to a query are searched first, so that few points of the others pass the limit.
N_FIRST = 4
# Numbers in one tile of distances, at most: a cell can have nearly all points.
TILE_SIZE = 4_000_000
# Beyond this size, float64 could overflow in the lifted product.
FLOAT64_SAFE = 1e300
# From this many points on, the search of some cells is faster than that of all points.
FEWEST_POINTS = 50_000
# Building an index takes as long as the exact search for about this many queries, for any number of points.
FEWEST_QUERIES = 4_000


class CellSearch:
    """Search for the nearest among the points of the cells that are nearest to a query.

    The queries that search a cell are measured together, by a matrix product with its points. As in an
    `ExactSearch`, the nearest points are measured again in float64 by the direct formula, and where rounding
    could have hidden a nearer point, all points of the cells are.

    Parameters
    ----------
    metric : DiagonalMetric
    index : CellIndex
        Of its points.
    """

    def __init__(self, metric: DiagonalMetric, index: CellIndex) -> None:
        self.metric, self.index = metric, index
        cells, n_cells = index.cells, index.partition.n_cells
        counts = np.bincount(cells, minlength=n_cells)
        order = np.argsort(cells, kind="stable")
        self._starts = np.concatenate([[0], np.cumsum(-(-counts // GROUP) * GROUP)])
        firsts = np.cumsum(counts) - counts
        slots = np.arange(len(order)) + np.repeat(self._starts[:-1] - firsts, counts)
        single = metric.lift_in_single and metric.lifted_size < FLOAT32_SAFE
        self.dtype: type = np.float32 if single else np.float64
        self._points = np.full(self._starts[-1], -1, np.int32)
        self._points[slots] = order
        # Padding rows consist of a constant, so large that they are never near.
        self._lifted: NDArray[Any] = np.zeros((len(self._points), metric.lift_width), self.dtype)
        self._lifted[:, -1] = np.finfo(self.dtype).max
        for start in range(0, len(order), LIFT_BLOCK):
            part = slice(start, start + LIFT_BLOCK)
            self._lifted[slots[part]] = metric.lift_points(self.dtype, order[part])

    @staticmethod
    def pays(n_points: int, n_queries: int | None = None) -> bool:
        """Return whether building an index is faster than the exact search.

        Parameters
        ----------
        n_points : int
        n_queries : int or None
            How many there will be in total; None is unknown.
        """
        few = n_queries is not None and n_queries < FEWEST_QUERIES
        return n_points >= FEWEST_POINTS and not few

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return nearly always the k nearest points of each query: see `ExactSearch.query`."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        indices, distances = self.query_probed(queries, k, exclude=exclude, n_jobs=n_jobs)
        lost = np.flatnonzero(indices[:, -1] < 0)
        if len(lost):  # the cells have too few points
            excluded = None if exclude is None else exclude[lost]
            exact = ExactSearch(self.metric)
            indices[lost], distances[lost] = exact.query(queries[lost], k, exclude=excluded, n_jobs=n_jobs)
        return indices, distances

    def query_probed(
        self,
        queries: Floats,
        k: int,
        *,
        exclude: Indices | None = None,
        probed: NDArray[np.int32] | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Indices, Floats]:
        """Return the k nearest points in the probed cells of each query, -1 where these have fewer.

        Queries beyond the range of the lifted product have none, unless their cells are given.

        Parameters
        ----------
        probed : (n_queries, n_probed) or None
            The cells that are searched for each query, nearest first; None is those of the index.
        """
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        indices, distances = np.full((len(queries), k), -1, np.int64), np.full((len(queries), k), np.inf)
        partition, fits = self.index.partition, self._fits(queries)
        far = partition.is_far(queries) if probed is None else np.zeros(len(queries), np.bool_)
        usual = np.flatnonzero(fits & ~far)

        def search(rows: Indices, n_probed: int) -> None:
            def search_block(part: slice) -> None:
                some = rows[part]
                cells = partition.nearest(queries[some], n_probed) if probed is None else probed[some]
                excluded = None if exclude is None else exclude[some]
                indices[some], distances[some] = self._search_block(queries[some], k, excluded, cells)

            map_blocks(search_block, len(rows), QUERY_BLOCK, n_jobs=n_jobs)

        with single_threaded_blas():
            # Queries of the same cell share most of the work.
            cells = partition.assign(queries[usual], n_jobs=n_jobs) if probed is None else probed[usual, 0]
            search(usual[np.argsort(cells, kind="stable")], self.index.n_probed_for(k))
            search(np.flatnonzero(fits & far), partition.n_cells)
        if probed is not None:
            for row in np.flatnonzero(~fits):
                own = slice(row, row + 1)
                excluded = None if exclude is None else exclude[own]
                indices[own], distances[own] = self._measure_cells(queries[own], probed[row], excluded, k)
        return indices, distances

    @overflow_is_far
    def _fits(self, queries: Floats) -> NDArray[np.bool_]:
        """Return which queries are within the range of the lifted product."""
        sizes, _ = self.metric.rounding(queries, self.dtype) if len(queries) else (np.empty(0), 0.0)
        return sizes < (FLOAT32_SAFE if self.dtype == np.float32 else FLOAT64_SAFE)

    @overflow_is_far
    def _search_block(
        self, queries: Floats, k: int, exclude: Indices | None, probed: NDArray[np.int32]
    ) -> tuple[Indices, Floats]:
        sizes, rounding = self.metric.rounding(queries, self.dtype)
        lifted, offset = self.metric.lift_queries(queries, self.dtype)
        keep = k + 8 + k // 8 + (exclude is not None)
        lists = NearestLists.empty(len(queries), keep, self.dtype)
        for part in (probed[:, :N_FIRST], probed[:, N_FIRST:]):
            if part.shape[1]:
                self._scan_cells(lifted, part, lists, keep)
                _native.finish_lists(*lists, keep)
        slots = lists.candidates(keep)
        candidates = np.where(slots < 0, np.int64(-1), self._points[slots])
        indices, distances = rank(self.metric, queries, k, candidates, exclude)
        bounds = distances[:, -1] + rounding_bound(sizes, distances[:, -1], rounding)
        uncertain = (lists.counts >= keep) & ~(lists.limits.astype(np.float64) + offset > bounds)
        for row in np.flatnonzero(uncertain):
            own = slice(row, row + 1)
            excluded = None if exclude is None else exclude[own]
            indices[own], distances[own] = self._measure_cells(queries[own], probed[row], excluded, k)
        return indices, distances

    def _scan_cells(
        self, lifted: NDArray[Any], probed: NDArray[np.int32], lists: NearestLists, keep: int
    ) -> None:
        """Add the points of the cells that each query probes to its list."""
        pairs = probed.ravel()
        order = np.argsort(pairs, kind="stable")
        cells, firsts = np.unique(pairs[order], return_index=True)
        queries = order // probed.shape[1]
        lasts = np.append(firsts[1:], len(pairs))
        for cell, first, last in zip(cells.tolist(), firsts.tolist(), lasts.tolist(), strict=True):
            start, end = self._starts[cell], self._starts[cell + 1]
            if start == end:
                continue
            rows = queries[first:last]
            width = max(TILE_SIZE // len(rows) // GROUP, 1) * GROUP
            for tile_start in range(start, end, width):
                points = self._lifted[tile_start : min(tile_start + width, end)]
                tile = lifted[rows] @ points.T
                _native.scan_rows(tile, rows, tile_start, *lists, keep)

    def _measure_cells(
        self, query: Floats, cells: NDArray[np.int32], exclude: Indices | None, k: int
    ) -> tuple[Indices, Floats]:
        """Return the k nearest of one query among all points of some cells, by the direct formula."""
        points = np.concatenate([self._points[self._starts[c] : self._starts[c + 1]] for c in cells])
        return rank(self.metric, query, k, points[points >= 0].astype(np.int64)[None], exclude)


def coarse_search(metric: DiagonalMetric, n_queries: int | None = None) -> ExactSearch | CellSearch:
    """Return a search of cells for many points and queries, and the exact search otherwise.

    Parameters
    ----------
    metric : DiagonalMetric
    n_queries : int or None
        How many there will be in total, if that is known.
    """
    if CellSearch.pays(metric.n_points, n_queries):
        return CellSearch(metric, CellIndex.build(metric))
    return ExactSearch(metric)
