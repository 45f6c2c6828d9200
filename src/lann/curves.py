"""Monotone feature curves: where along a feature differences matter.

A curve φ_l is piecewise linear and increasing; a steep stretch is one along which small differences count.
All points share the curves; distances are measured between curved values.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats

CHUNK = 16_384


class FeatureCurves:
    """One increasing, piecewise linear curve per feature.

    Attributes
    ----------
    edges : (n_features, n_bins - 1) inner edges between bins, ascending, padded with inf
    slopes : (n_features, n_bins) slope in each bin; the outer bins go on without end
    widths : (n_features, n_bins) of the inner bins, 0 for those without end
    """

    def __init__(self, edges: Floats, slopes: Floats) -> None:
        self.edges = edges
        self.slopes = slopes
        self.widths = np.zeros_like(slopes)
        if edges.shape[1] > 1:
            with np.errstate(invalid="ignore"):
                inner = np.diff(edges, axis=1)
            self.widths[:, 1:-1] = np.where(np.isfinite(inner), inner, 0.0)

    @classmethod
    def identity(cls, n_features: int) -> FeatureCurves:
        """Curves that change nothing, as in the published method."""
        return cls(np.empty((n_features, 0)), np.ones((n_features, 1)))

    @classmethod
    def straight(cls, X: Floats, n_bins: int) -> FeatureCurves:
        """Curves of slope 1 whose bins hold equally many of the values of X."""
        edges = np.full((X.shape[1], n_bins - 1), np.inf)
        if n_bins > 1:
            quantiles = np.quantile(X, np.arange(1, n_bins) / n_bins, axis=0)  # (n_bins - 1, n_features)
            for feature, values in enumerate(quantiles.T):
                distinct = np.unique(values)
                edges[feature, : len(distinct)] = distinct
        return cls(edges, np.ones((X.shape[1], n_bins)))

    @property
    def n_features(self) -> int:
        return self.slopes.shape[0]

    @property
    def n_bins(self) -> int:
        return self.slopes.shape[1]

    @property
    def is_identity(self) -> bool:
        return self.n_bins == 1 and bool(np.all(self.slopes == 1.0))

    @property
    def used(self) -> NDArray[np.bool_]:
        """Which bins exist, as a feature of few values has fewer: (n_features, n_bins)."""
        n_edges = np.isfinite(self.edges).sum(axis=1)
        return np.arange(self.n_bins) <= n_edges[:, None]

    @property
    def starts(self) -> Floats:
        """The curve's value at the point each bin is measured from: (n_features, n_bins)."""
        starts = np.zeros_like(self.slopes)
        starts[:, 1:] = np.cumsum((self.slopes * self.widths)[:, :-1], axis=1)
        return starts

    def locate(self, X: Floats) -> tuple[NDArray[np.int64], Floats]:
        """Each value's bin and its distance from where that bin is measured: twice (n_rows, n_features).

        A bin is measured from its left edge, the first one from its right.
        """
        bins = np.zeros(X.shape, np.int64)
        if self.n_bins == 1:
            return bins, X.copy()
        for feature, edges in enumerate(self.edges):
            bins[:, feature] = np.searchsorted(edges, X[:, feature], side="right")
        origin = np.take_along_axis(self.edges.T, np.maximum(bins - 1, 0), axis=0)
        return bins, X - np.where(np.isfinite(origin), origin, 0.0)

    def transform(self, X: Floats) -> Floats:
        """Curved values φ(X): (n_rows, n_features)."""
        if self.is_identity:
            return X
        curved = np.empty(X.shape)
        features, starts = np.arange(X.shape[1]), self.starts
        # In chunks of rows: the bins and offsets of a million rows would fill the memory.
        for first in range(0, len(X), CHUNK):
            part = slice(first, first + CHUNK)
            bins, offsets = self.locate(X[part])
            curved[part] = starts[features, bins] + self.slopes[features, bins] * offsets
        return curved

    def slopes_at(self, X: Floats) -> Floats:
        """How steep each curve is at each value, φ'(X): (n_rows, n_features)."""
        bins, _ = self.locate(X)
        return self.slopes[np.arange(X.shape[1]), bins]

    def bent(self, slopes: Floats) -> FeatureCurves:
        """Curves over the same bins with other slopes."""
        curves = FeatureCurves.__new__(FeatureCurves)
        curves.edges, curves.widths, curves.slopes = self.edges, self.widths, slopes
        return curves

    def rescaled(self, center: Floats, scale: Floats) -> FeatureCurves:
        """The same curves for data in other units: φ((x − center) / scale) as a function of x."""
        return FeatureCurves(self.edges * scale[:, None] + center[:, None], self.slopes / scale[:, None])

    def slope_gradient(self, sums: Floats, moments: Floats) -> Floats:
        """The gradient with respect to the slopes, from sums over values in each bin.

        φ(x) is the bin's start, which grows with every slope to its left times that bin's width, plus the
        own slope times the offset. So with g the gradient with respect to φ at each value:
        sums = Σ g and moments = Σ g · offset, over the values in each bin: (n_features, n_bins).
        """
        right = np.cumsum(sums[:, ::-1], axis=1)[:, ::-1] - sums
        return moments + self.widths * right
