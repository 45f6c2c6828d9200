"""The levels of a learned metric put together: curves for all, weights per class, weights per point.

d_j(x) = Σ_l w_jl (φ_l(x_jl) − φ_l(x_l))²,    log w_jl = (class weight)_{y_j l} + (point weight)_{jl}
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lann._types import Floats, Labels
from lann.curves import FeatureCurves
from lann.metrics.diagonal import DiagonalMetric


@dataclass(frozen=True)
class Levels:
    """Training points and what was learned about how they measure.

    Attributes
    ----------
    X : (n_points, n_features) the training points, in the data's units
    labels : (n_points,) indices of classes
    curves : shared by all
    class_log_weights : (n_classes, n_features)
    point_log_weights : (n_points, n_features) each point's departure from its class
    """

    X: Floats
    labels: Labels
    curves: FeatureCurves
    class_log_weights: Floats
    point_log_weights: Floats

    @classmethod
    def plain(cls, X: Floats, labels: Labels, n_classes: int) -> Levels:
        """Nothing learned: all weights are 1, distances are Euclidean."""
        n_features = X.shape[1]
        return cls(
            X,
            labels,
            FeatureCurves.identity(n_features),
            np.zeros((n_classes, n_features)),
            np.zeros(X.shape),
        )

    def replace(self, **changes: Any) -> Levels:
        return replace(self, **changes)

    @property
    def points(self) -> Floats:
        """The points as the metric sees them: on the curves."""
        return self.curves.transform(self.X)

    @property
    def weights(self) -> Floats:
        """(n_points, n_features), on the curved values."""
        return np.exp(self.class_log_weights[self.labels] + self.point_log_weights)

    def local_metric(self) -> DiagonalMetric:
        """Every point measures with its own weights."""
        return DiagonalMetric(self.points, self.weights)

    def class_metric(self) -> DiagonalMetric:
        """Every point measures with the weights of its class."""
        if not self.class_log_weights.any():
            return DiagonalMetric(self.points, np.ones(self.X.shape[1]))
        return DiagonalMetric(self.points, np.exp(self.class_log_weights)[self.labels])

    def relevances(self, scale: Floats) -> Floats:
        """How much a difference of one `scale` from each point counts there: w φ'(x)² scale².

        The metric's weight in the data's own units, so it can be compared between features and points.
        """
        return self.weights * (self.curves.slopes_at(self.X) * scale) ** 2

    def with_fixed_norm(self) -> Levels:
        """The same levels, with the weights of every class, and of every point, adding up to n_features."""
        by_class = self.class_log_weights
        by_class = by_class - np.log(np.mean(np.exp(by_class), axis=1, keepdims=True))
        scaled = self.replace(class_log_weights=by_class)
        excess = np.log(np.mean(scaled.weights, axis=1, keepdims=True))
        return scaled.replace(point_log_weights=scaled.point_log_weights - excess)
