"""The order of the stages: what all points share, then every point's own weights."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lann.metrics.levels import Levels
from lann.training.monitor import Epoch, Listener, Monitor
from lann.training.one_by_one import learn_online
from lann.training.points import learn_points
from lann.training.queries import hold_out
from lann.training.settings import Settings
from lann.training.shared import learn_shared
from lann.training.temperature import with_temperature
from lann.training.units import Units

SHARED_EPOCHS = 12
POINT_EPOCHS = {"staged": 2, "online": 20}


def planned_epochs(settings: Settings, max_epochs: int | None) -> tuple[int, int]:
    """How many epochs go to the shared levels, and how many to the points."""
    shared = SHARED_EPOCHS if settings.curves or settings.class_weights else 0
    points = POINT_EPOCHS[settings.solver] if settings.point_weights else 0
    if max_epochs is None or shared + points == 0:
        return shared, points
    to_shared = math.ceil(max_epochs * shared / (shared + points))
    if points > 0 and shared > 0 and max_epochs > 1:
        to_shared = min(to_shared, max_epochs - 1)  # each gets one
    return to_shared, max_epochs - to_shared


def train(
    start: Levels,
    settings: Settings,
    rng: np.random.Generator,
    *,
    max_epochs: int | None = None,
    validation_fraction: float | None = None,
    patience: int = 3,
    listener: Listener | None = None,
) -> tuple[Levels, Monitor, float | None]:
    """Learn the levels that are switched on, from where `start` stands.

    Returns
    -------
    levels : what was learned
    monitor : the losses on the way
    temperature : of the softmax, where that is the loss
    """
    shared_epochs, point_epochs = planned_epochs(settings, max_epochs)
    units = Units.of(start.X) if settings.curves and shared_epochs > 0 else None
    levels = start if units is None else units.enter(start, settings.n_bins)

    def in_data_units(learned: Levels) -> Levels:
        return learned if units is None else units.leave(learned, start.X)

    def report(epoch: Epoch) -> bool:
        return listener is not None and listener(
            replace(epoch, snapshot=lambda: in_data_units(epoch.snapshot()))
        )

    monitor = Monitor(shared_epochs + point_epochs, listener=report, patience=patience)
    held_out = None
    if validation_fraction is not None and monitor.n_epochs > 0:
        _, held_out = hold_out(len(start.X), validation_fraction, rng)
    settings = with_temperature(settings, levels)

    if shared_epochs > 0:
        levels = learn_shared(levels, settings, shared_epochs, rng, monitor, held_out)
    if point_epochs > 0 and not monitor.told_to_stop:
        learn = learn_points if settings.solver == "staged" else learn_online
        levels = learn(levels, settings, point_epochs, rng, monitor, held_out)
    if settings.fixed_norm:
        levels = levels.with_fixed_norm()
    return in_data_units(levels), monitor, settings.temperature if settings.loss == "softmax" else None
