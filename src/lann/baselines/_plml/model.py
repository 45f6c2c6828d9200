"""The model of PLML: queries are compared with training rows by weighted means of the metrics of anchors."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from lann._sizes import Limits, limits_for
from lann._types import Floats
from lann.baselines._class_neighbors import euclidean_search
from lann.baselines._mapped_rows import QueryMaps
from lann.search import ExactSearch


class AnchorMaps(QueryMaps):
    """Training rows with a weight per anchor; a query takes the mean metric of the nearest training rows.

    Parameters
    ----------
    X : (n_rows, n_features)
    axes : (n_axes, n_features)
        The axes on which the anchors measure.
    weights : (n_rows, n_anchors)
    maps : (n_anchors, rank, n_axes)
    n_metric_neighbors : int
        Number of training rows over which the metric of a query is averaged.
    """

    _lazy = (*QueryMaps._lazy, "_search")

    def __init__(
        self, X: Floats, axes: Floats, weights: Floats, maps: Floats, *, n_metric_neighbors: int
    ) -> None:
        super().__init__(X)
        self.axes, self.weights, self.maps = axes, weights, maps
        self.n_metric_neighbors = n_metric_neighbors
        self.metrics = maps.transpose(0, 2, 1) @ maps

    @cached_property
    def _search(self) -> ExactSearch:
        return euclidean_search(self.X @ self.axes.T)

    @cached_property
    def limits(self) -> Limits:
        # The map of a query is at most the root of the sum of all weighted metrics.
        traces = self.weights.max(axis=0, initial=0.0) @ np.trace(self.metrics, axis1=1, axis2=2)
        on_axes = np.abs(self.axes).max(axis=0, initial=0.0)
        return limits_for(np.maximum(on_axes, 1.0) * max(float(np.sqrt(traces)), 1.0))

    def maps_at(self, queries: Floats) -> Floats:
        nearest, _ = self._search.query(queries @ self.axes.T, self.n_metric_neighbors, n_jobs=1)
        n_anchors, n_axes, _ = self.metrics.shape
        means = self.weights[nearest].mean(axis=1) @ self.metrics.reshape(n_anchors, -1)
        values, vectors = np.linalg.eigh(means.reshape(-1, n_axes, n_axes))
        maps = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
        return maps @ self.axes
