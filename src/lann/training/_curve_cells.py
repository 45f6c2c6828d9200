"""Rows in the cells of feature curves: fast values on curves whose slopes and jumps change."""

from __future__ import annotations

import math

import numpy as np

from lann._types import Floats, Indices
from lann.encoding import FeatureCurves
from lann.training._curve_kernels import add_by_cell, curve_values


class CurveCells:
    """The cells in which rows are: ranges of a feature without an edge or a threshold of its curve inside.

    Within a cell a curve is linear, so that a jump costs no more time than a slope.

    Parameters
    ----------
    curves : FeatureCurves
        Their edges and thresholds; slopes and jumps are not used.
    X : (n_rows, n_features)
    """

    def __init__(self, curves: FeatureCurves, X: Floats) -> None:
        limits = np.hstack([curves.edges, curves.thresholds])
        is_edge = np.arange(limits.shape[1]) < curves.edges.shape[1]
        ordered = is_edge[np.argsort(limits, axis=1, kind="stable")]
        shape = (curves.n_features, limits.shape[1] + 1)
        features = np.arange(shape[0])[:, None]
        # The bin of each cell, and the number of thresholds to its left: flat indices in tables by feature.
        self._bins, self._counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        np.cumsum(ordered, axis=1, out=self._bins[:, 1:])
        np.cumsum(~ordered, axis=1, out=self._counts[:, 1:])
        self._bins += curves.n_bins * features
        self._counts += (curves.n_steps + 1) * features
        bins, self._offsets = curves.locate(X)
        cells = bins + curves.count_thresholds(X)
        self._cells = (features.T * shape[1] + cells).astype(np.uint32)

    def values(self, curves: FeatureCurves, used: Indices) -> Floats:
        """Return some of the rows on the curves: (n_used, n_features)."""
        starts = np.take(curves.starts, self._bins) + np.take(curves.heights, self._counts)
        return curve_values(self._cells, self._offsets, used, starts, np.take(curves.slopes, self._bins))

    def gradients(self, curves: FeatureCurves, used: Indices, by_value: Floats) -> tuple[Floats, Floats]:
        """Return the gradients with respect to the slopes and the jumps of the curves.

        Parameters
        ----------
        curves : FeatureCurves
        used : (n_used,)
            Rows, distinct.
        by_value : (n_used, n_features)
            Gradient with respect to their values on the curves.

        Returns
        -------
        by_slope : (n_features, n_bins)
        by_jump : (n_features, n_steps)
        """
        sums, moments = np.zeros(self._bins.shape), np.zeros(self._bins.shape)
        add_by_cell(self._cells, self._offsets, used, by_value, sums, moments)
        by_bin = (_sum_by(self._bins, part, curves.slopes.shape) for part in (sums, moments))
        by_count = _sum_by(self._counts, sums, (curves.n_features, curves.n_steps + 1))
        return curves.slope_gradient(*by_bin), curves.jump_gradient(by_count)


def _sum_by(positions: Indices, values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return a table of this shape with the sums of the values at the same flat position."""
    sums = np.bincount(positions.ravel(), values.ravel(), math.prod(shape))
    return sums.astype(np.float64, copy=False).reshape(shape)
