"""The online solver: train point metrics one query at a time, as published.

A step on a matrix, Ω − rate · ∂loss/∂Ω with ∂d/∂Ω = 2 u uᵀΩ, is (I − c uuᵀ) Ω with c = 2 · rate · ∂loss/∂d.
It multiplies the determinant by 1 − c ‖u‖², which can be undone by a factor.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric import Levels, project, squared_norm
from lann.search import insert
from lann.training._candidates import typical_distances
from lann.training._initial import check_matrix_memory, initial_matrices, n_axes_of, with_initial_map
from lann.training._online_weights import OnlineWeights, clear, new_nearest, query_loss
from lann.training._point_matrices import weighted_step
from lann.training._procedure import Callback, Trainer
from lann.training._settings import LARGEST_LOG_WEIGHT, LossRule, OnlineSettings, Targets
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


@dataclass(frozen=True)
class OnlineResult:
    """The result of an online training.

    Attributes
    ----------
    levels : Levels
    losses : list of float
        Mean loss of every epoch.
    temperature : float
        β of the softmax.
    """

    levels: Levels
    losses: list[float]
    temperature: float


def train_online(
    start: Levels, settings: OnlineSettings, rng: np.random.Generator, *, callback: Callback | None = None
) -> OnlineResult:
    """Train point metrics one query at a time, as published.

    Parameters
    ----------
    start : Levels
        Rows and initial metrics.
    settings : OnlineSettings
    rng : Generator
        Determines the order of the rows.
    callback : callable or None
        Called with an `Epoch` after every epoch; training stops if it returns True.
    """
    temperature = settings.temperature
    if temperature is None:
        temperature = choose_temperature(start, n_jobs=settings.n_jobs)
    levels, trainer = start, Trainer(settings.max_iter, callback)
    if settings.max_iter > 0:
        # The same bits for any number of BLAS threads.
        with single_threaded_blas():
            n_axes = n_axes_of(settings.form, settings.n_components, start.X.shape[1])
            levels = with_initial_map(levels, n_axes, shrink=False)
            if settings.form != "diagonal":
                check_matrix_memory(levels)
            levels = trainer.run(OnlineStage(levels, settings, temperature, rng))
    if settings.constraint == "norm":
        levels = levels.with_fixed_norm()
    elif settings.constraint == "determinant" and settings.form == "diagonal":
        levels = levels.with_fixed_determinant()
    return OnlineResult(levels, trainer.losses, temperature)


class OnlineStage:
    """Passes over all rows in random order, at a rate that falls to 0.

    Parameters
    ----------
    levels : Levels
        Initial values.
    settings : OnlineSettings
    temperature : float
        β of the softmax.
    rng : Generator
    """

    def __init__(
        self, levels: Levels, settings: OnlineSettings, temperature: float, rng: np.random.Generator
    ) -> None:
        self.n_epochs = settings.max_iter
        self.dropped_levels: list[str] = []
        self._n_rows, self._rng = len(levels.X), rng
        self._learning_rate = settings.learning_rate
        rule = settings.loss_rule(len(levels.class_log_weights), temperature)
        rule = rule._replace(n_neighbors=min(rule.n_neighbors, self._n_rows - 1))
        epsilon = zero_distance_guard(typical_distances(levels, n_jobs=settings.n_jobs))
        self.updates: OnlineWeights | OnlineMatrices
        if settings.form == "diagonal":
            self.updates = OnlineWeights(levels, rule, epsilon, settings.constraint, n_jobs=settings.n_jobs)
        else:
            self.updates = OnlineMatrices(levels, rule, epsilon, settings.constraint)
        self.name = self.updates.name

    def prepare_epoch(self, epoch: int) -> bool:
        return True

    def train_epoch(self, epoch: int) -> float:
        remaining = 1.0 - epoch / self.n_epochs
        rows = self._rng.permutation(self._n_rows)
        return self.updates.train_pass(rows, self._learning_rate * remaining)

    def validation_loss(self) -> float | None:
        return None

    def levels(self) -> Levels:
        return self.updates.levels()
