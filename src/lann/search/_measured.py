"""Exact search that measures every pair, for metrics whose lifted product is too wide."""

from __future__ import annotations

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, MatrixMetric
from lann.search._exact import ExactSearch
from lann.search._topk import concatenate_results, smallest

QUERY_BLOCK = 128
# Distances of one block to one tile of points: 128 × 2048 float64 are 2 MB.
POINT_TILE = 2048
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

        return concatenate_results(map_blocks(search, len(queries), QUERY_BLOCK, n_jobs=n_jobs))

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
