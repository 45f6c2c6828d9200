"""Where a large-margin map starts (principal axes, features, or a map that is given), and its margin."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._types import Floats, Indices, Labels
from lann._validation import Array, Integer, Number, OneOf, ParameterTable
from lann.baselines._class_neighbors import nearest_same_class

LARGE_MARGIN: ParameterTable = {
    "n_targets": [Integer(1)],
    "n_components": [Integer(1), OneOf(None)],
    "init": [OneOf("pca", "identity"), Array(2, "(n_components, n_features)")],
    "push": [Number(0, 1)],
    "alpha": [Number(0)],
    "max_iter": [Integer(0)],
    "tol": [Number(0)],
}


def starting_point(learner: Any, points: Floats, labels: Labels) -> tuple[Floats, Indices, float]:
    """The starting map, every point's targets there, and the margin, their mean squared distance."""
    start = start_map(points, learner.init, learner.n_components)
    mapped = points @ start.T
    targets = nearest_same_class(mapped, labels, learner.n_targets, n_jobs=learner.n_jobs)
    return start, targets, mean_distance(mapped, targets)


def start_map(points: Floats, init: Any, n_components: int | None) -> Floats:
    """The map to start from: (n_components, n_features).

    init : "pca", "identity" or the map itself
    n_components : None for as many as features, or as the given map has rows
    """
    n_features = points.shape[1]
    if not isinstance(init, str):
        given = np.array(init, dtype=np.float64)
        if given.shape != (len(given) if n_components is None else n_components, n_features):
            rows = "n_components" if n_components is None else n_components
            raise ValueError(
                f"init has the shape {given.shape}; for {n_features} features, n_components={n_components}, "
                f"it must be ({rows}, {n_features})."
            )
        return given
    wanted = n_features if n_components is None else n_components
    if wanted > n_features:
        raise ValueError(f"n_components={wanted} is more than the {n_features} features there are.")
    # All principal axes are but a turn of the features, which changes no distance.
    if init == "identity" or wanted == n_features:
        return np.eye(wanted, n_features)
    steps = points - points.mean(axis=0)
    _, axes = np.linalg.eigh(steps.T @ steps)
    return np.ascontiguousarray(axes[:, ::-1].T[:wanted])


def mean_distance(mapped: Floats, targets: Indices) -> float:
    """The mean squared distance of points from their targets; 1 where all of these are equal.

    mapped : (n_points, rank); targets : (n_points, n_targets), -1 where there are fewer
    """
    total = 0.0
    for column in targets.T:
        there = column >= 0
        total += float(np.square(mapped[there] - mapped[column[there]]).sum())
    mean = total / max(int(np.count_nonzero(targets >= 0)), 1)
    return mean if mean > 0.0 else 1.0
