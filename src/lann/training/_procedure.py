"""How a training proceeds: epoch by epoch through stages, with early stopping and callbacks."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import timedelta
from typing import Any

import numpy as np

from lann._support.types import Floats, Indices
from lann.metric import Levels
from lann.training._loss import Batch, Settings

BATCHES_PER_EPOCH = 50
# By how much an epoch has to lower the validation loss.
TOLERANCE = 1e-4


class Stage:
    """A part of the training, such as the shared levels, in batches at a rate that falls to 0.

    Parameters
    ----------
    levels : Levels
        Initial values.
    settings : Settings
    n_epochs : int
        Number of epochs, at most.
    validation_rows : (n,)
        Rows for early stopping or for the choice of the vote, which are no queries.
    rng : Generator

    Attributes
    ----------
    name : str
    parameters : SharedParameters, PointWeights or PointMatrices
        What is trained.
    dropped_levels : list of str
        Names of the levels that were dropped so far because they do not help.
    """

    name: str
    parameters: Any

    def __init__(
        self,
        levels: Levels,
        settings: Settings,
        n_epochs: int,
        validation_rows: Indices,
        rng: np.random.Generator,
    ) -> None:
        self.n_epochs = n_epochs
        self.dropped_levels: list[str] = []
        self._start, self._settings, self._rng = levels, settings, rng
        self._validation_rows = validation_rows

    def prepare_epoch(self, epoch: int) -> bool:
        """Prepare an epoch, counted from 0; return False to end the stage before it."""
        raise NotImplementedError

    def train_epoch(self, epoch: int) -> float:
        """Train for one epoch and return the mean loss of the queries."""
        total = 0.0
        for number in range(epoch * BATCHES_PER_EPOCH, (epoch + 1) * BATCHES_PER_EPOCH):
            loss, gradient = self.parameters.loss(self._draw_batch(number))
            self._step(gradient, 1.0 - number / (self.n_epochs * BATCHES_PER_EPOCH))
            total += loss
        return total / BATCHES_PER_EPOCH

    def validation_loss(self) -> float | None:
        """Return the mean loss of the validation rows now, without dropout; None without early stopping."""
        if self._settings.validation_fraction is None:
            return None
        return self.parameters.loss(self._batch_of(self._validation_rows))[0]

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        raise NotImplementedError

    def _draw_batch(self, number: int) -> Batch:
        """Return one of the batches of all epochs."""
        raise NotImplementedError

    def _batch_of(self, rows: Indices) -> Batch:
        """Return some rows with their candidates, with nothing dropped."""
        raise NotImplementedError

    def _step(self, gradient: Any, remaining: float) -> None:
        """Take one step at a share of the initial rate."""
        raise NotImplementedError

    def _draw_axis_mask(self, n_axes: int) -> Floats:
        """Return 1 for each axis, or 0 where it is dropped: (n_axes,).

        Axes that are the coordinates of one feature are dropped together.
        """
        widths = self._start.encoding.n_axes_of_features
        by_feature = widths.sum() == n_axes
        drawn = self._rng.random(len(widths) if by_feature else n_axes)
        mask = np.where(drawn < self._settings.feature_dropout, 0.0, 1.0)
        return np.repeat(mask, widths) if by_feature else mask


@dataclass(frozen=True)
class Epoch:
    """The state of the training after an epoch.

    Attributes
    ----------
    stage : str
        Name of the stage.
    number : int
        Number of the epoch over all stages, from 1.
    n_epochs : int
        Number of epochs of all stages, at most.
    loss : float
        Mean training loss of the epoch.
    validation_loss : float or None
        Mean loss of the validation rows after the epoch, with early stopping.
    levels : callable
        Returns the levels as they are now.
    unit : {"epoch", "tile"}
        What is counted: with many rows, the epochs on a sample are followed by the tiles of all rows.
    seconds_left : float or None
        Time until the end of the training, estimated from that of the tiles so far.
    """

    stage: str
    number: int
    n_epochs: int
    loss: float
    validation_loss: float | None
    levels: Callable[[], Levels]
    unit: str = "epoch"
    seconds_left: float | None = None

    def __str__(self) -> str:
        text = f"{self.unit} {self.number}/{self.n_epochs}, {self.stage}: loss {self.loss:.4f}"
        if self.validation_loss is not None:
            text += f", validation loss {self.validation_loss:.4f}"
        if self.seconds_left is not None:
            text += f", {timedelta(seconds=math.ceil(self.seconds_left))} left"
        return text


# Called after every epoch; returns whether the training should stop.
Callback = Callable[[Epoch], bool]


def with_levels(callback: Callback | None, restore: Callable[[Levels], Levels]) -> Callback | None:
    """Return a callback whose epochs give the levels as `restore` returns them."""
    if callback is None:
        return None
    return lambda epoch: callback(replace(epoch, levels=lambda: restore(epoch.levels())))


@dataclass
class Trainer:
    """Runs the stages of a training one after another.

    Attributes
    ----------
    n_epochs : int
        Number of epochs of all stages, at most.
    callback : callable or None
        Called after every epoch; training stops if it returns True.
    patience : int
        A stage with validation rows ends when this many epochs have not lowered their loss.
    losses, validation_losses : list of float
        Of every epoch so far.
    dropped_levels : list of str
        Names of the levels that were dropped.
    stopped : bool
        Whether the callback has stopped the training.
    n_best : int
        Number of epochs of the last stage up to the levels that it has returned.
    """

    n_epochs: int
    callback: Callback | None = None
    patience: int = 3
    losses: list[float] = field(default_factory=list)
    validation_losses: list[float] = field(default_factory=list)
    dropped_levels: list[str] = field(default_factory=list)
    stopped: bool = False
    n_best: int = 0

    def run(self, stage: Stage) -> Levels:
        """Run a stage to its end and return its best levels.

        These are the levels with the lowest validation loss, or the last ones where there are no validation
        rows.
        """
        best: Levels | None = None
        best_loss, self.n_best = math.inf, 0
        for epoch in range(stage.n_epochs):
            n_dropped = len(stage.dropped_levels)
            continues = stage.prepare_epoch(epoch)
            if len(stage.dropped_levels) > n_dropped:  # what was best before is another model
                best, best_loss, self.n_best = None, math.inf, 0
            if not continues:
                break
            self.losses.append(stage.train_epoch(epoch))
            validation_loss = stage.validation_loss()
            if validation_loss is not None:
                self.validation_losses.append(validation_loss)
            if validation_loss is None or validation_loss < best_loss - TOLERANCE:
                self.n_best = epoch + 1
                if validation_loss is not None:
                    best, best_loss = stage.levels(), validation_loss
            if self.callback is not None:
                number, loss = len(self.losses), self.losses[-1]
                state = Epoch(stage.name, number, self.n_epochs, loss, validation_loss, stage.levels)
                self.stopped = bool(self.callback(state))
            if self.stopped or epoch + 1 - self.n_best >= self.patience:
                break
        self.dropped_levels.extend(stage.dropped_levels)
        return best or stage.levels()
