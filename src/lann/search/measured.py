"""Exhaustive search that measures every pair: where a lift would be too wide for the points or the memory."""

from __future__ import annotations

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics.diagonal import DiagonalMetric
from lann.metrics.matrix import MatrixMetric
from lann.search.exact import ExactSearch
from lann.search.topk import smallest, together

QUERY_BLOCK = 128
# Distances of one block to one tile of points: 128 × 2048 float64 are 2 MB.
POINT_TILE = 2048
# A lifted product does this many times as many multiplications a second as the direct formula.
LIFT_SPEEDUP = 4
# A lift of more numbers than this, 1 GB, is not worth its memory.
LARGEST_LIFT = 2**27


def exhaustive_search(metric: DiagonalMetric | MatrixMetric) -> ExactSearch | MeasuredSearch:
    """The faster exact search among all points, if it fits into memory."""
    if isinstance(metric, MatrixMetric):
        narrow = LIFT_SPEEDUP * metric.n_axes * metric.rank < metric.lift_width
        if narrow or metric.n_points * metric.lift_width > LARGEST_LIFT:
            return MeasuredSearch(metric)
    return ExactSearch(metric)


class MeasuredSearch:
    """The true nearest points, equal distances by index, as :class:`lann.search.exact.ExactSearch`."""

    def __init__(self, metric: DiagonalMetric | MatrixMetric) -> None:
        self.metric = metric

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """The k nearest points of each query, nearest first: indices and distances, (n_queries, k)."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) == 0:
            return np.empty((0, k), np.int64), np.empty((0, k))

        def search(part: slice) -> tuple[Indices, Floats]:
            return self._search_block(queries[part], k, None if exclude is None else exclude[part])

        return together(map_blocks(search, len(queries), QUERY_BLOCK, n_jobs=n_jobs))

    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        indices, distances = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        for start in range(0, self.metric.n_points, POINT_TILE):
            points = np.arange(start, min(start + POINT_TILE, self.metric.n_points))
            tile = np.tile(points, (len(queries), 1))
            measured = self.metric.distances(queries, tile)
            if exclude is not None:
                tile[tile == exclude[:, None]] = -1
            indices, distances = smallest(
                np.concatenate([distances, measured], axis=1), np.concatenate([indices, tile], axis=1), k
            )
        return indices, distances
