"""Approximate search for many points: a navigable graph under a shared metric, ranked again exactly."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics.diagonal import DiagonalMetric
from lann.search.exact import ExactSearch
from lann.search.topk import smallest, together

# At 200k points of 20 features: 11 s to build on one thread, recall .9996 of 50 neighbors.
LINKS = 16
BUILD_WIDTH = 40
SEARCH_WIDTH = 128
QUERY_BLOCK = 512


class GraphSearch:
    """Nearly always the nearest points under `metric`, found among twice as many near in a graph.

    The graph (faiss HNSW) is built under one metric shared by all points: the mean over the points of the
    weights of `metric`. It is built by one thread, since with several its links depend on their timing.
    Points that coincide are one node: a node's few links must not all lead to its copies.
    """

    def __init__(self, metric: DiagonalMetric) -> None:
        faiss: Any = import_module("faiss")
        self.metric = metric
        mean = metric.weights if metric.shared else metric.weights.mean(axis=0)
        self._scale = np.sqrt(mean)
        self._center = metric.points.mean(axis=0)
        reach = np.abs((metric.points - self._center) * self._scale).max()
        self._scale /= reach or 1.0  # within the range of float32, whatever the units
        with _one_openmp_thread(faiss):
            self._index = faiss.IndexHNSWFlat(metric.points.shape[1], LINKS)
            self._index.hnsw.efConstruction = BUILD_WIDTH
            self._index.add(self._coordinates(metric.points[self._merge_copies()]))

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """As :meth:`lann.search.exact.ExactSearch.query`, except that a few neighbors may be missed."""
        faiss: Any = import_module("faiss")
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        if len(queries) == 0:
            return np.empty((0, k), np.int64), np.empty((0, k))
        wanted = min(2 * k + 1, self.metric.n_points)
        n_nodes = min(wanted, len(self._first_copy) - 1)
        parameters = faiss.SearchParametersHNSW(efSearch=max(SEARCH_WIDTH, 2 * wanted))

        def search(part: slice) -> tuple[Indices, Floats]:
            with _one_openmp_thread(faiss):
                _, nodes = self._index.search(self._coordinates(queries[part]), n_nodes, params=parameters)
            found = _unfold(nodes, self._copies, self._first_copy, wanted)
            if exclude is not None:
                found[found == exclude[part, None]] = -1
            measured = self.metric.distances(queries[part], np.maximum(found, 0))
            return smallest(measured, found, k)

        indices, distances = together(map_blocks(search, len(queries), QUERY_BLOCK, n_jobs=n_jobs))
        lost = np.flatnonzero(indices[:, -1] < 0)
        if len(lost):
            # Where many points coincide, the graph may be cut off from the rest.
            own = None if exclude is None else exclude[lost]
            exact = ExactSearch(self.metric)
            indices[lost], distances[lost] = exact.query(queries[lost], k, exclude=own, n_jobs=n_jobs)
        return indices, distances

    def _merge_copies(self) -> Indices:
        """One point of each place, in order of appearance; keeps which points are at each."""
        _, first, place = np.unique(self.metric.points, axis=0, return_index=True, return_inverse=True)
        appearance = np.argsort(np.argsort(first))
        node = appearance[place.reshape(-1)]
        self._copies = np.argsort(node, kind="stable")
        self._first_copy = np.concatenate([[0], np.cumsum(np.bincount(node))])
        return np.sort(first)

    def _coordinates(self, rows: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray((rows - self._center) * self._scale, dtype=np.float32)


@njit(nogil=True, cache=True)
def _unfold(nodes, copies, first_copy, wanted):
    """The points at some nodes, up to `wanted` of them per query, -1 where there are fewer."""
    points = np.full((nodes.shape[0], wanted), -1, np.int64)
    for query in range(nodes.shape[0]):
        count = 0
        for node in nodes[query]:
            if node >= 0:
                for place in range(first_copy[node], first_copy[node + 1]):
                    if count < wanted:
                        points[query, count] = copies[place]
                        count += 1
    return points


@contextmanager
def _one_openmp_thread(faiss: Any) -> Iterator[None]:
    """Blocks of queries already run on threads; the setting belongs to the calling thread alone."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
