"""New rows for a model (`partial_fit`), and the start from a previous fit (`warm_start`)."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.types import Floats, Indices, Labels
from lann.metric import Levels
from lann.model import RowMemory
from lann.training._candidates import typical_distances
from lann.training._initial import MOST_SQUARE, n_axes_of
from lann.training._loss import Settings
from lann.training._online import CONSTRAINTS, with_weights
from lann.vote import zero_distance_guard

# Number of same-class neighbors from which a new row inherits.
N_NEIGHBORS = 5
# A step changes a log distance by little more than 0.5: 1/d explodes for near duplicates.
LARGEST_STEP = 0.25


def inherit(
    memory: RowMemory, points: Floats, labels: Labels, *, n_jobs: int | None = None
) -> tuple[Floats, NDArray | None]:
    """Return log weights and matrices, if there are any, for new rows; one that is there inherits its own.

    Parameters
    ----------
    memory : RowMemory
        Rows from which is inherited, and their metrics.
    points : (n_new, n_axes)
        The new rows, on the axes.
    labels : (n_new,)
    """
    # The same-class neighbors of each row, and their shares in the mean: all 0 for the first rows of a class.
    shape = (len(points), N_NEIGHBORS)
    near, shares = np.zeros(shape, np.int64), np.zeros(shape)
    for label in np.unique(labels):
        new, k = np.flatnonzero(labels == label), min(N_NEIGHBORS, int(memory.class_counts[label]))
        if k > 0:
            found, distances = memory.nearest(points[new], k, label=int(label), n_jobs=n_jobs)
            closeness = 1.0 / (distances + 1e-9 * zero_distance_guard(distances))
            near[new, :k] = found
            shares[new, :k] = closeness / closeness.sum(axis=1, keepdims=True)
    rows, position = np.unique(near, return_inverse=True)
    levels, position = memory.levels_of(rows), position.reshape(near.shape)
    log_weights = np.einsum("qk,qkf->qf", shares, levels.point_log_weights[position])
    if levels.point_matrices is None:
        return log_weights, None
    return log_weights, mean_matrices(levels.point_matrices, position, shares)


def mean_matrices(matrices: NDArray, near: Indices, shares: Floats) -> NDArray:
    """Return means of matrices, and the identity where all shares are 0: (n_new, n_axes, rank).

    Parameters
    ----------
    matrices : (n_points, n_axes, rank)
    near, shares : (n_new, k)
        The matrices in each mean, and their shares.
    """
    means = np.zeros((len(near), *matrices.shape[1:]), matrices.dtype)
    for slot in range(near.shape[1]):
        means += shares[:, slot, None, None].astype(matrices.dtype) * matrices[near[:, slot]]
    means[~shares.any(axis=1)] = np.eye(*matrices.shape[1:])
    return means


def extend(
    memory: RowMemory,
    X: Floats,
    labels: Labels,
    settings: Settings,
    *,
    row_weights: Floats | None = None,
    epsilon: float | None = None,
) -> tuple[RowMemory, float | None]:
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

    Returns
    -------
    memory : RowMemory
        The new rows come last; the shared levels are unchanged.
    epsilon : float or None
        ε of the loss, None where nothing was trained.
    """
    X = X.astype(memory.shared.X.dtype, copy=False)
    n_old, points = memory.n_rows, memory.shared.transform(X)
    log_weights, matrices = inherit(memory, points, labels, n_jobs=settings.n_jobs)
    metrics = {"point_log_weights": log_weights, "point_matrices": matrices}
    added = memory.shared.replace(X=X, labels=labels, row_weights=row_weights, **metrics)
    memory = memory.with_rows(added, points)
    if not settings.point_metrics:
        return memory, None
    if epsilon is None:
        epsilon = zero_distance_guard(typical_distances(memory.levels, n_jobs=settings.n_jobs))
    return _train_on(memory, np.arange(n_old, memory.n_rows), settings, epsilon), epsilon


def _train_on(memory: RowMemory, rows: Indices, settings: Settings, epsilon: float) -> RowMemory:
    """Take one bounded step for each row on the metrics of its nearest candidates."""
    n_others = memory.n_rows - 1
    n_candidates, queries = min(settings.n_candidates, n_others), memory.values("points", rows)
    candidates, _ = memory.nearest(queries, n_candidates, exclude=rows, n_jobs=settings.n_jobs)
    # Nothing else takes part; the order of the rows stays the same.
    involved = np.unique(np.concatenate([rows, candidates.ravel()]))
    involved = involved[np.searchsorted(involved, 0) :]
    own = np.where(candidates < 0, -1, np.searchsorted(involved, candidates))
    rule = settings.loss_rule(memory.shared)
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, n_others))
    levels = memory.levels_of(involved).in_double()
    points = memory.values("points", involved).astype(np.float64, copy=False)
    targets, queries = settings.targets(levels), np.searchsorted(involved, rows)
    rate, smoothing = settings.learning_rate, settings.smoothing
    if levels.point_matrices is not None:
        before, after = levels.point_matrices, levels.point_matrices.copy()
        _native.matrix_steps(
            queries, own, points, targets, np.sqrt(levels.weights), after, rule, epsilon, rate, LARGEST_STEP,
            CONSTRAINTS.index("bounded"), smoothing,
        )  # fmt: skip
        trained = levels.replace(point_matrices=after)
    else:
        before, after = levels.weights, levels.weights.copy()
        _native.relative_weight_steps(queries, own, points, targets, after, rule, epsilon, rate, smoothing)
        trained = with_weights(levels, after)
    changed = np.flatnonzero((before != after).reshape(len(involved), -1).any(axis=1))
    return memory.with_metrics(involved[changed], trained.subset(changed)) if len(changed) else memory


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
        points = previous.transform(start.X)
        log_weights, matrices = inherit(RowMemory(previous), points, start.labels, n_jobs=settings.n_jobs)
        start = start.replace(point_log_weights=log_weights, point_matrices=matrices)
    return start
