"""The units in which curves are learned."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._types import Floats
from lann.curves import FeatureCurves
from lann.metrics.levels import Levels


@dataclass(frozen=True)
class Units:
    """Curves are learned over z-scored data, so that no scaling is needed beforehand."""

    center: Floats
    scale: Floats

    @classmethod
    def of(cls, X: Floats) -> Units:
        """Mean and standard deviation of each feature.

        A feature that is constant but for rounding is measured by its own size, so that a query which is a
        little off does not drown all that varies.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            center, scale = X.mean(axis=0), X.std(axis=0)
        if not np.all(np.isfinite(scale)):
            worst = int(np.flatnonzero(~np.isfinite(scale))[0])
            raise ValueError(f"The values of feature {worst} are too large to be squared; scale them down.")
        rounding = len(X) * np.finfo(np.float64).eps * np.abs(center)
        return cls(center, np.where(scale > rounding, scale, np.maximum(np.abs(center), 1.0)))

    def enter(self, levels: Levels, n_bins: int) -> Levels:
        """The same levels over z-scored data, with curves to bend."""
        X = (levels.X - self.center) / self.scale
        if levels.curves.is_identity:
            curves = FeatureCurves.straight(X, n_bins)
        else:
            curves = levels.curves.rescaled(-self.center / self.scale, 1.0 / self.scale)
        return levels.replace(X=X, curves=curves)

    def leave(self, levels: Levels, X: Floats) -> Levels:
        return levels.replace(X=X, curves=levels.curves.rescaled(self.center, self.scale))
