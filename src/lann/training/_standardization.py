"""Standardization: curves are learned on features of mean 0 and variance 1, so the data need no scaling."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lann._types import Floats
from lann.encoding import Encoding, FeatureCurves, gap_moments
from lann.metrics import Levels


class Standardization:
    """The standardization of the numbers of training rows, and back to the user's units.

    Parameters
    ----------
    X : (n_rows, n_features)
    row_weights : (n_rows,) or None
        How much each row counts; None is 1 for all.
    encoding : Encoding or None
        Which features are numbers; None is all of them, without gaps.

    Attributes
    ----------
    center, scale : (n_numbers,)
        Mean and standard deviation; for constant features, the latter is their absolute value, at least 1.
    constant : (n_numbers,)
        Which features are constant, up to rounding.
    """

    def __init__(
        self, X: Floats, row_weights: Floats | None = None, *, encoding: Encoding | None = None
    ) -> None:
        encoding = Encoding.identity(X.shape[1]) if encoding is None else encoding
        self._X = X
        self._encoding = encoding
        numbers = encoding.numbers_of(X)
        self.center, variance = gap_moments(numbers, row_weights)
        deviation = np.sqrt(variance)
        size = np.abs(self.center)
        self.constant = deviation <= len(X) * np.finfo(np.float64).eps * size
        self.scale = np.where(self.constant, np.maximum(size, 1.0), deviation)

    def transform(self, X: Floats) -> Floats:
        """Return rows with standardized numbers; categories are unchanged."""
        standardized = (self._encoding.numbers_of(X) - self.center) / self.scale
        if not self._encoding.positions:
            return standardized
        rows = X.copy()
        rows[:, self._encoding.number_features] = standardized
        return rows

    def apply(self, levels: Levels, n_bins: int) -> Levels:
        """Return the same levels of standardized rows, with curves of positive slopes."""
        X, encoding = self.transform(levels.X), levels.encoding
        encoding = encoding.rescaled(-self.center / self.scale, 1.0 / self.scale)
        if levels.curves.is_identity:
            # The heights of gaps are relative to the deviations of the numbers.
            gaps = replace(encoding.gaps, heights=encoding.gaps.heights / self.scale)
            encoding = encoding.replace(
                curves=FeatureCurves.straight(encoding.numbers_of(X), n_bins), gaps=gaps
            )
        else:
            slopes = encoding.curves.slopes
            curves = encoding.curves.with_slopes(np.where(slopes > 0, slopes, 1.0))
            encoding = encoding.replace(curves=curves)
        return levels.replace(X=X, encoding=encoding)

    def undo(self, levels: Levels) -> Levels:
        """Return the same levels in the user's units; constant features get the weight 0."""
        encoding = levels.encoding.rescaled(self.center, self.scale)
        curves = encoding.curves
        curves = curves.with_slopes(np.where(self.constant[:, None], 0.0, curves.slopes))
        encoding = encoding.replace(curves=curves.without_flat_steps())
        return levels.replace(X=self._X, encoding=encoding)
