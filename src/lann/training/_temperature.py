"""The choice of the softmax's temperature."""

from __future__ import annotations

import math

import numpy as np

from lann.metrics import Levels
from lann.training._candidates import usual_distances
from lann.training._settings import Settings
from lann.vote import zero_distance_guard


def with_temperature(settings: Settings, levels: Levels) -> Settings:
    """The same settings, with a temperature if the loss needs one and none is given."""
    if settings.loss != "softmax" or settings.temperature is not None:
        return settings
    return settings.replace(temperature=usual_temperature(levels, settings))


def usual_temperature(levels: Levels, settings: Settings) -> float:
    """β for data of any scale: the usual support of a point, divided by what a clear winner needs.

    Classes without a neighbor hold exp(0) each, so with L classes a share near 1 takes log(L − 1) and more.
    """
    distances = usual_distances(levels, settings.n_jobs)
    support = (distances + zero_distance_guard(distances)) ** -settings.power
    n_classes = len(levels.class_log_weights)
    return float(np.median(support.sum(axis=1))) / (math.log(max(n_classes - 1, 1)) + 3.0)
