"""The start of a training from the levels of a previous one."""

from __future__ import annotations

import numpy as np

from lann.metrics import Levels
from lann.model import RowMemory
from lann.training._inheritance import inherit
from lann.training._initial_map import MOST_SQUARE, n_axes_of
from lann.training._settings import Settings


def warm_start(start: Levels, previous: Levels, settings: Settings) -> Levels:
    """Return the rows of `start` with those levels of a previous training that are learned again.

    Rows inherit point metrics from same-class neighbors; a row of the previous training gets its own.

    Parameters
    ----------
    start : Levels
        Rows, with nothing learned.
    previous : Levels
    settings : Settings
    """
    if settings.curves:
        start = start.replace(encoding=start.encoding.with_learned(previous.encoding))
    if not np.array_equal(start.encoding.n_axes_of_features, previous.encoding.n_axes_of_features):
        return start  # the map and the weights are about other coordinates
    n_coordinates, n_axes = start.encoding.n_coordinates, previous.class_log_weights.shape[1]
    wanted = n_axes_of(settings.form, settings.n_components, n_coordinates, linear_map=settings.linear_map)
    map_allowed = settings.linear_map or wanted < n_coordinates
    # With many coordinates, a map has fewer axes by default where rows do not differ in more dimensions.
    fewer = settings.n_components is None and n_axes < wanted < n_coordinates > MOST_SQUARE
    if not (n_axes == wanted or fewer) or (previous.components is not None and not map_allowed):
        return start  # the weights of classes and points are about other axes
    start = start.replace(
        components=previous.components,
        class_log_weights=np.zeros_like(previous.class_log_weights),
        point_log_weights=np.zeros((len(start.X), n_axes)),
    )
    if settings.class_metrics:
        start = start.replace(class_log_weights=previous.class_log_weights)
    if settings.point_metrics:
        if settings.form == "diagonal":
            previous = previous.replace(point_matrices=None)
        memory = RowMemory(previous)
        inherited = inherit(memory, previous.transform(start.X), start.labels, n_jobs=settings.n_jobs)
        start = start.replace(point_log_weights=inherited.log_weights, point_matrices=inherited.matrices)
    return start
