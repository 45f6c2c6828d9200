"""The staged training of any number of rows, with copies merged."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lann.metrics import Levels, find_copies
from lann.training._many_rows import has_many_rows, train_many
from lann.training._procedure import TrainingResult, train_distinct, with_levels
from lann.training._settings import Settings
from lann.training._trainer import Callback


def train(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train the levels that are switched on, in stages; many rows in tiles.

    Rows that are copies of each other are trained as one row, with the sum of their weights: a row of weight
    2 is the same as two rows.

    Parameters
    ----------
    start : Levels
        Rows in the user's units, and initial values of their levels.
    settings : Settings
    rng : Generator
        Determines the order of the rows, and dropout.
    callback : callable or None
        Called with an `Epoch` after every epoch, and after every tile; training stops if it returns True.

    Raises
    ------
    ValueError
        If the matrices are too large for the memory.
    """
    copies = find_copies(start.X, start.labels, start.row_weights)
    if copies is None:
        return _train_distinct(start, settings, rng, callback)

    def expand(levels: Levels) -> Levels:
        return copies.expand(levels, start)

    result = _train_distinct(copies.merge(start), settings, rng, with_levels(callback, expand))
    index = result.index
    if index is not None:
        index = replace(index, cells=index.cells[copies.group], n_seen=len(start.X))
    return replace(result, levels=expand(result.levels), index=index)


def _train_distinct(
    start: Levels, settings: Settings, rng: np.random.Generator, callback: Callback | None
) -> TrainingResult:
    """Train rows of which none is a copy of another: see `train`."""
    train_rows = train_many if has_many_rows(len(start.X), settings) else train_distinct
    return train_rows(start, settings, rng, callback=callback)
