"""The staged solver: train the levels that all rows share, then the metric of each row."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Protocol

import numpy as np

from lann._support.threads import single_threaded_blas
from lann._support.types import Indices
from lann.metric import Levels
from lann.search import CellIndex
from lann.training._candidates import draw_selection_rows, draw_validation_rows
from lann.training._initial import (
    Standardization,
    check_matrix_memory,
    find_thresholds,
    n_axes_of,
    with_initial_map,
    with_initial_slopes,
)
from lann.training._loss import Settings
from lann.training._point_stage import PointStage
from lann.training._shared_stage import SharedStage


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


SHARED_EPOCHS, POINT_EPOCHS = 12, 2


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training.

    Attributes
    ----------
    levels : Levels
    losses : list of float
        Mean training loss of every epoch.
    validation_losses : list of float
        Mean loss of the validation rows after every epoch, with early stopping.
    dropped_levels : list of str
        Names of the levels that were dropped because they do not help.
    index : CellIndex or None
        The cells of the rows under the class metric of `levels`, if training has determined them.
    n_point_epochs : int
        Number of epochs after which the point metrics were best; 0 where none are learned.
    stopped : bool
        Whether the callback has stopped the training.
    """

    levels: Levels
    losses: list[float]
    validation_losses: list[float]
    dropped_levels: list[str]
    index: CellIndex | None
    n_point_epochs: int = 0
    stopped: bool = False


def plan_epochs(settings: Settings) -> tuple[int, int]:
    """Return the number of epochs for the shared levels, and for the point metrics."""
    shared = SHARED_EPOCHS if settings.shared_levels else 0
    points = POINT_EPOCHS if settings.point_metrics else 0
    n_epochs = settings.max_iter
    if n_epochs is None or shared + points == 0:
        return shared, points
    for_shared = math.ceil(n_epochs * shared / (shared + points))
    if points > 0 and shared > 0 and n_epochs > 1:
        for_shared = min(for_shared, n_epochs - 1)  # at least one for each
    return for_shared, n_epochs - for_shared


def train_distinct(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train rows of which none is a copy of another, in stages: see `train`."""
    start = start.in_double()
    shared_epochs, point_epochs = plan_epochs(settings)
    n_rows = len(start.X)
    fraction = settings.validation_fraction if shared_epochs + point_epochs > 0 else None
    validation_rows = draw_validation_rows(n_rows, fraction, rng)
    selection_rows = validation_rows[:0]
    other_rows = np.setdiff1d(np.arange(n_rows), validation_rows)
    if settings.drop_levels and point_epochs > 0:
        selection_rows = draw_selection_rows(other_rows, rng)
        other_rows = np.setdiff1d(other_rows, selection_rows)
    levels, restore = _standardize(start, settings, shared_epochs, other_rows, rng)
    trainer = Trainer(shared_epochs + point_epochs, with_levels(callback, restore))
    settings = settings.for_rows(n_rows)
    index, n_point_epochs = None, 0
    # The same bits for any number of BLAS threads, and none of them competes with ours.
    with single_threaded_blas():
        if trainer.n_epochs > 0:
            # Where few axes replace many features, they start when the features are on their curves.
            at_once = settings.linear_map and not settings.curves
            n_coordinates = levels.encoding.n_coordinates
            n_axes = n_axes_of(settings.form, settings.n_components, n_coordinates, linear_map=at_once)
            levels = with_initial_map(levels, n_axes)
        if settings.form != "diagonal" and point_epochs > 0:
            check_matrix_memory(levels)
        if shared_epochs > 0:
            levels = trainer.run(
                SharedStage(levels, settings, shared_epochs, validation_rows, selection_rows, rng)
            )
        if point_epochs > 0 and not trainer.stopped:
            stage = PointStage(levels, settings, point_epochs, validation_rows, selection_rows, rng)
            levels, index, n_point_epochs = trainer.run(stage), stage.index, trainer.n_best
    levels = restore(levels)
    return TrainingResult(
        levels,
        trainer.losses,
        trainer.validation_losses,
        trainer.dropped_levels,
        index,
        n_point_epochs=n_point_epochs,
        stopped=trainer.stopped,
    )


def _standardize(
    start: Levels, settings: Settings, shared_epochs: int, rows: Indices, rng: np.random.Generator
) -> tuple[Levels, Callable[[Levels], Levels]]:
    """Return the levels of standardized rows, if curves are learned, and the way back to the user's units.

    New curves can jump at thresholds that are found in the given rows.
    """
    if not settings.curves or shared_epochs == 0:
        return start, lambda levels: levels
    standardization = Standardization(start.X, start.row_weights, encoding=start.encoding)
    levels = standardization.apply(start, settings.n_bins)
    if start.curves.is_identity:
        # A generator of its own: the rest of the training draws the same numbers with thresholds as without.
        own_rng = rng.spawn(1)[0]
        thresholds = find_thresholds(levels, rows, settings, own_rng)
        levels = levels.with_curves(levels.curves.with_thresholds(thresholds))
        levels = with_initial_slopes(levels, rows)
    return levels, standardization.undo


def with_levels(callback: Callback | None, restore: Callable[[Levels], Levels]) -> Callback | None:
    """Return a callback whose epochs give the levels as `restore` returns them."""
    if callback is None:
        return None

    def on_epoch_end(epoch: Epoch) -> bool:
        return callback(replace(epoch, levels=lambda: restore(epoch.levels())))

    return on_epoch_end
