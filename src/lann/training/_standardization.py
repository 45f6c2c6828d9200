"""Standardization: curves are learned on features of mean 0 and variance 1, so the data need no scaling."""

from __future__ import annotations

import numpy as np

from lann._inputs import check_not_too_large, weighted_moments
from lann._types import Floats
from lann.encoding import FeatureCurves
from lann.metrics import Levels


class Standardization:
    """The standardization of training rows, and back to the user's units.

    Parameters
    ----------
    X : (n_rows, n_features)
    row_weights : (n_rows,) or None
        How much each row counts; None is 1 for all.

    Attributes
    ----------
    center, scale : (n_features,)
        Mean and standard deviation; for constant features, the latter is their absolute value, at least 1.
    constant : (n_features,)
        Which features are constant, up to rounding.
    """

    def __init__(self, X: Floats, row_weights: Floats | None = None) -> None:
        check_not_too_large(X)
        self._X = X
        self.center, variance = weighted_moments(X, row_weights)
        deviation = np.sqrt(variance)
        size = np.abs(self.center)
        self.constant = deviation <= len(X) * np.finfo(np.float64).eps * size
        self.scale = np.where(self.constant, np.maximum(size, 1.0), deviation)

    def apply(self, levels: Levels, n_bins: int) -> Levels:
        """Return the same levels of standardized rows, with curves of positive slopes."""
        X = (levels.X - self.center) / self.scale
        if levels.curves.is_identity:
            curves = FeatureCurves.straight(X, n_bins)
        else:
            curves = levels.curves.rescaled(-self.center / self.scale, 1.0 / self.scale)
            curves = curves.with_slopes(np.where(curves.slopes > 0, curves.slopes, 1.0))
        return levels.replace(X=X, curves=curves)

    def undo(self, levels: Levels) -> Levels:
        """Return the same levels in the user's units; constant features get the weight 0."""
        curves = levels.curves.rescaled(self.center, self.scale)
        curves = curves.with_slopes(np.where(self.constant[:, None], 0.0, curves.slopes))
        return levels.replace(X=self._X, curves=curves.without_flat_steps())
