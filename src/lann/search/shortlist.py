"""A shortlist under a coarse metric, then the order under the points' own metrics."""

from __future__ import annotations

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics.diagonal import DiagonalMetric
from lann.metrics.matrix import MatrixMetric
from lann.search.exact import ExactSearch
from lann.search.graph import GraphSearch
from lann.search.topk import smallest, together

# Up to here the exact search finds the candidates of all points sooner than a graph is built and asked.
GRAPH_FROM = 50_000
# A graph takes as long to build as the exact search for about this many queries, however many points.
GRAPH_PAYS_FROM = 20_000
QUERY_BLOCK = 2048
CHUNK = 16_384


def coarse_search(metric: DiagonalMetric, n_queries: int | None = None) -> ExactSearch | GraphSearch:
    """Exact search for up to tens of thousands of points, or for few queries; a graph otherwise.

    n_queries : how many there will be in all, if that is known
    """
    few = n_queries is not None and n_queries < GRAPH_PAYS_FROM
    return ExactSearch(metric) if metric.n_points < GRAPH_FROM or few else GraphSearch(metric)


class Shortlist:
    """The nearest of `n_candidates` candidates, which are nearest under a coarse metric.

    A point's own metric is only valid near the point: one that ignores features would intrude into
    neighborhoods far away. The shortlist keeps it out, and makes large data possible.
    """

    def __init__(
        self, coarse: ExactSearch | GraphSearch, metric: DiagonalMetric | MatrixMetric, n_candidates: int
    ) -> None:
        self.coarse = coarse
        self.metric = metric
        self.n_candidates = n_candidates

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """As :meth:`lann.search.exact.ExactSearch.query`, among the candidates; k may exceed their number."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        # The candidates of one chunk at a time: those of a million queries would fill the memory.
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

        return together(map_blocks(rank, len(queries), QUERY_BLOCK, n_jobs=n_jobs))
