"""The levels of a learned metric: encoding and linear map shared by all rows, weights per class and point.

    d_j(x) = Σ_a w_ja z_a²,    z = M (φ(x_j) − φ(x)),    log w_ja = v_ca + u_ja for the class c of row j

The encoding φ leads from the features to coordinates: one for a number, on its curve, some for a category.
The linear map M leads from the coordinates to the *axes*; without it the axes are the coordinates.
Where points own matrices Ω_j, d_j(x) = ‖Ω_jᵀ (√w_j ⊙ z)‖² instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from lann import _native
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.metric import Encoding, FeatureCurves
from lann.metric._diagonal import DiagonalMetric, overflow_is_far, row_parts
from lann.metric._matrix import MatrixMetric, metric_products, multiply_rows, row_blocks

# Attributes of levels with an entry per row.
OF_ROWS = ("X", "labels", "point_log_weights", "point_matrices", "row_weights", "values")


@dataclass(frozen=True)
class Levels:
    """Training rows and the levels of their metrics.

    Where X is float32, diagonal metrics measure from points that are rounded to float32, and where the log
    weights are, with weights that are rounded: these are half as large. Everything is computed in float64
    from what is stored.

    Attributes
    ----------
    X : (n_points, n_features)
        The training rows: numbers in the user's units, categories as codes, gaps as NaN.
    labels : (n_points,)
        Class indices; for regression, groups of rows with similar values.
    encoding : Encoding
        The curves of numbers and the positions of categories and gaps, shared by all rows.
    class_log_weights : (n_classes, n_axes)
    point_log_weights : (n_points, n_axes)
        The difference of each point's log weights from those of its class.
    components : (n_axes, n_coordinates) or None
        The linear map M, shared by all rows; None where the axes are the coordinates.
    point_matrices : (n_points, n_axes, rank) or None
        The matrix Ω that each point owns; None where point metrics are diagonal.
    row_weights : (n_points,) or None
        Sample weights; None is 1 for all.
    values : (n_points,) or None
        What regression predicts; None for classes.
    """

    X: Floats
    labels: Labels
    encoding: Encoding
    class_log_weights: Floats
    point_log_weights: Floats
    components: Floats | None = None
    point_matrices: Floats | None = None
    row_weights: Floats | None = None
    values: Floats | None = None

    @classmethod
    def plain(
        cls,
        X: Floats,
        labels: Labels,
        n_classes: int,
        *,
        encoding: Encoding | None = None,
        row_weights: Floats | None = None,
        values: Floats | None = None,
    ) -> Levels:
        """Return levels with nothing learned: all weights are 1, distances are Euclidean.

        The encoding is that of numbers without gaps, unless another one is given.
        """
        encoding = Encoding.identity(X.shape[1]) if encoding is None else encoding
        by_class, by_point = (np.zeros((n, encoding.n_coordinates)) for n in (n_classes, len(X)))
        return cls(X, labels, encoding, by_class, by_point, row_weights=row_weights, values=values)

    @property
    def targets(self) -> NDArray[np.int64]:
        """What a row is to predict, as numbers of which equal ones are the same: (n_points,)."""
        return self.labels if self.values is None else (self.values + 0.0).view(np.int64)

    @property
    def curves(self) -> FeatureCurves:
        """The curves of the numbers."""
        return self.encoding.curves

    def with_curves(self, curves: FeatureCurves) -> Levels:
        """Return the levels with other curves of the numbers."""
        return self.replace(encoding=self.encoding.replace(curves=curves))

    def without_features(self, features: Sequence[int]) -> Levels:
        """Return the levels in which some features are not measured."""
        return self.replace(encoding=self.encoding.replace(left_out=tuple(features)))

    def replace(self, **changes: Any) -> Levels:
        """Return the levels with some attributes replaced."""
        return replace(self, **changes)

    def subset(self, rows: Indices) -> Levels:
        """Return the levels of some of the rows."""
        own = {name: getattr(self, name) for name in OF_ROWS}
        return self.replace(**{name: None if v is None else v[rows] for name, v in own.items()})

    def with_shared(self, other: Levels) -> Levels:
        """Return these rows with the encoding, the linear map and the class weights of other levels.

        The point metrics are these ones, unless they are about other axes.
        """
        n_axes = other.class_log_weights.shape[1]
        shared = self.replace(
            encoding=other.encoding, components=other.components, class_log_weights=other.class_log_weights
        )
        if self.point_log_weights.shape[1] == n_axes:
            return shared
        return shared.replace(point_log_weights=np.zeros((len(self.X), n_axes)), point_matrices=None)

    def stored_as(self, rows: DTypeLike, weights: DTypeLike) -> Levels:
        """Return the levels with other types of numbers: of the rows, and of the log weights of points.

        Points that own matrices keep log weights in float64: the matrices take many times as much memory.
        """
        weights = np.float64 if self.point_matrices is not None else weights
        return self.replace(
            X=self.X.astype(rows, copy=False),
            point_log_weights=self.point_log_weights.astype(weights, copy=False),
        )

    def in_double(self) -> Levels:
        """Return the levels in float64, as training needs them."""
        return self.stored_as(np.float64, np.float64)

    @property
    def points(self) -> Floats:
        """The training rows on the axes: (n_points, n_axes)."""
        if self.components is None and self.encoding.is_identity:
            return self.X
        points = np.empty((len(self.X), self.class_log_weights.shape[1]), self._points_dtype)
        for part in row_parts(len(points)):
            points[part] = self.transform(self.X[part])
        return points

    @property
    def _points_dtype(self) -> np.dtype[Any]:
        return self.X.dtype if self.point_matrices is None else np.dtype(np.float64)

    def _points_at(self, encoded: Floats) -> Floats:
        """Return points given by their coordinates, as `points` has them."""
        points = self.transform_encoded(encoded)
        return points.astype(self._points_dtype, copy=False).astype(np.float64, copy=False)

    def transform(self, X: Floats) -> Floats:
        """Return rows on the axes: (n_rows, n_axes)."""
        return self.transform_encoded(self.encoding.transform(X))

    def transform_encoded(self, encoded: Floats) -> Floats:
        """Return rows given by their coordinates on the axes: (n_rows, n_axes)."""
        return encoded if self.components is None else multiply_rows(encoded, self.components.T)

    @property
    def in_use(self) -> tuple[str, ...]:
        """Names of the levels in which something is learned."""
        own = self.point_matrices is not None or bool(self.point_log_weights.any())
        learned = {
            "curves": self.encoding.is_learned,
            "map": self.components is not None,
            "class": bool(self.class_log_weights.any()),
            "point": own,
        }
        return tuple(name for name, used in learned.items() if used)

    @property
    def weights(self) -> Floats:
        """Weights of the axes for each point: (n_points, n_axes)."""
        weights = np.empty_like(self.point_log_weights)
        for part in row_parts(len(weights)):
            weights[part] = self.weights_of(part)
        return weights

    def weights_of(self, rows: Indices | slice) -> Floats:
        """Return the weights of some points: (n_rows, n_axes)."""
        weights = np.exp(self.class_log_weights[self.labels[rows]] + self.point_log_weights[rows])
        return weights.astype(self.point_log_weights.dtype, copy=False)

    def scaled_matrices(self, rows: Indices | slice = slice(None)) -> NDArray:
        """Return √w_j ⊙ Ω_j of some points that own matrices: (n_rows, n_axes, rank)."""
        assert self.point_matrices is not None
        roots = np.exp(0.5 * (self.class_log_weights[self.labels[rows]] + self.point_log_weights[rows]))
        return roots.astype(self.point_matrices.dtype)[:, :, None] * self.point_matrices[rows]

    def local_metric(self) -> DiagonalMetric | MatrixMetric:
        """Return the metric in which every point measures with its own weights or matrix."""
        if self.point_matrices is not None:
            return MatrixMetric(self.points, self.scaled_matrices())
        return DiagonalMetric(self.points, self.weights)

    def class_metric(self) -> DiagonalMetric:
        """Return the metric in which every point measures with the weights of its class."""
        return self.metric_of_classes(self.points, self.labels, self.class_log_weights)

    @staticmethod
    def metric_of_classes(points: Floats, labels: Labels, class_log_weights: Floats) -> DiagonalMetric:
        """Return the metric in which points on the axes measure with the weights of their classes."""
        if not class_log_weights.any():
            return DiagonalMetric(points, np.ones(points.shape[1]))
        return DiagonalMetric(points, np.exp(class_log_weights), labels)

    def feature_weights(self, scale: Floats) -> Floats:
        """Return how much a difference of one `scale` counts at each point: Λ_ll φ'(x)² scale².

        This is the weight of the metric in the user's units, comparable between features and points. The
        slope φ' is the mean one in the bin of the value, with the jumps in it. For a category, and for a gap,
        it is half the mean squared distance from the positions of all rows, which for a number on a straight
        curve is that of one standard deviation on average.

        Parameters
        ----------
        scale : (n_numbers,)

        Returns
        -------
        weights : (n_points, n_features)
        """
        with single_threaded_blas():  # the same bits for any number of BLAS threads
            diagonals = self._metric_diagonals()
        if self.encoding.is_numeric:
            return diagonals * (self.curves.mean_slopes_at(self.X) * scale) ** 2
        return self.encoding.sum_by_feature(diagonals * self.encoding.squared_spreads(self.X, scale))

    def _metric_diagonals(self) -> Floats:
        """Return the diagonals of the Λ_j over the coordinates: (n_points, n_coordinates)."""
        if self.point_matrices is None:
            weights = self.weights
            return weights if self.components is None else weights @ self.components**2
        diagonals = np.empty((len(self.X), self.encoding.n_coordinates))
        _, n_axes, rank = self.point_matrices.shape
        for part in row_blocks(len(self.X), max(n_axes, diagonals.shape[1]) * rank):
            matrices = self.scaled_matrices(part).astype(np.float64, copy=False)
            if self.components is not None:
                matrices = np.matmul(self.components.T, matrices)  # (n_rows, n_coordinates, rank)
            diagonals[part] = np.einsum("jfr,jfr->jf", matrices, matrices)
        return diagonals

    def local_matrices(self, rows: Indices) -> Floats:
        """Return the metrics of some points near themselves: (n_rows, n_features, n_features).

        In the user's units, A_j = J Mᵀ Λ_j M J: the metric Λ_j on the axes, the linear map M, and the slopes
        J of the curves at the point. Jumps of the curves have no slope.

        Raises
        ------
        ValueError
            If there are categories or gaps, which have no slope.
        """
        if not self.encoding.is_numeric:
            raise ValueError("Matrices over the features need numbers without gaps; the rows have others.")
        slopes = self.curves.slopes_at(self.X[rows])  # (n_rows, n_features)
        components = np.eye(self.X.shape[1]) if self.components is None else self.components
        if self.point_matrices is None:
            weights = self.weights_of(rows).astype(np.float64, copy=False)
            roots = np.sqrt(weights)[:, :, None] * components  # (n_rows, n_axes, n_features)
        else:
            matrices = self.scaled_matrices(rows).astype(np.float64)
            roots = np.matmul(matrices.swapaxes(1, 2), components)
        roots = roots * slopes[:, None, :]
        return np.matmul(roots.swapaxes(1, 2), roots)

    @overflow_is_far
    def contributions(self, encoded: Floats, candidates: Indices) -> Floats:
        """Return what each feature adds to each squared distance.

        What an axis adds, w z², is divided among the features in proportion to the squares of their parts of
        z. With point matrices, feature l adds δ_l (Λ δ)_l of d = δᵀ Λ δ, which is negative where it
        compensates the difference in another feature. What the coordinates of a feature add is added up.

        Parameters
        ----------
        encoded : (n_queries, n_coordinates)
            The coordinates of the queries.
        candidates : (n_queries, n_candidates)
            Points.

        Returns
        -------
        contributions : (n_queries, n_candidates, n_features)
        """
        with single_threaded_blas():
            return self.encoding.sum_by_feature(self._contributions(encoded, candidates))

    def _contributions(self, encoded: Floats, candidates: Indices) -> Floats:
        """Return what each coordinate adds: (n_queries, n_candidates, n_coordinates)."""
        rows, position = np.unique(candidates, return_inverse=True)
        position = position.reshape(candidates.shape)
        points = self.encoding.transform(self.X[rows])
        if self.components is None:
            points = self._points_at(points)
        steps = encoded[:, None, :] - points[position]
        along = steps
        if self.components is not None:
            along = self.transform_encoded(encoded)[:, None, :] - self._points_at(points)[position]
        if self.point_matrices is not None:
            products = metric_products(along, self.scaled_matrices(rows), position)
            return steps * (products if self.components is None else products @ self.components)
        added = self.weights_of(rows)[position] * along**2
        if self.components is None:
            return added
        # Shares do not depend on the unit of an axis; with powers of two, nor do their bits.
        _, exponents = np.frexp(np.abs(self.components).max(axis=1, keepdims=True))
        squares = np.ldexp(self.components, -exponents) ** 2
        parts = np.square(steps).reshape(-1, steps.shape[2])
        totals = multiply_rows(parts, squares.T)
        shares = np.divide(added.reshape(totals.shape), totals, out=np.zeros(totals.shape), where=totals > 0)
        return (parts * multiply_rows(shares, squares)).reshape(steps.shape)

    def with_fixed_norm(self) -> Levels:
        """Return the levels scaled so that the mean weight of every class, and of every point, is 1.

        With point matrices, it is the mean diagonal entry of Λ_j over the axes.
        """
        by_class = self.class_log_weights
        by_class = by_class - np.log(np.mean(np.exp(by_class), axis=1, keepdims=True))
        scaled = self.replace(class_log_weights=by_class)
        if self.point_matrices is None:
            excess = np.log(np.mean(scaled.weights, axis=1, keepdims=True))
            return scaled.replace(point_log_weights=scaled.point_log_weights - excess)
        squares = np.einsum("jar,jar->ja", self.point_matrices, self.point_matrices, dtype=np.float64)
        excess = np.mean(scaled.weights * squares, axis=1)
        factor = (1.0 / np.sqrt(excess)).astype(self.point_matrices.dtype)
        return scaled.replace(point_matrices=self.point_matrices * factor[:, None, None])

    def with_fixed_determinant(self) -> Levels:
        """Return the levels scaled so that the weights of every class, and of every point, have product 1."""
        by_class = self.class_log_weights - self.class_log_weights.mean(axis=1, keepdims=True)
        by_point = self.point_log_weights - self.point_log_weights.mean(axis=1, keepdims=True)
        return self.replace(class_log_weights=by_class, point_log_weights=by_point)


class Copies(NamedTuple):
    """Groups of training rows that are copies of each other.

    Attributes
    ----------
    distinct : (n_groups,)
        One row of each group, in an order that depends on the values of the rows only.
    group : (n_rows,)
        The group of each row.
    """

    distinct: Indices
    group: Indices

    def totals(self, row_weights: Floats | None) -> Floats:
        """Return the total weight of each group: (n_groups,)."""
        if row_weights is None:
            return np.bincount(self.group).astype(np.float64)
        # Added up in an order that does not depend on that of the rows: the same bits.
        order = np.lexsort((row_weights, self.group))
        starts = np.flatnonzero(np.diff(self.group[order], prepend=-1))
        return np.add.reduceat(row_weights[order], starts)

    def merge(self, levels: Levels) -> Levels:
        """Return one row of each group, with the total weight of the group relative to the mean."""
        totals = self.totals(levels.row_weights)
        return levels.subset(self.distinct).replace(row_weights=totals / totals.mean())

    def expand(self, merged: Levels, levels: Levels) -> Levels:
        """Return all rows of `levels`, each with the metric of its group in `merged`."""
        matrices = merged.point_matrices
        return levels.with_shared(merged).replace(
            point_log_weights=merged.point_log_weights[self.group],
            point_matrices=None if matrices is None else matrices[self.group],
        )


def find_copies(levels: Levels) -> Copies | None:
    """Return the groups of equal rows, or None if all rows are distinct and count alike."""
    hashes, row_weights = row_hashes(levels.X, levels.targets), levels.row_weights
    order = np.argsort(hashes, kind="stable")
    in_order = hashes[order]
    repeated = in_order[1:] == in_order[:-1]
    if not repeated.any() and row_weights is None:
        return None
    starts = np.append(True, ~repeated)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts) - 1
    return Copies(order[starts], group)


def row_hashes(X: Floats, labels: Labels) -> NDArray[np.uint64]:
    """Return a hash of the values and the label of each row: (n_rows,)."""
    hashes = np.empty(len(X), np.uint64)
    for part in row_parts(len(X)):
        bits = np.ascontiguousarray(X[part], dtype=np.float64).view(np.uint64)
        _native.row_hashes(bits, labels[part], hashes[part])
    return hashes


def join_weights(*parts: tuple[Floats | None, int]) -> Floats | None:
    """Return the weights of the rows of several parts, or None if all are 1.

    Parameters
    ----------
    parts : tuple
        The weights of the rows of a part, None for 1, and their number.
    """
    if all(weights is None for weights, _ in parts):
        return None
    return np.concatenate([np.ones(n_rows) if weights is None else weights for weights, n_rows in parts])
