"""One point at a time, with matrices: its nearest neighbors are found, and their Ω take a plain step.

A step Ω − rate · ∂E/∂Ω, with ∂d/∂Ω = 2 u uᵀΩ, is (I − c uuᵀ) Ω with c = 2 · rate · ∂E/∂d. It multiplies the
determinant by 1 − c ‖u‖², and that can be undone: the determinant then stays what it was.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.metrics import Levels, project, squared_norm
from lann.search import count_found, insert
from lann.training._candidates import usual_distances
from lann.training._matrix_kernels import step_between
from lann.training._point_matrices import starting_maps
from lann.training._settings import LARGEST_LOG_WEIGHT, Settings
from lann.vote import HUGE, LOSSES, weighted_loss, zero_distance_guard

# A step with a bound changes no distance's logarithm by much more than 0.5: 1/d explodes for near duplicates.
LARGEST_STEP = 0.25


class OnlineMatrices:
    """Matrices that learn from one query after another.

    Parameters
    ----------
    levels : points, and the matrices from which they start
    relative : steps that are bounded; otherwise plain gradient steps
    """

    def __init__(self, levels: Levels, settings: Settings, *, relative: bool) -> None:
        self.start = levels
        self.maps: NDArray = starting_maps(levels).copy()
        self._roots = np.sqrt(levels.weights)
        self._points = levels.points
        self._rules = (
            min(settings.n_neighbors, len(levels.X) - 1),
            zero_distance_guard(usual_distances(levels, settings.n_jobs)),
            LOSSES[settings.loss], settings.power, settings.strength,
            settings.class_weights_of(len(levels.class_log_weights)),
            relative, settings.fixed_norm, settings.determinant,
        )  # fmt: skip
        self._smoothing = settings.smoothing

    def one_pass(self, rows: Indices, candidates: Indices | None, rate: float, *, left: float = 1.0) -> float:
        """One step per row; its neighbors are found among its candidates (n_rows, C), or all points.

        Returns the mean loss. `left` is the part of the smoothing that is left, as training goes on.
        """
        lists = np.empty((len(rows), 0), np.int64) if candidates is None else candidates
        total = _steps(
            rows, lists, candidates is None, self._points, self.start.labels, self._roots, self.maps, rate,
            *self._rules, left * self._smoothing,
        )  # fmt: skip
        return total / len(rows)

    def levels(self) -> Levels:
        return self.start.replace(point_matrices=self.maps.copy())


def inherited_maps(maps: NDArray, near: Indices, shares: Floats) -> NDArray:
    """Matrices for new points: the mean over near points of the same class, the nearer the more.

    near, shares : (n_new, k) points, and their parts of the mean, which are 0 for all where there is none:
    such a point starts from I
    """
    inherited = np.zeros((len(near), *maps.shape[1:]), maps.dtype)
    for slot in range(near.shape[1]):
        inherited += shares[:, slot, None, None].astype(maps.dtype) * maps[near[:, slot]]
    inherited[~shares.any(axis=1)] = np.eye(*maps.shape[1:])
    return inherited


@njit(nogil=True, cache=True)
def _steps(
    rows, lists, exhaustive, points, labels, roots, maps, rate,
    k, epsilon, kind, power, strength, votes, relative, fixed_norm, determinant, smoothing,
):  # fmt: skip
    """Walk through the rows in order; returns the summed loss.

    lists : (n_rows, C) candidates of each row, -1 for none
    """
    n_axes, rank = maps.shape[1:]
    near, near_labels = np.empty(k, np.int64), np.empty(k, np.int64)
    distances, slopes = np.empty(k), np.empty(k)
    axes, step, turned = np.ones(n_axes), np.empty(n_axes), np.empty(rank)
    total = 0.0
    for r in range(rows.shape[0]):
        i = rows[r]
        near[:] = -1
        distances[:] = np.inf
        for c in range(points.shape[0] if exhaustive else lists.shape[1]):
            j = c if exhaustive else lists[r, c]
            if j >= 0 and j != i:
                step_between(points[j], points[i], roots[j], axes, step)
                project(step, maps[j], turned)
                insert(distances, near, squared_norm(turned), j)
        n_near = count_found(near)
        if n_near == 0:
            continue
        distances += epsilon
        near_labels[:n_near] = labels[near[:n_near]]
        total += weighted_loss(
            kind, distances, near_labels, labels[i], n_near, power, strength, votes, slopes
        )
        if rate > 0.0:
            for slot in range(n_near):
                j = near[slot]
                step_between(points[j], points[i], roots[j], axes, step)
                _move(maps[j], step, turned, 2.0 * rate * slopes[slot], relative, determinant)
        if smoothing > 0.0:
            _mix_alike(near, near_labels, labels[i], n_near, maps, smoothing)
        if rate > 0.0 or smoothing > 0.0:
            for slot in range(n_near):
                _bound(maps[near[slot]], roots[near[slot]], fixed_norm)
    return total


@njit(nogil=True, cache=True)
def _move(own, step, turned, c, relative, determinant):
    """Ω becomes (I − c uuᵀ) Ω, if that is a matrix to go on with."""
    n_axes, rank = own.shape
    project(step, own, turned)
    length = squared_norm(step)
    largest = LARGEST_STEP if relative else 0.9  # nearer to 1 the determinant would vanish
    if (relative or determinant) and abs(c) * length > largest:
        c = np.sign(c) * largest / length
    norm = squared_norm(turned)
    # ‖Ω'‖² = ‖Ω‖² − 2c ‖Ωᵀu‖² + c² ‖u‖² ‖Ωᵀu‖²
    before = squared_norm(own.ravel())
    after = before - 2.0 * c * norm + c * c * length * norm
    if not (0.0 < after < HUGE):
        return
    stretch = (1.0 - c * length) ** (-1.0 / n_axes) if determinant else 1.0
    for a in range(n_axes):
        for r in range(rank):
            own[a, r] = stretch * (own[a, r] - c * step[a] * turned[r])


@njit(nogil=True, cache=True)
def _bound(own, roots, fixed_norm):
    """A trace of Λ equal to the number of axes, or a mean square singular value of Ω within e^±6."""
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
def _mix_alike(near, near_labels, label, n_near, maps, strength):
    """Mix the matrices of the neighbors that have the query's label with their mean."""
    mean = np.zeros(maps.shape[1:])
    count = 0
    for slot in range(n_near):
        if near_labels[slot] == label:
            mean += maps[near[slot]]
            count += 1
    if count > 1:
        mean /= count
        for slot in range(n_near):
            if near_labels[slot] == label:
                own = maps[near[slot]]
                own += strength * (mean - own)
