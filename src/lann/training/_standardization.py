"""The units in which curves are learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._inputs import check_not_too_large
from lann._types import Floats
from lann.encoding import FeatureCurves
from lann.metrics import Levels


@dataclass(frozen=True)
class Units:
    """Curves are learned over z-scored data, so that no scaling is needed beforehand."""

    center: Floats
    scale: Floats
    constant: NDArray[np.bool_]

    @classmethod
    def of(cls, X: Floats) -> Units:
        """Mean and standard deviation of each feature, and whether it is constant but for rounding."""
        check_not_too_large(X)
        center, scale = X.mean(axis=0), X.std(axis=0)
        rounding = len(X) * np.finfo(np.float64).eps * np.abs(center)
        constant = scale <= rounding
        return cls(center, np.where(constant, np.maximum(np.abs(center), 1.0), scale), constant)

    def enter(self, levels: Levels, n_bins: int) -> Levels:
        """The same levels over z-scored data, with curves to bend."""
        X = (levels.X - self.center) / self.scale
        if levels.curves.is_identity:
            curves = FeatureCurves.straight(X, n_bins)
        else:
            curves = levels.curves.rescaled(-self.center / self.scale, 1.0 / self.scale)
            curves = curves.with_slopes(np.where(curves.slopes > 0, curves.slopes, 1.0))
        return levels.replace(X=X, curves=curves)

    def leave(self, levels: Levels, X: Floats) -> Levels:
        """Back to the data's units. What never varied has taught nothing, so it weighs nothing."""
        curves = levels.curves.rescaled(self.center, self.scale)
        curves = curves.with_slopes(np.where(self.constant[:, None], 0.0, curves.slopes))
        return levels.replace(X=X, curves=curves)
