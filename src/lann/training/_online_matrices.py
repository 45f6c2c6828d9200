"""Online updates of point matrices: find the neighbors of one query, then take a step on their matrices.

A step Ω − rate · ∂loss/∂Ω, with ∂d/∂Ω = 2 u uᵀΩ, is (I − c uuᵀ) Ω with c = 2 · rate · ∂loss/∂d. It multiplies
the determinant by 1 − c ‖u‖², which can be undone by a factor.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels
from lann.metrics import Levels, project, squared_norm
from lann.search import insert
from lann.training._initial_matrices import initial_matrices
from lann.training._loss import LossRule
from lann.training._matrix_kernels import weighted_step
from lann.training._online_kernels import clear, new_nearest, query_loss
from lann.training._settings import LARGEST_LOG_WEIGHT
from lann.vote import HUGE

# A bounded step changes a log distance by little more than 0.5: 1/d explodes for near duplicates.
LARGEST_STEP = 0.25
# Nearer to 1, the determinant would vanish.
LARGEST_DETERMINANT_STEP = 0.9


class OnlineMatrixPoints(NamedTuple):
    """Points with matrices that are trained online.

    Attributes
    ----------
    points : (n_points, n_axes)
    labels : (n_points,)
    roots : (n_points, n_axes)
        √w, the roots of the weights.
    matrices : (n_points, n_axes, rank)
        Ω, changed in place.
    """

    points: Floats
    labels: Labels
    roots: Floats
    matrices: NDArray

    @classmethod
    def of(cls, levels: Levels) -> OnlineMatrixPoints:
        """Return the points of some levels, with a copy of their matrices."""
        return cls(levels.points, levels.labels, np.sqrt(levels.weights), initial_matrices(levels))


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
        self._points = OnlineMatrixPoints.of(levels)
        self._rule, self._epsilon = rule, epsilon
        self._constraint = constraint

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        return self._start.replace(point_matrices=self._points.matrices.copy())

    def train_pass(self, rows: Indices, rate: float) -> float:
        """Take one step for each row, in order, and return the mean loss."""
        fixed_norm, fixed_determinant = self._constraint == "norm", self._constraint == "determinant"
        total = _published_steps(
            rows, self._points, self._rule, self._epsilon, fixed_norm, fixed_determinant, rate
        )
        return total / len(rows)


@njit(nogil=True, cache=True)
def _published_steps(rows, points, rule, epsilon, fixed_norm, fixed_determinant, rate):
    """Take one published step for each row, in order; return the total loss.

    rows : (n_rows,); points : OnlineMatrixPoints; rule : LossRule
    """
    coordinates, labels, roots, matrices = points
    n_axes, rank = matrices.shape[1:]
    nearest = new_nearest(rule.n_neighbors)
    mask, step, projected = np.ones(n_axes), np.empty(n_axes), np.empty(rank)
    largest = LARGEST_DETERMINANT_STEP if fixed_determinant else np.inf
    total = 0.0
    for i in rows:
        clear(nearest)
        for j in range(coordinates.shape[0]):
            if j != i:
                weighted_step(coordinates[j], coordinates[i], roots[j], mask, step)
                project(step, matrices[j], projected)
                insert(nearest.distances, nearest.indices, squared_norm(projected), j)
        loss, n_near = query_loss(nearest, labels, labels[i], epsilon, rule)
        total += loss
        for slot in range(n_near):
            j = nearest.indices[slot]
            weighted_step(coordinates[j], coordinates[i], roots[j], mask, step)
            c = 2.0 * rate * nearest.slopes[slot]
            _take_step(matrices[j], step, projected, c, largest, fixed_determinant)
        for slot in range(n_near):
            j = nearest.indices[slot]
            _restore_bounds(matrices[j], roots[j], fixed_norm)
    return total


@njit(nogil=True, cache=True)
def bounded_matrix_steps(rows, candidates, points, rule, epsilon, rate, smoothing):
    """Take one bounded step on the matrices of the nearest candidates of each row; return the total loss.

    The matrices stay bounded, and are mixed with those of same-class neighbors.

    rows : (n_rows,), in order; candidates : (n_rows, n_candidates), -1 for none
    points : OnlineMatrixPoints; rule : LossRule; smoothing : share of a matrix that is replaced
    """
    coordinates, labels, roots, matrices = points
    n_axes, rank = matrices.shape[1:]
    nearest = new_nearest(rule.n_neighbors)
    mask, step, projected = np.ones(n_axes), np.empty(n_axes), np.empty(rank)
    total = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        clear(nearest)
        for j in candidates[r]:
            if j >= 0 and j != i:
                weighted_step(coordinates[j], coordinates[i], roots[j], mask, step)
                project(step, matrices[j], projected)
                insert(nearest.distances, nearest.indices, squared_norm(projected), j)
        loss, n_near = query_loss(nearest, labels, labels[i], epsilon, rule)
        total += loss
        for slot in range(n_near):
            j = nearest.indices[slot]
            weighted_step(coordinates[j], coordinates[i], roots[j], mask, step)
            c = 2.0 * rate * nearest.slopes[slot]
            _take_step(matrices[j], step, projected, c, LARGEST_STEP, False)
        if smoothing > 0.0:
            _mix_same_class(nearest, n_near, labels[i], matrices, smoothing)
        for slot in range(n_near):
            j = nearest.indices[slot]
            _restore_bounds(matrices[j], roots[j], False)
    return total


@njit(nogil=True, cache=True)
def _take_step(own, step, projected, c, largest, fixed_determinant):
    """Replace Ω by (I − c uuᵀ) Ω, if that is finite and not 0; |c| ‖u‖² is at most `largest`.

    own : (n_axes, rank) Ω; step : (n_axes,) u; projected : (rank,) buffer
    """
    n_axes, rank = own.shape
    project(step, own, projected)
    length = squared_norm(step)
    if abs(c) * length > largest:
        c = np.sign(c) * largest / length
    norm = squared_norm(projected)
    # ‖Ω'‖² = ‖Ω‖² − 2c ‖Ωᵀu‖² + c² ‖u‖² ‖Ωᵀu‖²
    before = squared_norm(own.ravel())
    after = before - 2.0 * c * norm + c * c * length * norm
    if not (0.0 < after < HUGE):
        return
    factor = (1.0 - c * length) ** (-1.0 / n_axes) if fixed_determinant else 1.0
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
