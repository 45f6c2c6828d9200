"""The automatic choice of the temperature of the softmax loss."""

from __future__ import annotations

import math

import numpy as np

from lann.metrics import Levels
from lann.training._candidates import typical_distances
from lann.vote import zero_distance_guard


def choose_temperature(levels: Levels, *, n_jobs: int | None = None) -> float:
    """Return β for data of any scale: the typical votes of a query, divided by what a clear result needs.

    A class without a neighbor has exp(0) in the softmax, so with L classes a probability near 1 takes
    log(L − 1) and more.
    """
    distances = typical_distances(levels, n_jobs=n_jobs)
    votes = (distances + zero_distance_guard(distances)) ** -1.0
    n_classes = len(levels.class_log_weights)
    return float(np.median(votes.sum(axis=1))) / (math.log(max(n_classes - 1, 1)) + 3.0)
