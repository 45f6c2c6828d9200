"""The training loop: run stages, record their losses, stop early, and keep the best model of each."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Protocol

from lann.metrics import Levels


class Stage(Protocol):
    """A part of the training, such as the shared levels; it owns the parameters that it trains.

    Attributes
    ----------
    name : str
    n_epochs : int
        Number of epochs, at most.
    dropped_levels : list of str
        Names of the levels that were dropped so far because they do not help.
    """

    name: str
    n_epochs: int
    dropped_levels: list[str]

    def prepare_epoch(self, epoch: int) -> bool:
        """Prepare an epoch, counted from 0; return False to end the stage before it."""

    def train_epoch(self, epoch: int) -> float:
        """Train for one epoch and return the mean loss of the queries."""

    def validation_loss(self) -> float | None:
        """Return the mean loss of the validation rows now; None if there are none."""

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""


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
        validation = "" if self.validation_loss is None else f", validation loss {self.validation_loss:.4f}"
        left = "" if self.seconds_left is None else f", {format_seconds(self.seconds_left)} left"
        return (
            f"{self.unit} {self.number}/{self.n_epochs}, {self.stage}: loss {self.loss:.4f}{validation}{left}"
        )


def format_seconds(seconds: float) -> str:
    """Return a time such as "0:42", or "1:05:00"."""
    minutes, seconds = divmod(math.ceil(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{seconds:02}" if hours else f"{minutes}:{seconds:02}"


# Called after every epoch; returns whether the training should stop.
Callback = Callable[[Epoch], bool]


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
    tolerance : float
        By how much an epoch has to lower the validation loss.
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
    tolerance: float = 1e-4
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
        best, best_loss, n_not_better = stage.levels(), math.inf, 0
        validated, self.n_best = False, 0
        n_dropped = len(stage.dropped_levels)
        for epoch in range(stage.n_epochs):
            continues = stage.prepare_epoch(epoch)
            if len(stage.dropped_levels) > n_dropped:  # what was best before is another model
                best, best_loss, n_not_better, self.n_best = stage.levels(), math.inf, 0, 0
                n_dropped = len(stage.dropped_levels)
            if not continues:
                break
            loss = stage.train_epoch(epoch)
            validation_loss = stage.validation_loss()
            if validation_loss is None:
                self.n_best = epoch + 1
            else:
                validated = True
                self.validation_losses.append(validation_loss)
                n_not_better += 1
                if validation_loss < best_loss - self.tolerance:
                    best, best_loss, n_not_better = stage.levels(), validation_loss, 0
                    self.n_best = epoch + 1
            self._on_epoch_end(stage, loss, validation_loss)
            if self.stopped or n_not_better >= self.patience:
                break
        self.dropped_levels.extend(stage.dropped_levels)
        return best if validated else stage.levels()

    def _on_epoch_end(self, stage: Stage, loss: float, validation_loss: float | None) -> None:
        self.losses.append(loss)
        if self.callback is not None:
            number = len(self.losses)
            epoch = Epoch(stage.name, number, self.n_epochs, loss, validation_loss, stage.levels)
            self.stopped = bool(self.callback(epoch))
