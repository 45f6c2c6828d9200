"""Search by a shortlist: candidates under a coarse metric, ranked under the point metrics."""

from __future__ import annotations

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, MatrixMetric
from lann.search._cell_search import CellSearch
from lann.search._exact import ExactSearch
from lann.search._topk import concatenate_results, smallest

QUERY_BLOCK = 2048
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

    def candidates(
        self, queries: Floats, n_candidates: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the nearest points under the coarse metric, and their distances under it."""
        return self.coarse.query(queries, n_candidates, n_jobs=n_jobs)

    def distances(self, queries: Floats, candidates: Indices) -> Floats:
        """Return the squared distances of each query to its candidates under the point metrics."""
        return self.metric.distances(queries, candidates)

    def _query_chunk(
        self, queries: Floats, k: int, exclude: Indices | None, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        available = self.metric.n_points - (exclude is not None)
        n_candidates = min(max(self.n_candidates, k), available)
        candidates, _ = self.coarse.query(queries, n_candidates, exclude=exclude, n_jobs=n_jobs)

        def rank(part: slice) -> tuple[Indices, Floats]:
            found = candidates[part]
            return smallest(self.metric.distances(queries[part], np.maximum(found, 0)), found, k)

        return concatenate_results(map_blocks(rank, len(queries), QUERY_BLOCK, n_jobs=n_jobs))
