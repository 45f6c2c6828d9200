"""Training one query at a time: the published solver, and the extension of a model by new rows.

A step on a matrix, Ω − rate · ∂loss/∂Ω with ∂d/∂Ω = 2 u uᵀΩ, is (I − c uuᵀ) Ω with c = 2 · rate · ∂loss/∂d.
It multiplies the determinant by 1 − c ‖u‖², which can be undone by a factor.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.metric import Levels, project, squared_norm
from lann.model import RowMemory
from lann.search import insert
from lann.training._candidates import typical_distances
from lann.training._initial import (
    MOST_SQUARE,
    check_matrix_memory,
    initial_matrices,
    n_axes_of,
    with_initial_map,
)
from lann.training._loss import LARGEST_LOG_WEIGHT, LossRule, OnlineSettings, Settings, Targets
from lann.training._online_weights import (
    OnlinePoints,
    OnlineWeights,
    clear,
    new_nearest,
    query_loss,
    relative_weight_steps,
    with_weights,
)
from lann.training._point_matrices import weighted_step
from lann.training._procedure import Callback, Epoch
from lann.vote import HUGE, zero_distance_guard

# A bounded step changes a log distance by little more than 0.5: 1/d explodes for near duplicates.
LARGEST_STEP = 0.25
# Nearer to 1, the determinant would vanish.
LARGEST_DETERMINANT_STEP = 0.9


class OnlineMatrixPoints(NamedTuple):
    """Points with matrices that are trained online.

    Attributes
    ----------
    points : (n_points, n_axes)
    targets : Targets
    roots : (n_points, n_axes)
        √w, the roots of the weights.
    matrices : (n_points, n_axes, rank)
        Ω, changed in place.
    """

    points: Floats
    targets: Targets
    roots: Floats
    matrices: NDArray

    @classmethod
    def of(cls, levels: Levels, targets: Targets, points: Floats | None = None) -> OnlineMatrixPoints:
        """Return the points of some levels, on the axes if they are given, with a copy of their matrices."""
        points = levels.points if points is None else points
        return cls(points, targets, np.sqrt(levels.weights), initial_matrices(levels))


class MatrixUpdate(NamedTuple):
    """How matrices take a step, and what is restored afterwards.

    Attributes
    ----------
    rate : float
        Step size.
    largest_step : float
        Bound of |c| ‖u‖².
    fixed_norm, fixed_determinant : bool
        Whether the norm, or the determinant, stays what it is.
    smoothing : float
        Share of a matrix that is replaced by the mean over the same-class neighbors of a query.
    """

    rate: float
    largest_step: float
    fixed_norm: bool
    fixed_determinant: bool
    smoothing: float

    @classmethod
    def bounded(cls, rate: float, smoothing: float) -> MatrixUpdate:
        """Return bounded steps, without a constraint other than the bounds of all matrices."""
        return cls(rate, LARGEST_STEP, False, False, smoothing)


class OnlineMatrices:
    """Point matrices that are trained by the published steps, with neighbors among all points.

    Parameters
    ----------
    levels : Levels
        Initial values.
    rule : LossRule
    epsilon : float
        ε, which is added to every squared distance.
    constraint : {"norm", "determinant", "bounded"}
        Restored after every step.
    """

    name = "point matrices"

    def __init__(self, levels: Levels, rule: LossRule, epsilon: float, constraint: str) -> None:
        self._start = levels
        self._points = OnlineMatrixPoints.of(levels, Targets.equal(levels.labels))
        self._rule, self._epsilon = rule, epsilon
        determinant = constraint == "determinant"
        largest_step = LARGEST_DETERMINANT_STEP if determinant else np.inf
        self._update = MatrixUpdate(0.0, largest_step, constraint == "norm", determinant, 0.0)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        return self._start.replace(point_matrices=self._points.matrices.copy())

    def train_pass(self, rows: Indices, rate: float) -> float:
        """Take one step for each row, in order, and return the mean loss."""
        everyone = np.empty((len(rows), 0), np.int64)
        update = self._update._replace(rate=rate)
        total = matrix_steps(rows, everyone, self._points, self._rule, self._epsilon, update)
        return total / len(rows)


@njit(nogil=True, cache=True)
def matrix_steps(rows, candidates, points, rule, epsilon, update):
    """Take one step for each row, in order, and return the total loss.

    rows : (n_rows,); points : OnlineMatrixPoints; rule : LossRule; update : MatrixUpdate
    candidates : (n_rows, n_candidates), -1 for none; all points where there are no columns
    """
    coordinates, targets, roots, matrices = points
    n_axes, rank = matrices.shape[1:]
    ones, step, projected = np.ones(n_axes), np.empty(n_axes), np.empty(rank)
    k = rule.n_neighbors
    nearest = new_nearest(k)
    near, distances = nearest.indices, nearest.distances
    exhaustive = candidates.shape[1] == 0
    total = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        clear(nearest)
        for c in range(coordinates.shape[0] if exhaustive else candidates.shape[1]):
            j = c if exhaustive else candidates[r, c]
            if j >= 0 and j != i:
                weighted_step(coordinates[j], coordinates[i], roots[j], ones, step)
                project(step, matrices[j], projected)
                insert(distances, near, squared_norm(projected), j)
        loss, n_near = query_loss(nearest, targets, i, epsilon, rule)
        total += loss
        for slot in range(n_near):
            j = near[slot]
            weighted_step(coordinates[j], coordinates[i], roots[j], ones, step)
            _take_step(matrices[j], step, projected, 2.0 * update.rate * nearest.slopes[slot], update)
        if update.smoothing > 0.0:
            _mix_same_class(nearest, n_near, targets.labels[i], matrices, update.smoothing)
        for slot in range(n_near):
            _restore_bounds(matrices[near[slot]], roots[near[slot]], update.fixed_norm)
    return total


@njit(nogil=True, cache=True)
def _take_step(own, step, projected, c, update):
    """Replace Ω by (I − c uuᵀ) Ω, if that is finite and not 0.

    own : (n_axes, rank) Ω; step : (n_axes,) u; projected : (rank,) buffer; update : MatrixUpdate
    """
    n_axes, rank = own.shape
    project(step, own, projected)
    length = squared_norm(step)
    if abs(c) * length > update.largest_step:
        c = np.sign(c) * update.largest_step / length
    norm = squared_norm(projected)
    # ‖Ω'‖² = ‖Ω‖² − 2c ‖Ωᵀu‖² + c² ‖u‖² ‖Ωᵀu‖²
    after = squared_norm(own.ravel()) - 2.0 * c * norm + (c * length) * (c * norm)
    if not (0.0 < after < HUGE):
        return
    factor = (1.0 - c * length) ** (-1.0 / n_axes) if update.fixed_determinant else 1.0
    for a in range(n_axes):
        for r in range(rank):
            own[a, r] = factor * (own[a, r] - c * step[a] * projected[r])


@njit(nogil=True, cache=True)
def _restore_bounds(own, roots, fixed_norm):
    """Scale Ω: the trace of Λ is n_axes, or the mean squared singular value of Ω within e^±6."""
    n_axes = own.shape[0]
    total = 0.0
    for a in range(n_axes):
        total += (roots[a] ** 2 if fixed_norm else 1.0) * squared_norm(own[a])
    mean = total / n_axes
    if not mean > 0.0:
        return
    wanted = 1.0 if fixed_norm else min(max(mean, np.exp(-LARGEST_LOG_WEIGHT)), np.exp(LARGEST_LOG_WEIGHT))
    if wanted != mean:
        own *= np.sqrt(wanted / mean)


@njit(nogil=True, cache=True)
def _mix_same_class(nearest, n_near, label, matrices, share):
    """Replace a share of the matrices of the neighbors with a given label by their mean."""
    mean = np.zeros(matrices.shape[1:])
    count = 0
    for slot in range(n_near):
        if nearest.labels[slot] == label:
            mean += matrices[nearest.indices[slot]]
            count += 1
    if count > 1:
        mean /= count
        for slot in range(n_near):
            if nearest.labels[slot] == label:
                own = matrices[nearest.indices[slot]]
                own += share * (mean - own)


def choose_temperature(levels: Levels, *, n_jobs: int | None = None) -> float:
    """Return β for data of any scale: the typical votes of a query, divided by what a clear result needs.

    A class without a neighbor has exp(0) in the softmax, so with L classes a probability near 1 takes
    log(L − 1) and more.
    """
    distances = typical_distances(levels, n_jobs=n_jobs)
    votes = (distances + zero_distance_guard(distances)) ** -1.0
    n_classes = len(levels.class_log_weights)
    return float(np.median(votes.sum(axis=1))) / (math.log(max(n_classes - 1, 1)) + 3.0)


def train_online(
    start: Levels, settings: OnlineSettings, rng: np.random.Generator, *, callback: Callback | None = None
) -> tuple[Levels, list[float], float]:
    """Train point metrics one query at a time, as published, in random order at a rate that falls to 0.

    Parameters
    ----------
    start : Levels
        Rows and initial metrics.
    settings : OnlineSettings
    rng : Generator
        Determines the order of the rows.
    callback : callable or None
        Called with an `Epoch` after every epoch; training stops if it returns True.

    Returns
    -------
    levels : Levels
    losses : list of float
        Mean loss of every epoch.
    temperature : float
        β of the softmax.
    """
    levels, n_epochs, temperature = start, settings.max_iter, settings.temperature
    losses: list[float] = []
    if temperature is None:
        temperature = choose_temperature(start, n_jobs=settings.n_jobs)
    if n_epochs > 0:
        # The same bits for any number of BLAS threads.
        with single_threaded_blas():
            n_axes = n_axes_of(settings.form, settings.n_components, start.X.shape[1])
            levels = with_initial_map(levels, n_axes, shrink=False)
            if settings.form != "diagonal":
                check_matrix_memory(levels)
            updates = _online_updates(levels, settings, temperature)
            for epoch in range(n_epochs):
                rate = settings.learning_rate * (1.0 - epoch / n_epochs)
                losses.append(updates.train_pass(rng.permutation(len(levels.X)), rate))
                state = Epoch(updates.name, epoch + 1, n_epochs, losses[-1], None, updates.levels)
                if callback is not None and callback(state):
                    break
            levels = updates.levels()
    if settings.constraint == "norm":
        levels = levels.with_fixed_norm()
    elif settings.constraint == "determinant" and settings.form == "diagonal":
        levels = levels.with_fixed_determinant()
    return levels, losses, temperature


def _online_updates(
    levels: Levels, settings: OnlineSettings, temperature: float
) -> OnlineWeights | OnlineMatrices:
    rule = settings.loss_rule(len(levels.class_log_weights), temperature)
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, len(levels.X) - 1))
    epsilon = zero_distance_guard(typical_distances(levels, n_jobs=settings.n_jobs))
    if settings.form == "diagonal":
        return OnlineWeights(levels, rule, epsilon, settings.constraint, n_jobs=settings.n_jobs)
    return OnlineMatrices(levels, rule, epsilon, settings.constraint)


# New rows (`partial_fit`), and the start from a previous fit (`warm_start`).

N_NEIGHBORS = 5


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
    rule = settings.loss_rule(len(memory.class_counts))
    rule = rule._replace(n_neighbors=min(rule.n_neighbors, n_others))
    levels = memory.levels_of(involved).in_double()
    points = memory.values("points", involved).astype(np.float64, copy=False)
    targets, queries = settings.targets(levels), np.searchsorted(involved, rows)
    rate, smoothing = settings.learning_rate, settings.smoothing
    if levels.point_matrices is not None:
        matrix_points = OnlineMatrixPoints.of(levels, targets, points)
        matrix_steps(queries, own, matrix_points, rule, epsilon, MatrixUpdate.bounded(rate, smoothing))
        before, after = levels.point_matrices, matrix_points.matrices
        trained = levels.replace(point_matrices=after)
    else:
        before = levels.weights
        weighted = OnlinePoints(points, targets, before.copy())
        relative_weight_steps(queries, own, weighted, rule, epsilon, rate, smoothing)
        after, trained = weighted.weights, with_weights(levels, weighted.weights)
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
