"""The extension of a model by new rows: `partial_fit`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import Levels
from lann.model import RowMemory
from lann.training._candidates import typical_distances
from lann.training._inheritance import inherit
from lann.training._online_matrices import MatrixUpdate, OnlineMatrixPoints, matrix_steps
from lann.training._online_weights import OnlinePoints, relative_weight_steps, with_weights
from lann.training._settings import Settings
from lann.vote import zero_distance_guard


class Extension(NamedTuple):
    """A model with more rows.

    Attributes
    ----------
    memory : RowMemory
        The new rows come last; the shared levels are unchanged.
    epsilon : float or None
        ε of the loss, None where nothing was trained.
    """

    memory: RowMemory
    epsilon: float | None


def extend(
    memory: RowMemory,
    X: Floats,
    labels: Labels,
    settings: Settings,
    *,
    row_weights: Floats | None = None,
    epsilon: float | None = None,
) -> Extension:
    """Add rows, which inherit the metrics of their neighbors, and train on each of them once.

    The search takes two passes over all rows for each of a few new ones. Everything else depends on the
    number of new rows and of candidates only.

    Parameters
    ----------
    memory : RowMemory
    X : (n_new, n_features)
        In the user's units.
    labels : (n_new,)
        Class indices.
    settings : Settings
        Without `point_metrics`, rows are added and nothing is trained.
    row_weights : (n_new,) or None
        How much each new row counts: its votes, and the steps that are taken for it; None is 1 for all.
    epsilon : float or None
        ε of the loss; None is estimated from the distances of a sample of all rows to their neighbors, which
        takes up to two thousand searches.
    """
    X = X.astype(memory.X_type, copy=False)
    n_old, points = memory.n_rows, memory.transform(X)
    inherited = inherit(memory, points, labels, n_jobs=settings.n_jobs)
    added = Levels(
        X,
        labels,
        memory.encoding,
        memory.class_log_weights,
        inherited.log_weights,
        memory.components,
        inherited.matrices,
        row_weights,
    )
    memory = memory.with_rows(added, points)
    if not settings.point_metrics:
        return Extension(memory, None)
    if epsilon is None:
        epsilon = zero_distance_guard(typical_distances(memory.levels, n_jobs=settings.n_jobs))
    return Extension(_train_on(memory, np.arange(n_old, memory.n_rows), settings, epsilon), epsilon)


def _train_on(memory: RowMemory, rows: Indices, settings: Settings, epsilon: float) -> RowMemory:
    """Take one bounded step for each row on the metrics of its nearest candidates."""
    n_others = memory.n_rows - 1
    candidates, _ = memory.nearest(
        memory.values_of("points", rows),
        min(settings.n_candidates, n_others),
        exclude=rows,
        n_jobs=settings.n_jobs,
    )
    # Nothing else takes part; the order of the rows stays the same.
    involved = np.unique(np.concatenate([rows, candidates.ravel()]))
    involved = involved[np.searchsorted(involved, 0) :]
    own = np.where(candidates < 0, -1, np.searchsorted(involved, candidates))
    rule = settings.loss_rule(len(memory.class_log_weights))
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, n_others))
    levels = memory.levels_of(involved).in_double()
    points = memory.values_of("points", involved).astype(np.float64, copy=False)
    targets, queries = settings.targets(levels), np.searchsorted(involved, rows)
    rate, smoothing = settings.learning_rate, settings.smoothing
    if levels.point_matrices is not None:
        matrix_points = OnlineMatrixPoints.of(levels, targets, points)
        update = MatrixUpdate.bounded(rate, smoothing)
        matrix_steps(queries, own, matrix_points, rule, epsilon, update)
        before, after = levels.point_matrices, matrix_points.matrices
        trained = levels.replace(point_matrices=after)
    else:
        before = levels.weights
        after = before.copy()
        relative_weight_steps(
            queries, own, OnlinePoints(points, targets, after), rule, epsilon, rate, smoothing
        )
        trained = with_weights(levels, after)
    changed = np.flatnonzero((before != after).reshape(len(involved), -1).any(axis=1))
    return memory.with_metrics(involved[changed], trained.subset(changed)) if len(changed) else memory
