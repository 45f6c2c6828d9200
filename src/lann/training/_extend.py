"""The extension of a model by new rows: `partial_fit`."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import Levels, join_weights
from lann.training._candidates import find_candidates, typical_distances
from lann.training._inheritance import inherit
from lann.training._online_matrices import MatrixUpdate, OnlineMatrixPoints, matrix_steps
from lann.training._online_weights import OnlinePoints, relative_weight_steps, with_weights
from lann.training._settings import Settings
from lann.vote import zero_distance_guard


def extend(
    levels: Levels, X: Floats, labels: Labels, settings: Settings, *, row_weights: Floats | None = None
) -> Levels:
    """Add rows, which inherit the metrics of their neighbors, and train on each of them once.

    Parameters
    ----------
    levels : Levels
    X : (n_new, n_features)
        In the user's units.
    labels : (n_new,)
        Class indices.
    settings : Settings
        Without `point_metrics`, rows are added and nothing is trained.
    row_weights : (n_new,) or None
        How much each new row counts: its votes, and the steps that are taken for it; None is 1 for all.

    Returns
    -------
    extended : Levels
        The new rows come last; the shared levels are unchanged.
    """
    n_old = len(levels.X)
    inherited = inherit(levels, X, labels, n_jobs=settings.n_jobs)
    extended = levels.replace(
        X=np.concatenate([levels.X, X]),
        labels=np.concatenate([levels.labels, labels]),
        point_log_weights=np.concatenate([levels.point_log_weights, inherited.log_weights]),
        row_weights=join_weights((levels.row_weights, n_old), (row_weights, len(X))),
    )
    if levels.point_matrices is not None and inherited.matrices is not None:
        matrices = np.concatenate([levels.point_matrices, inherited.matrices])
        extended = extended.replace(point_matrices=matrices)
    if not settings.point_metrics:
        return extended
    return _train_on(extended, np.arange(n_old, len(extended.X)), settings)


def _train_on(levels: Levels, rows: Indices, settings: Settings) -> Levels:
    """Take one bounded step for each row on the metrics of its nearest candidates."""
    n_jobs = settings.n_jobs
    candidates, _ = find_candidates(levels.class_metric(), rows, settings.n_candidates, n_jobs=n_jobs)
    rule = settings.loss_rule(len(levels.class_log_weights))
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, len(levels.X) - 1))
    epsilon = zero_distance_guard(typical_distances(levels, n_jobs=n_jobs))
    targets = settings.targets(levels)
    rate, smoothing = settings.learning_rate, settings.smoothing
    if levels.point_matrices is not None:
        matrix_points = OnlineMatrixPoints.of(levels, targets)
        update = MatrixUpdate.bounded(rate, smoothing)
        matrix_steps(rows, candidates, matrix_points, rule, epsilon, update)
        return levels.replace(point_matrices=matrix_points.matrices)
    points = OnlinePoints(levels.points, targets, levels.weights)
    relative_weight_steps(rows, candidates, points, rule, epsilon, rate, smoothing)
    return with_weights(levels, points.weights)
