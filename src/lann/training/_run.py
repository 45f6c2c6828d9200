"""What the stages of one training have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._types import Indices
from lann.training._trainer import Monitor


@dataclass(frozen=True)
class Run:
    """How long a stage learns, from whom not, and who follows it.

    Attributes
    ----------
    n_epochs : of the stage
    rng : order of the queries, and dropout
    monitor : hears of every epoch
    held_out : rows that are not asked: their loss decides when to stop; None where nothing is to stop it
    judges : rows that judge the points' own level, and are not asked before; None where nobody does
    """

    n_epochs: int
    rng: np.random.Generator
    monitor: Monitor
    held_out: Indices | None = None
    judges: Indices | None = None
