"""Approximate search for many points: a navigable graph under a shared metric, ranked again exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann.metrics.diagonal import DiagonalMetric
from lann.search.exact import ExactSearch
from lann.search.topk import smallest

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]

# At 200k points of 20 features: 11 s to build on one thread, recall .9996 of 50 neighbours.
LINKS = 16
BUILD_WIDTH = 40
SEARCH_WIDTH = 128
QUERY_BLOCK = 512


class GraphSearch:
    """Nearly always the nearest points under `metric`, found among twice as many near in a graph.

    The graph (faiss HNSW) is built under one metric shared by all points: the mean over the points of the
    weights of `metric`. It is built by one thread, since with several its links depend on their timing.
    """

    def __init__(self, metric: DiagonalMetric) -> None:
        faiss: Any = import_module("faiss")
        self.metric = metric
        mean = metric.weights if metric.shared else metric.weights.mean(axis=0)
        self._scale = np.sqrt(mean)
        self._center = metric.points.mean(axis=0)
        with _one_openmp_thread(faiss):
            self._index = faiss.IndexHNSWFlat(metric.points.shape[1], LINKS)
            self._index.hnsw.efConstruction = BUILD_WIDTH
            self._index.add(self._coordinates(metric.points))

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """As :meth:`lann.search.exact.ExactSearch.query`, except that a few neighbours may be missed."""
        faiss: Any = import_module("faiss")
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) == 0:
            return np.empty((0, k), np.int64), np.empty((0, k))
        wanted = min(2 * k + 1, self.metric.n_points)
        parameters = faiss.SearchParametersHNSW(efSearch=max(SEARCH_WIDTH, 2 * wanted))

        def search(part: slice) -> tuple[Indices, Floats]:
            with _one_openmp_thread(faiss):
                _, found = self._index.search(self._coordinates(queries[part]), wanted, params=parameters)
            if exclude is not None:
                found[found == exclude[part, None]] = -1
            measured = self.metric.distances(queries[part], np.maximum(found, 0))
            return smallest(measured, found, k)

        found = map_blocks(search, len(queries), QUERY_BLOCK, n_jobs=n_jobs)
        indices, distances = np.concatenate([f[0] for f in found]), np.concatenate([f[1] for f in found])
        lost = np.flatnonzero(indices[:, -1] < 0)
        if len(lost):
            # Where many points coincide, the graph may be cut off from the rest.
            own = None if exclude is None else exclude[lost]
            exact = ExactSearch(self.metric)
            indices[lost], distances[lost] = exact.query(queries[lost], k, exclude=own, n_jobs=n_jobs)
        return indices, distances

    def _coordinates(self, rows: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray((rows - self._center) * self._scale, dtype=np.float32)


@contextmanager
def _one_openmp_thread(faiss: Any) -> Iterator[None]:
    """Blocks of queries already run on threads; the setting belongs to the calling thread alone."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
