"""The order of the stages: what all points share, then every point's own metric."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from lann._threads import single_threaded_blas
from lann.metrics import Levels
from lann.training._extend import learn_matrices_online, learn_online
from lann.training._initial_map import start_map, wanted_axes
from lann.training._level_selection import draw_judges
from lann.training._point_matrices import learn_matrices
from lann.training._point_weights import learn_points
from lann.training._run import Run
from lann.training._sampling import asked_rows, hold_out
from lann.training._settings import Settings
from lann.training._shared_stage import learn_shared
from lann.training._standardization import Units
from lann.training._temperature import with_temperature
from lann.training._trainer import Epoch, Listener, Monitor

SHARED_EPOCHS = 12
POINT_EPOCHS = {"staged": 2, "online": 20}
# Features are dropped less where there are more points than this.
MANY_POINTS = 500
# More numbers than this in all matrices are refused: with its copies, training would take ten gigabytes.
MOST_NUMBERS = 2**29
COPIES = 5
# By solver, and whether a point's own metric is diagonal.
LEARN_OWN = {
    ("staged", True): learn_points,
    ("staged", False): learn_matrices,
    ("online", True): learn_online,
    ("online", False): learn_matrices_online,
}


@dataclass(frozen=True)
class Outcome:
    """What training leaves behind.

    Attributes
    ----------
    levels : what was learned
    monitor : the losses on the way, and the levels that did not help
    temperature : of the softmax, where that is the loss
    """

    levels: Levels
    losses: list[float]
    validation_losses: list[float]
    dropped_levels: list[str]
    temperature: float | None


def planned_epochs(settings: Settings, max_iter: int | None) -> tuple[int, int]:
    """How many epochs go to the shared levels, and how many to the points."""
    shared = SHARED_EPOCHS if settings.shared else 0
    points = POINT_EPOCHS[settings.solver] if settings.point_metrics else 0
    if max_iter is None or shared + points == 0:
        return shared, points
    to_shared = math.ceil(max_iter * shared / (shared + points))
    if points > 0 and shared > 0 and max_iter > 1:
        to_shared = min(to_shared, max_iter - 1)  # each gets one
    return to_shared, max_iter - to_shared


def n_epochs_of(settings: Settings) -> int:
    return sum(planned_epochs(settings, settings.max_iter))


def train(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Listener | None = None
) -> Outcome:
    """Learn the levels that are switched on, from where `start` stands."""
    n_points = len(start.X)
    shared_epochs, point_epochs = planned_epochs(settings, settings.max_iter)
    validation_fraction, listener = settings.validation_fraction, callback
    units = Units.of(start.X) if settings.curves and shared_epochs > 0 else None
    levels = start if units is None else units.enter(start, settings.n_bins)

    def in_data_units(learned: Levels) -> Levels:
        return learned if units is None else units.leave(learned, start.X)

    def report(epoch: Epoch) -> bool:
        return listener is not None and listener(replace(epoch, levels=lambda: in_data_units(epoch.levels())))

    monitor = Monitor(shared_epochs + point_epochs, listener=report)
    watched = None
    if validation_fraction is not None and monitor.n_epochs > 0:
        _, watched = hold_out(n_points, validation_fraction, rng)
    settings = with_temperature(settings, levels)
    settings = settings.replace(feature_dropout=settings.feature_dropout * min(1.0, MANY_POINTS / n_points))
    judges = None
    if settings.solver == "staged" and point_epochs > 0:
        judges = draw_judges(asked_rows(n_points, watched), settings, rng)
    run = Run(shared_epochs, rng, monitor, watched, judges)
    # The same bits whatever the number of BLAS' threads, and none of them in the way of ours.
    with single_threaded_blas():
        if levels.components is None and monitor.n_epochs > 0:
            levels = _with_fewer_axes(levels, wanted_axes(settings, start.X.shape[1]))
        if settings.form != "diagonal" and point_epochs > 0:
            _check_memory(levels)
        if shared_epochs > 0:
            levels = learn_shared(levels, settings, run)
        if point_epochs > 0 and not monitor.told_to_stop:
            learn_own = LEARN_OWN[settings.solver, settings.form == "diagonal"]
            levels = learn_own(levels, settings, replace(run, n_epochs=point_epochs))
    if settings.fixed_norm:
        levels = levels.with_fixed_norm()
    if settings.determinant and settings.form == "diagonal":
        levels = levels.with_fixed_determinant()
    temperature = settings.temperature if settings.loss == "softmax" else None
    return Outcome(
        in_data_units(levels), monitor.losses, monitor.held_out_losses, monitor.left_out, temperature
    )


def _with_fewer_axes(levels: Levels, n_axes: int) -> Levels:
    """The levels with a map to start from, if it is to have fewer axes than there are features."""
    n_points, n_features = levels.X.shape
    if n_axes == n_features:
        return levels
    return levels.replace(
        components=start_map(levels.curves.transform(levels.X), levels.labels, n_axes),
        class_log_weights=np.zeros((len(levels.class_log_weights), n_axes)),
        point_log_weights=np.zeros((n_points, n_axes)),
    )


def _check_memory(levels: Levels) -> None:
    n_points, n_axes = len(levels.X), levels.class_log_weights.shape[1]
    if n_points * n_axes**2 > MOST_NUMBERS:
        size = COPIES * 4 * n_points * n_axes**2 / 2**30
        raise ValueError(
            f"Matrices over {n_axes} axes for {n_points} points take some {size:.0f} GB to learn; use "
            "metric='low_rank' with a smaller rank, or fewer points."
        )
