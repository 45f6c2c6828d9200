"""The levels of a learned metric put together: curves and a map for all, weights per class and per point.

    d_j(x) = Σ_a w_ja z_a²,    z = M (φ(x_j) − φ(x)),    log w_ja = (weight of y_j)_a + (weight of j)_a

The map M turns the features on their curves into the *axes* along which points measure; without one the axes
are the features themselves. Where points own matrices Ω_j, d_j(x) = ‖Ω_jᵀ (√w_j ⊙ z)‖² instead.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann.curves import FeatureCurves
from lann.metrics.diagonal import DiagonalMetric, overflow_is_far
from lann.metrics.matrix import MatrixMetric, pulls, unfolded_parts


@njit(nogil=True, cache=True)
def turned(curved, axes):
    """curved · axesᵀ. A row's result does not depend on the rows beside it, as it would in a library call."""
    out = np.zeros((curved.shape[0], axes.shape[0]))
    columns = np.ascontiguousarray(axes.T)
    for i in range(curved.shape[0]):
        for f in range(curved.shape[1]):
            value = curved[i, f]
            for a in range(axes.shape[0]):
                out[i, a] += value * columns[f, a]
    return out


@dataclass(frozen=True)
class Levels:
    """Training points and what was learned about how they measure.

    Attributes
    ----------
    X : (n_points, n_features) the training points, in the data's units
    labels : (n_points,) indices of classes
    curves : shared by all
    class_log_weights : (n_classes, n_axes)
    point_log_weights : (n_points, n_axes) each point's departure from its class
    map : (n_axes, n_features) M, shared by all; None where the axes are the features
    point_maps : (n_points, n_axes, rank) each point's own Ω; None where its metric is diagonal
    """

    X: Floats
    labels: Labels
    curves: FeatureCurves
    class_log_weights: Floats
    point_log_weights: Floats
    map: Floats | None = None
    point_maps: Floats | None = None

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
        """The points as the metric sees them: on the curves, along the axes."""
        return self.place(self.X)

    def place(self, X: Floats) -> Floats:
        """Rows of data as the metric sees them: (n_rows, n_axes)."""
        return self.turn(self.curves.transform(X))

    def turn(self, curved: Floats) -> Floats:
        """Rows on the curves as the metric sees them: (n_rows, n_axes)."""
        return curved if self.map is None else turned(curved, self.map)

    @property
    def in_use(self) -> tuple[str, ...]:
        """The names of the levels about which something is learned."""
        own = self.point_maps is not None or bool(self.point_log_weights.any())
        learned = {
            "curves": not self.curves.is_identity,
            "map": self.map is not None,
            "class": bool(self.class_log_weights.any()),
            "point": own,
        }
        return tuple(name for name, used in learned.items() if used)

    @property
    def weights(self) -> Floats:
        """(n_points, n_axes), on the curved values."""
        return np.exp(self.class_log_weights[self.labels] + self.point_log_weights)

    def own_maps(self, rows: Indices | slice = slice(None)) -> NDArray:
        """√w_j ⊙ Ω_j of some points, where they own matrices: (n_rows, n_axes, rank)."""
        if self.point_maps is None:
            raise ValueError("These points measure with weights; they own no matrices.")
        roots = np.exp(0.5 * (self.class_log_weights[self.labels[rows]] + self.point_log_weights[rows]))
        return roots.astype(self.point_maps.dtype)[:, :, None] * self.point_maps[rows]

    def local_metric(self) -> DiagonalMetric | MatrixMetric:
        """Every point measures with its own weights, or its own matrix."""
        if self.point_maps is not None:
            return MatrixMetric(self.points, self.own_maps())
        return DiagonalMetric(self.points, self.weights)

    def class_metric(self) -> DiagonalMetric:
        """Every point measures with the weights of its class."""
        return self.metric_of_classes(self.points, self.labels, self.class_log_weights)

    @staticmethod
    def metric_of_classes(points: Floats, labels: Labels, class_log_weights: Floats) -> DiagonalMetric:
        """Points along the axes that measure with the weights of their classes."""
        if not class_log_weights.any():
            return DiagonalMetric(points, np.ones(points.shape[1]))
        return DiagonalMetric(points, np.exp(class_log_weights)[labels])

    def relevances(self, scale: Floats) -> Floats:
        """How much a difference of one `scale` from each point counts there: Λ_ll φ'(x)² scale².

        The metric's weight in the data's own units, so it can be compared between features and points:
        (n_points, n_features).
        """
        with single_threaded_blas():  # the same bits whatever the number of its threads
            weights = self._feature_weights()
        return weights * (self.curves.slopes_at(self.X) * scale) ** 2

    def _feature_weights(self) -> Floats:
        """The diagonals of the Λ_j, over the features on their curves: (n_points, n_features)."""
        if self.point_maps is None:
            return self.weights if self.map is None else self.weights @ self.map**2
        found = np.empty(self.X.shape)
        _, n_axes, rank = self.point_maps.shape
        for part in unfolded_parts(len(self.X), max(n_axes, self.X.shape[1]) * rank):
            maps = self.own_maps(part).astype(np.float64, copy=False)
            if self.map is not None:
                maps = np.matmul(self.map.T, maps)  # (n_rows, n_features, rank)
            found[part] = np.einsum("jfr,jfr->jf", maps, maps)
        return found

    @overflow_is_far
    def contributions(self, curved: Floats, candidates: Indices) -> Floats:
        """What each feature adds to each distance: (n_queries, n_candidates, n_features).

        What an axis adds, w z², is split among the features by the squares of their parts in z. Where points
        own matrices there are no axes to speak of: of d = δᵀ Λ δ, feature l then adds δ_l (Λ δ)_l, which is
        negative where it makes up for the difference in another.

        curved : (n_queries, n_features) queries on the curves
        candidates : (n_queries, n_candidates)
        """
        with single_threaded_blas():
            return self._contributions(curved, candidates)

    def _contributions(self, curved: Floats, candidates: Indices) -> Floats:
        points = self.curves.transform(self.X[candidates.ravel()]).reshape(*candidates.shape, -1)
        steps = curved[:, None, :] - points
        along = self.turn(steps.reshape(candidates.size, -1)).reshape(*candidates.shape, -1)
        if self.point_maps is not None:
            rows, place = np.unique(candidates, return_inverse=True)
            pulled = pulls(along, self.own_maps(rows), place.reshape(candidates.shape))
            return steps * (pulled if self.map is None else pulled @ self.map)
        added = self.weights[candidates] * along**2
        if self.map is None:
            return added
        parts = steps**2 @ (self.map**2).T
        return steps**2 * (np.divide(added, parts, out=np.zeros_like(added), where=parts > 0) @ self.map**2)

    def with_fixed_norm(self) -> Levels:
        """The same levels, with the weights of every class, and of every point, adding up to their number.

        Where points own matrices it is the trace of Λ_j over the axes that does.
        """
        by_class = self.class_log_weights
        by_class = by_class - np.log(np.mean(np.exp(by_class), axis=1, keepdims=True))
        scaled = self.replace(class_log_weights=by_class)
        if self.point_maps is None:
            excess = np.log(np.mean(scaled.weights, axis=1, keepdims=True))
            return scaled.replace(point_log_weights=scaled.point_log_weights - excess)
        squares = np.einsum("jar,jar->ja", self.point_maps, self.point_maps, dtype=np.float64)
        excess = np.mean(scaled.weights * squares, axis=1)
        stretch = (1.0 / np.sqrt(excess)).astype(self.point_maps.dtype)
        return scaled.replace(point_maps=self.point_maps * stretch[:, None, None])

    def with_fixed_determinant(self) -> Levels:
        """The same levels, with the product of the weights of every class, and of every point, equal to 1."""
        by_class = self.class_log_weights - self.class_log_weights.mean(axis=1, keepdims=True)
        by_point = self.point_log_weights - self.point_log_weights.mean(axis=1, keepdims=True)
        return self.replace(class_log_weights=by_class, point_log_weights=by_point)
