"""Diagonal metrics: each point measures with a non-negative weight per axis.

    d_j(x) = Σ_l w_jl (x_l − p_jl)²

Expanded, that is ⟨[x², x, 1], [w, −2wp, Σwp²]⟩: the distances to all points are one matrix product of width
2n + 1 (the *lift*). Where all points share one weight vector, Σ w x² is the same for all and width n + 1 is
enough. Where points measure with the weights of C < n classes, it is one of C numbers: width C + n + 1.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.types import Floats, Indices, Labels

# Rows that are processed at once, so that no further array of the size of all points is needed.
BLOCK = 65_536
NO_LABELS: Labels = np.empty(0, np.int64)
# Squares that overflow are infinitely far, which needs no warning.
# Squares up to this share of the largest number of a type can be lifted.
SAFE_SHARE = 1e-8
overflow_is_far = np.errstate(over="ignore", invalid="ignore")


class DiagonalMetric:
    """Points that each measure with diagonal weights of their own, or with those of their class.

    Points and weights that are float32 stay so, which halves the memory; distances are float64.

    Parameters
    ----------
    points : (n_points, n_axes)
    weights : (n_points, n_axes), (n_classes, n_axes) or (n_axes,)
        With labels, a weight vector per class; one vector where all points share one metric.
    labels : (n_points,) or None
        The class of each point; None where points measure with weights of their own.
    """

    # Whether float32 is precise enough for the lifted product.
    lift_in_single = True

    def __init__(self, points: Floats, weights: Floats, labels: Labels | None = None) -> None:
        self.points = _contiguous(points)
        self.weights = _contiguous(weights)
        self.labels = labels
        self.shared = self.weights.ndim == 1
        # Distances are invariant under translation; the lift loses fewer digits near the origin.
        self._center = self.points.mean(axis=0, dtype=np.float64)
        self._reach = max(
            (np.abs(self.points[part] - self._center).max(initial=0.0) for part in row_parts(self.n_points)),
            default=0.0,
        )
        self._largest = self.weights if self.shared else self.weights.max(axis=0).astype(np.float64)

    @property
    def n_points(self) -> int:
        return self.points.shape[0]

    @property
    def mean_weights(self) -> Floats:
        """Mean of the weights over the points: (n_axes,)."""
        if self.shared:
            return self.weights
        if self.labels is None:
            return self.weights.mean(axis=0, dtype=np.float64)
        counts = np.bincount(self.labels, minlength=len(self.weights))
        return np.einsum("c,ca->a", counts / self.n_points, self.weights)

    def weights_of(self, rows: Indices | slice) -> Floats:
        """Return the weights of some points: (n_rows, n_axes), or (n_axes,) if they are shared."""
        if self.shared:
            return self.weights
        return self.weights[rows if self.labels is None else self.labels[rows]]

    def subset(self, rows: Indices) -> DiagonalMetric:
        """Return the metric of some of the points."""
        if self.shared or self.labels is None:
            return DiagonalMetric(self.points[rows], self.weights_of(rows))
        return DiagonalMetric(self.points[rows], self.weights, self.labels[rows])

    @overflow_is_far
    def lift_points(self, dtype: type, rows: Indices | slice = slice(None)) -> NDArray:
        """Return the points' factor of the lifted product: (n_rows, lift_width)."""
        points = self.points[rows] - self._center
        weights = self.weights_of(rows)
        moment = weights * points
        n_features = points.shape[1]
        lifted: NDArray[Any] = np.empty((len(points), self.lift_width), dtype)
        lifted[:, -1] = np.einsum("ij,ij->i", moment, points)
        np.multiply(moment, -2.0, out=lifted[:, -1 - n_features : -1], casting="same_kind")
        if self.labels is not None and self._lifts_classes:
            lifted[:, : len(self.weights)] = self.labels[rows][:, None] == np.arange(len(self.weights))
        elif not self.shared:
            lifted[:, :n_features] = weights
        return lifted

    @property
    def lift_width(self) -> int:
        """Number of columns of the lifted product."""
        n_axes = self.points.shape[1]
        if self.shared:
            return n_axes + 1
        return (len(self.weights) if self._lifts_classes else n_axes) + n_axes + 1

    @property
    def _lifts_classes(self) -> bool:
        """Whether what a query adds to the distances is lifted by class, and not by axis."""
        return self.labels is not None and not self.shared and len(self.weights) < self.points.shape[1]

    @property
    @overflow_is_far
    def lifted_size(self) -> float:
        """An upper bound of the entries of the lifted points."""
        # At least the squares of points: as queries, they are lifted without a weight.
        return max(self.points.shape[1] * self._largest.max(), 1.0) * np.square(1.0 + self._reach)

    @overflow_is_far
    def lift_queries(self, queries: Floats, dtype: type) -> tuple[NDArray, Floats]:
        """Return the queries' factor of the lifted product, and the offset of each query to add to it."""
        centered = queries - self._center
        columns = [centered, np.ones((len(centered), 1))]
        if self.shared:
            offset = (centered * centered) @ self.weights
        else:
            squares = centered * centered
            columns.insert(0, squares @ self.weights.T if self._lifts_classes else squares)
            offset = np.zeros(len(centered))
        return np.concatenate(columns, axis=1).astype(dtype), offset

    @overflow_is_far
    def rounding(self, queries: Floats, dtype: type) -> tuple[Floats, float]:
        """Return the size of each query and the relative rounding of one product, for `rounding_bound`.

        The size is X = Σ max_j(w_j) x², an upper bound of the query's squared norm under any point's metric,
        plus a margin for numbers below the smallest one of `dtype`.
        """
        kind = np.finfo(dtype)
        n_terms = 2 * queries.shape[1] + 1
        # n_terms additions and products, and the rounding of both factors of each term.
        rounding = (n_terms + 4) * float(kind.eps)
        centered = queries - self._center
        squared = centered * centered
        factors = 1.0 + self._largest.max() * np.square(1.0 + self._reach) + squared.max(axis=1)
        sizes = squared @ self._largest + n_terms * float(kind.tiny) * factors / rounding
        return sizes_with_squares(sizes, squared.max(axis=1, initial=0.0), dtype), rounding

    def changed(self, rows: Indices) -> None:
        """Update the bounds after the weights of some points were changed in place."""
        if len(rows):
            self._largest = np.maximum(self._largest, self.weights_of(rows).max(axis=0))

    def distances(self, queries: Floats, candidates: Indices) -> Floats:
        """Return the squared distances of each query to its own candidates: (n_queries, n_candidates)."""
        weights = self.weights[None] if self.shared else self.weights
        owners = NO_LABELS if self.labels is None or self.shared else self.labels
        return measure_diagonal(queries, self.points, weights, owners, candidates)


def row_parts(n_rows: int) -> Iterator[slice]:
    """Yield consecutive slices of rows."""
    return (slice(start, min(start + BLOCK, n_rows)) for start in range(0, n_rows, BLOCK))


def _contiguous(values: Floats) -> Floats:
    return np.ascontiguousarray(values, dtype=np.float32 if values.dtype == np.float32 else np.float64)


def rounding_bound(size: Floats | float, distance: Floats | float, rounding: float) -> Floats | float:
    """Return an upper bound of the error of the lifted product, for a point within squared `distance`.

    The absolute values of the product's terms add up to at most Σ w (|x| + |p|)² ≤ 2 (X + (√d + √X)²), by
    the triangle inequality for the norm of the point's own metric.
    """
    return rounding * 2.0 * (size + (np.sqrt(distance) + np.sqrt(size)) ** 2)


def sizes_with_squares(sizes: Floats, squares: Floats, dtype: type) -> Floats:
    """Return sizes of queries that are at least their largest squares, where `dtype` may not have these.

    Squares are lifted without a weight: one that is infinite would be NaN with a weight of 0.
    """
    return np.where(squares < SAFE_SHARE * float(np.finfo(dtype).max), sizes, np.maximum(sizes, squares))


def measure_diagonal(
    queries: Floats, points: Floats, weights: Floats, owners: Indices, candidates: Indices
) -> Floats:
    """Return the squared distances of each query to its own candidates: (n_queries, n_candidates).

    queries : (n_queries, n_axes); points : (n_points, n_axes); candidates : (n_queries, n_candidates)
    weights : (n_points, n_axes), or (1, n_axes) if shared
    owners : (n_points,) which of the weights are those of each point; where it is empty, its own
    """
    out = np.empty(candidates.shape)
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    _native.measure_diagonal(queries, points, weights, owners, np.ascontiguousarray(candidates), out)
    return out
