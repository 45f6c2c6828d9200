"""What training is told: the choices of the estimator, and the constants behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from lann._types import Floats

# Weights stay within e^±6, unless their norm is fixed.
LARGEST_LOG_WEIGHT = 6.0


@dataclass(frozen=True)
class Settings:
    """The choices of one fit. The defaults are the constants found to serve all data sets alike."""

    curves: bool = True
    linear_map: bool = True
    class_metrics: bool = True
    point_metrics: bool = True
    n_bins: int = 16
    # Curves that stay straight: a weight per feature.
    straight: bool = False
    solver: str = "staged"
    # Whether the trace, or the determinant, of a point's metric is that of the identity.
    fixed_norm: bool = False
    determinant: bool = False
    # Whether levels that do not help are left out.
    drop_levels: bool = True
    # The form of a point's own metric: "diagonal", "low_rank" or "full"
    form: str = "diagonal"
    # The number of axes for "low_rank"; None: what suits the number of features
    n_components: int | None = None
    # The online solver may ask all points instead of its candidates.
    exhaustive: bool = False
    n_candidates: int = 50
    candidate_dropout: float = 0.7
    feature_dropout: float = 0.25
    alpha: float = 1.0
    smoothing: float = 0.06
    max_iter: int | None = None
    learning_rate: float | None = None
    validation_fraction: float | None = None
    loss: str = "shares"
    # None: from the scale of the data
    temperature: float | None = None
    # (n_classes,) how many votes the points of a class have, and how much its queries count; None: all alike
    class_weight: Floats | None = None
    n_jobs: int | None = None
    # The loss is sharper than the vote and looks at more neighbors: it teaches more per query.
    n_neighbors: int = 10
    power: float = 4.0
    # The share of the loss where no neighbor has the query's label.
    floor: float = 0.02

    def class_weights_of(self, n_classes: int) -> Floats:
        return np.ones(n_classes) if self.class_weight is None else self.class_weight

    @property
    def shared(self) -> bool:
        """Whether there is anything to learn that all points share."""
        return self.curves or self.linear_map or self.class_metrics

    @property
    def strength(self) -> float:
        """The constant of the loss: see `lann.vote.neighbor_loss`."""
        if self.loss == "shares":
            return self.floor
        if self.temperature is None:
            raise ValueError("The temperature of the softmax has not been chosen yet.")
        return self.temperature

    def replace(self, **changes: Any) -> Settings:
        return replace(self, **changes)


# Few points need more restraint, many need less: penalties are multiplied by this.
def restraint(n_points: int) -> float:
    return min(max(500.0 / n_points, 0.3), 6.0)
