"""What training is told: the choices of the estimator, and the constants behind them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

# Weights stay within e^±6, unless their norm is fixed.
LARGEST_LOG_WEIGHT = 6.0


@dataclass(frozen=True)
class Settings:
    """The choices of one fit. The defaults are the constants found to serve all data sets alike."""

    curves: bool = True
    class_weights: bool = True
    point_weights: bool = True
    n_bins: int = 16
    solver: str = "staged"
    fixed_norm: bool = False
    # The online solver may ask all points instead of its candidates.
    exhaustive: bool = False
    n_candidates: int = 50
    candidate_dropout: float = 0.7
    feature_dropout: float = 0.25
    penalty: float = 1.0
    smoothing: float = 0.06
    learning_rate: float | None = None
    loss: str = "shares"
    # None: from the scale of the data
    temperature: float | None = None
    n_jobs: int | None = None
    # The loss is sharper than the vote and looks at more neighbours: it teaches more per query.
    n_neighbors: int = 10
    power: float = 3.0
    # The share of the loss where no neighbour has the query's label.
    floor: float = 0.02

    @property
    def strength(self) -> float:
        """The constant of the loss: see `lann.vote.neighbour_loss`."""
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
