"""Approximate search for many points: a navigable graph under one metric, ranked under another."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from copy import copy
from importlib import import_module
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric
from lann.search._exact import complete_lists
from lann.search._topk import concatenate_results, smallest

# At 200k points of 20 features: 11 s to build on one thread, recall .9996 of 50 neighbors.
LINKS = 16
BUILD_WIDTH = 40
SEARCH_WIDTH = 128
QUERY_BLOCK = 512
# Up to this many points, the exact search lists the candidates of all points faster than a graph is built.
FEWEST_POINTS = 50_000
# Building a graph takes as long as the exact search for about this many queries, for any number of points.
FEWEST_QUERIES = 20_000


class GraphSearch:
    """Approximate search for the nearest points, among twice as many that a graph finds.

    The graph (faiss HNSW) is built under one metric shared by all points: the mean over the points of the
    weights of `metric`. One thread builds it, since the links would depend on the timing of several threads.
    Points that coincide are one node, so that the links of a node do not all lead to its copies.

    Parameters
    ----------
    metric : DiagonalMetric
    """

    def __init__(self, metric: DiagonalMetric) -> None:
        faiss: Any = import_module("faiss")
        nodes = self._set_metric(metric)
        with _one_openmp_thread(faiss):
            self._index = faiss.IndexHNSWFlat(metric.points.shape[1], LINKS)
            self._index.hnsw.efConstruction = BUILD_WIDTH
            self._index.add(nodes)

    @staticmethod
    def pays(n_points: int, n_queries: int | None = None) -> bool:
        """Return whether a graph is faster than the exact search.

        Parameters
        ----------
        n_points : int
        n_queries : int or None
            How many there will be in total; None is unknown.
        """
        few = n_queries is not None and n_queries < FEWEST_QUERIES
        return n_points >= FEWEST_POINTS and not few

    def with_metric(self, metric: DiagonalMetric) -> GraphSearch | None:
        """Return the search that `GraphSearch(metric)` builds, by the graph of this one if that is the same.

        It is the same if the float32 coordinates of its nodes are, such as for the same points in other
        units; otherwise None is returned.
        """
        other = copy(self)
        nodes = other._set_metric(metric)
        n_nodes = self._index.ntotal
        if nodes.shape != (n_nodes, self._index.d):
            return None
        return other if np.array_equal(nodes, self._index.reconstruct_n(0, n_nodes)) else None

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return nearly always the k nearest points of each query: see `Search.query`."""
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

        indices, distances = concatenate_results(map_blocks(search, len(queries), QUERY_BLOCK, n_jobs=n_jobs))
        # Where many points coincide, the graph may have parts that are not connected.
        complete_lists(self.metric, queries, (indices, distances), exclude=exclude, n_jobs=n_jobs)
        return indices, distances

    def _set_metric(self, metric: DiagonalMetric) -> NDArray[np.float32]:
        """Set the metric and the shared one of the graph, and return the coordinates of the nodes."""
        self.metric = metric
        self._scale = np.sqrt(metric.mean_weights)
        self._center = metric.points.mean(axis=0, dtype=np.float64)
        reach = np.abs((metric.points - self._center) * self._scale).max()
        self._scale /= reach or 1.0  # within the range of float32 in any units
        return self._coordinates(metric.points[self._merge_copies()])

    def _merge_copies(self) -> Indices:
        """Return one point for each set of copies, in order of appearance, and store the copies of each."""
        _, first, value = np.unique(self.metric.points, axis=0, return_index=True, return_inverse=True)
        appearance = np.argsort(np.argsort(first))
        node = appearance[value.reshape(-1)]
        self._copies = np.argsort(node, kind="stable")
        self._first_copy = np.concatenate([[0], np.cumsum(np.bincount(node))])
        return np.sort(first)

    def _coordinates(self, rows: Floats) -> NDArray[np.float32]:
        return np.ascontiguousarray((rows - self._center) * self._scale, dtype=np.float32)


@njit(nogil=True, cache=True)
def _unfold(nodes, copies, first_copy, wanted):
    """Return the points of some nodes, up to `wanted` per query, -1 where there are fewer."""
    points = np.full((nodes.shape[0], wanted), -1, np.int64)
    for query in range(nodes.shape[0]):
        count = 0
        for node in nodes[query]:
            if node >= 0:
                for position in range(first_copy[node], first_copy[node + 1]):
                    if count < wanted:
                        points[query, count] = copies[position]
                        count += 1
    return points


@contextmanager
def _one_openmp_thread(faiss: Any) -> Iterator[None]:
    """Limit faiss to one thread, in the calling thread only: blocks of queries already run on threads."""
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(1)
    try:
        yield
    finally:
        faiss.omp_set_num_threads(before)
