"""The protocol of a search."""

from __future__ import annotations

from typing import Protocol

from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, MatrixMetric


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
