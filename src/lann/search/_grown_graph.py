"""Approximate search in a graph of points of which some are gone, beside which others are new."""

from __future__ import annotations

import math

import numpy as np

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric
from lann.search._exact import ExactSearch, complete_lists
from lann.search._graph import GraphSearch
from lann.search._topk import smallest

# With a larger share of points that are new or gone, building another graph is worth its time.
LARGEST_CHANGE = 0.25
# Points that the graph is asked for beyond the expected number of those that are gone.
SPARE = 8


class GrownGraph:
    """Search by a graph of earlier points: new points are searched exactly, points that are gone left out.

    Parameters
    ----------
    graph : GraphSearch
    position : (n_nodes,)
        The point that each of the points of the graph is now; -1 if it is gone.
    metric : DiagonalMetric
        The points now; those of the graph come first, in the same order, and measure as they did.
    """

    def __init__(self, graph: GraphSearch, position: Indices, metric: DiagonalMetric) -> None:
        self.metric, self._graph, self._position = metric, graph, position
        self._n_old = int((position >= 0).sum())
        self._share_gone = 1.0 - self._n_old / len(position)
        new = np.arange(self._n_old, metric.n_points)
        self._new = ExactSearch(metric.subset(new)) if len(new) else None

    @staticmethod
    def pays(n_nodes: int, n_old: int, n_points: int) -> bool:
        """Return whether the graph is still worth its use.

        Parameters
        ----------
        n_nodes : int
            Number of points of the graph.
        n_old : int
            Number of these that are not gone.
        n_points : int
            Number of points now.
        """
        return (n_nodes - n_old) + (n_points - n_old) <= LARGEST_CHANGE * n_nodes

    def query(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return nearly always the k nearest points of each query: see `Search.query`."""
        queries = np.ascontiguousarray(queries, dtype=np.float64)
        wanted = k + (exclude is not None)
        n_asked = math.ceil(wanted / (1.0 - self._share_gone)) + (SPARE if self._share_gone else 0)
        nodes, distances = self._graph.query(queries, min(n_asked, len(self._position)), n_jobs=n_jobs)
        found = np.where(nodes >= 0, self._position[nodes], -1)
        if self._new is not None:
            k_new = min(wanted, self._new.metric.n_points)
            new, new_distances = self._new.query(queries, k_new, n_jobs=n_jobs)
            found = np.concatenate([found, np.where(new >= 0, new + self._n_old, -1)], axis=1)
            distances = np.concatenate([distances, new_distances], axis=1)
        if exclude is not None:
            found[found == exclude[:, None]] = -1
        indices, distances = smallest(distances, found, k)
        complete_lists(self.metric, queries, (indices, distances), exclude=exclude, n_jobs=n_jobs)
        return indices, distances
