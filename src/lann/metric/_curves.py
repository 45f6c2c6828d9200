"""Monotone feature curves: where along a feature differences matter.

A curve φ_l is piecewise linear and increasing; where it is steep, small differences count. At a threshold it
can jump: values on different sides of it differ by the jump, however close they are. All training rows share
the curves; distances are measured between curved values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.types import Floats


class FeatureCurves:
    """One increasing, piecewise linear curve per feature, which can jump at thresholds.

    Parameters
    ----------
    edges : ndarray of shape (n_features, n_bins - 1)
        Inner edges between bins, ascending, padded with inf.
    slopes : ndarray of shape (n_features, n_bins)
        Slope in each bin; the first and the last bin are unbounded.
    thresholds : ndarray of shape (n_features, n_steps) or None, default=None
        Where the curve jumps, ascending, padded with inf; None is nowhere.
    jumps : ndarray of shape (n_features, n_steps) or None, default=None
        By how much it jumps there, at least 0, and 0 for the padding; None is 0. A value on a threshold is to
        the right of the jump.

    Attributes
    ----------
    edges, slopes, thresholds, jumps : ndarray
        As given.
    widths : ndarray of shape (n_features, n_bins)
        Widths of the inner bins, 0 for unbounded ones.
    """

    def __init__(
        self, edges: Floats, slopes: Floats, thresholds: Floats | None = None, jumps: Floats | None = None
    ) -> None:
        self.edges = edges
        self.slopes = slopes
        self.thresholds = np.empty((len(edges), 0)) if thresholds is None else thresholds
        self.jumps = np.zeros_like(self.thresholds) if jumps is None else jumps
        self.widths = np.zeros_like(slopes)
        if edges.shape[1] > 1:
            with np.errstate(invalid="ignore"):
                inner = np.diff(edges, axis=1)
            self.widths[:, 1:-1] = np.where(np.isfinite(inner), inner, 0.0)

    @classmethod
    def identity(cls, n_features: int) -> FeatureCurves:
        """Return curves that leave values unchanged.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        curves : FeatureCurves
        """
        return cls(np.empty((n_features, 0)), np.ones((n_features, 1)))

    @classmethod
    def straight(cls, X: Floats, n_bins: int) -> FeatureCurves:
        """Return curves of slope 1 whose bins hold equally many values.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            NaN is left out.
        n_bins : int

        Returns
        -------
        curves : FeatureCurves
        """
        edges = np.full((X.shape[1], n_bins - 1), np.inf)
        if n_bins > 1:
            quantile = np.nanquantile if np.isnan(X).any() else np.quantile
            quantiles = quantile(X, np.arange(1, n_bins) / n_bins, axis=0)  # (n_bins - 1, n_features)
            for feature, values in enumerate(quantiles.T):
                distinct = np.unique(values)
                edges[feature, : len(distinct)] = distinct
        return cls(edges, np.ones((X.shape[1], n_bins)))

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.slopes.shape[0]

    @property
    def n_bins(self) -> int:
        """Number of bins of every feature, unused ones included."""
        return self.slopes.shape[1]

    @property
    def n_steps(self) -> int:
        """Number of thresholds of every feature, the padding included."""
        return self.thresholds.shape[1]

    @property
    def is_identity(self) -> bool:
        """Whether the curves leave values unchanged."""
        return self.n_bins == 1 and bool(np.all(self.slopes == 1.0)) and not self.jumps.any()

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which bins exist, as a feature with few values has fewer: (n_features, n_bins)."""
        n_edges = np.isfinite(self.edges).sum(axis=1)
        return np.arange(self.n_bins) <= n_edges[:, None]

    @property
    def starts(self) -> Floats:
        """Value of the curve at the origin of each bin: (n_features, n_bins)."""
        starts = np.zeros_like(self.slopes)
        starts[:, 1:] = np.cumsum((self.slopes * self.widths)[:, :-1], axis=1)
        return starts

    @property
    def heights(self) -> Floats:
        """Sum of the jumps to the left, by the number of thresholds there: (n_features, n_steps + 1)."""
        heights = np.zeros((self.n_features, self.n_steps + 1))
        heights[:, 1:] = np.cumsum(self.jumps, axis=1)
        return heights

    def locate(self, X: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Return the bin of each value and its offset from the origin of the bin.

        The origin of a bin is its left edge, that of the first bin its right edge.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        bins, offsets : ndarray of shape (n_rows, n_features)
        """
        bins = np.zeros(X.shape, np.int64)
        if self.n_bins == 1:
            return bins, X.copy()
        for feature, edges in enumerate(self.edges):
            bins[:, feature] = np.searchsorted(edges, X[:, feature], side="right")
        origin = np.take_along_axis(self.edges.T, np.maximum(bins - 1, 0), axis=0)
        return bins, X - np.where(np.isfinite(origin), origin, 0.0)

    def count_thresholds(self, X: Floats) -> NDArray[np.int64]:
        """Return how many thresholds are to the left of each value, or equal to it.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        counts : ndarray of shape (n_rows, n_features)
        """
        counts = np.zeros(X.shape, np.int64)
        for feature in np.flatnonzero(np.isfinite(self.thresholds).any(axis=1)):
            counts[:, feature] = np.searchsorted(self.thresholds[feature], X[:, feature], side="right")
        return counts

    def transform(self, X: Floats) -> Floats:
        """Return the curved values φ(X).

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        curved : ndarray of shape (n_rows, n_features)
        """
        if self.is_identity:
            return X
        out = np.empty(X.shape)
        arrays = (X, self.edges, self.slopes, self.widths, self.thresholds, self.jumps)
        _native.curve_values(*(np.ascontiguousarray(array, np.float64) for array in arrays), out)
        return out

    @property
    def mean_slopes(self) -> Floats:
        """Mean slope in each bin, with the jumps in it: (n_features, n_bins).

        An unbounded bin is taken to be as wide as the bin beside it; if that is unbounded, too, its jumps are
        left out.
        """
        if not self.jumps.any():
            return self.slopes
        features, last = np.arange(self.n_features), np.isfinite(self.edges).sum(axis=1)
        widths = self.widths.copy()
        widths[:, 0] = self.widths[:, min(1, self.n_bins - 1)]
        widths[features, last] = self.widths[features, np.maximum(last - 1, 0)]
        heights = np.zeros(self.slopes.shape)
        for feature, thresholds in enumerate(self.thresholds):
            bins = np.searchsorted(self.edges[feature], thresholds, side="right")
            np.add.at(heights[feature], np.minimum(bins, last[feature]), self.jumps[feature])
        return self.slopes + np.divide(heights, widths, out=np.zeros(heights.shape), where=widths > 0)

    def mean_slopes_at(self, X: Floats) -> Floats:
        """Return the mean slopes of the bins of given values, with the jumps in them.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        slopes : ndarray of shape (n_rows, n_features)
        """
        bins, _ = self.locate(X)
        return self.mean_slopes[np.arange(X.shape[1]), bins]

    def slopes_at(self, X: Floats) -> Floats:
        """Return the slopes of the curves at given values, φ'(X); jumps have none.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        slopes : ndarray of shape (n_rows, n_features)
        """
        bins, _ = self.locate(X)
        return self.slopes[np.arange(X.shape[1]), bins]

    def with_slopes(self, slopes: Floats, jumps: Floats | None = None) -> FeatureCurves:
        """Return curves over the same bins with other slopes, and other jumps at the same thresholds.

        Parameters
        ----------
        slopes : ndarray of shape (n_features, n_bins)
        jumps : ndarray of shape (n_features, n_steps) or None, default=None
            None is those of these curves.

        Returns
        -------
        curves : FeatureCurves
        """
        curves = FeatureCurves.__new__(FeatureCurves)
        curves.edges, curves.widths, curves.slopes = self.edges, self.widths, slopes
        curves.thresholds, curves.jumps = self.thresholds, self.jumps if jumps is None else jumps
        return curves

    def with_thresholds(self, thresholds: Floats) -> FeatureCurves:
        """Return curves with the same slopes that can jump at some thresholds, where the jumps are 0 now.

        Parameters
        ----------
        thresholds : ndarray of shape (n_features, n_steps)
            Ascending, padded with inf.

        Returns
        -------
        curves : FeatureCurves
        """
        return FeatureCurves(self.edges, self.slopes, thresholds)

    def without_flat_steps(self) -> FeatureCurves:
        """Return the same curves without the thresholds at which they do not jump.

        Returns
        -------
        curves : FeatureCurves
        """
        flat = self.jumps == 0
        order = np.argsort(flat, axis=1, kind="stable")[:, : (~flat).sum(axis=1).max(initial=0)]
        thresholds = np.take_along_axis(np.where(flat, np.inf, self.thresholds), order, axis=1)
        jumps = np.take_along_axis(self.jumps, order, axis=1)
        return FeatureCurves(self.edges, self.slopes, thresholds, jumps)

    def rescaled(self, center: Floats, scale: Floats) -> FeatureCurves:
        """Return the same curves for data in other units: φ((x − center) / scale) as a function of x.

        Parameters
        ----------
        center, scale : ndarray of shape (n_features,)

        Returns
        -------
        curves : FeatureCurves
        """
        center, scale = center[:, None], scale[:, None]
        edges, thresholds = self.edges * scale + center, self.thresholds * scale + center
        return FeatureCurves(edges, self.slopes / scale, thresholds, self.jumps)

    def slope_gradient(self, sums: Floats, moments: Floats) -> Floats:
        """Return the gradient with respect to the slopes, from sums over the values in each bin.

        φ(x) is the start of the bin, which grows with every slope to its left times the width of that bin,
        plus the bin's own slope times the offset. With g the gradient with respect to φ at each value:

        Parameters
        ----------
        sums : ndarray of shape (n_features, n_bins)
            Σ g over the values in each bin.
        moments : ndarray of shape (n_features, n_bins)
            Σ g · offset over the values in each bin.

        Returns
        -------
        gradient : ndarray of shape (n_features, n_bins)
        """
        right = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1] - sums
        return moments + self.widths * right

    def jump_gradient(self, sums: Floats) -> Floats:
        """Return the gradient with respect to the jumps: the sum of g over the values to the right of each.

        Parameters
        ----------
        sums : ndarray of shape (n_features, n_steps + 1)
            Σ g over the values with each number of thresholds to the left.

        Returns
        -------
        gradient : ndarray of shape (n_features, n_steps)
        """
        return np.cumsum(sums[:, :0:-1], axis=1)[:, ::-1]
