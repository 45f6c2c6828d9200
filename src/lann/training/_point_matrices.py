"""Point metrics that are matrices: the loss of a batch, its gradient, and the step on each matrix."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.metric import Levels, project, squared_norm
from lann.search import smallest
from lann.training._initial import initial_matrices
from lann.training._loss import (
    LARGEST_LOG_WEIGHT,
    Adam,
    Batch,
    Neighbors,
    Settings,
    batch_loss,
    mix_with_neighbors,
    regularization_factor,
)
from lann.vote import HUGE


class PairSlopes(NamedTuple):
    """Pairs of a query and a neighbor, those of a neighbor together, and the slope of the loss for each.

    Attributes
    ----------
    neighbors : (n_neighbors,)
        Points, distinct.
    starts : (n_neighbors + 1,)
        Where the pairs of each neighbor start.
    queries : (n_pairs,)
        Points.
    slopes : (n_pairs,)
        ∂loss/∂d.
    axis_mask : (n_axes,)
        1, or 0 for an axis that is dropped.
    """

    neighbors: Indices
    starts: Indices
    queries: Indices
    slopes: Floats
    axis_mask: Floats


@njit(nogil=True, cache=True)
def pair_distances(pairs, queries, neighbors, axis_mask, metric, out):
    """Write the squared distance of some pairs, d = s ‖Aᵀ u‖², to `out`.

    pairs : (n,) entries of the following arrays, those of one neighbor together
    queries, neighbors, out : (n_pairs,)
    axis_mask : (n_axes,); metric : as `PointMatrices.metric`
    """
    points, roots, matrices, scales = metric
    n_axes, rank = matrices.shape[1:]
    step, projected = np.empty(n_axes), np.empty(rank)
    for pair in pairs:
        j = neighbors[pair]
        weighted_step(points[j], points[queries[pair]], roots[j], axis_mask, step)
        project(step, matrices[j], projected)
        out[pair] = scales[j] * squared_norm(projected)


@njit(nogil=True, cache=True)
def weighted_step(point, query, roots, axis_mask, step):
    """Write u = √w ⊙ (point − query), 0 for axes that are dropped, to `step`; all arrays are (n_axes,)."""
    for a in range(step.shape[0]):
        step[a] = roots[a] * axis_mask[a] * (point[a] - query[a])


@njit(nogil=True, cache=True)
def matrix_gradient(number, pairs, metric, out):
    """Write ∂loss/∂A = Σ 2 s · slope · u (Aᵀu)ᵀ of one neighbor to `out` and return ∂loss/∂log s.

    number : position of the neighbor; pairs : PairSlopes; metric : as `PointMatrices.metric`
    out : (n_axes, rank)
    """
    neighbors, starts, queries, slopes, axis_mask = pairs
    points, roots, matrices, scales = metric
    j = neighbors[number]
    own, scale = matrices[j], scales[j]
    n_axes, rank = own.shape
    step, projected = np.empty(n_axes), np.empty(rank)
    by_scale = 0.0
    out[:] = 0.0
    for pair in range(starts[number], starts[number + 1]):
        weighted_step(points[j], points[queries[pair]], roots[j], axis_mask, step)
        project(step, own, projected)
        by_scale += slopes[pair] * scale * squared_norm(projected)
        slope = 2.0 * scale * slopes[pair]
        for a in range(n_axes):
            change, row = slope * step[a], out[a]
            for r in range(rank):
                row[r] += change * projected[r]
    return by_scale


@njit(nogil=True, cache=True)
def descend(pairs, metric, descent, second):
    """Take one step of the A of each neighbor and return the gradients for log s, (n_neighbors,).

    pairs : PairSlopes; metric : as `PointMatrices.metric`, matrices changed in place;
    descent : factor of the gradient of the loss, factor of the penalty ½ ‖A − I‖², step size, decay of the
        second moments, and the correction of their bias
    second : (n_points,) second moments, changed in place
    """
    neighbors, matrices = pairs[0], metric[2]
    loss_factor, regularization = descent[:2]
    n_axes, rank = matrices.shape[1:]
    gradient = np.empty((n_axes, rank))
    by_scale = np.empty(neighbors.shape[0])
    for number in range(neighbors.shape[0]):
        j = neighbors[number]
        own = matrices[j]
        by_scale[number] = loss_factor * matrix_gradient(number, pairs, metric, gradient)
        for a in range(n_axes):
            row, own_row = gradient[a], own[a]
            for r in range(rank):
                row[r] = loss_factor * row[r] + regularization * own_row[r]
            if a < rank:
                row[a] -= regularization
        _take_step(own, gradient, descent, second, j)
    return by_scale


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _take_step(own, gradient, descent, second, j):
    """Take one step of the A of point j.

    Its entries share one second moment, the mean over the axes of the squared gradient: a direction that
    hardly matters hardly changes, and only A itself takes memory.
    """
    rate, decay, correction = descent[2:]
    n_axes, rank = own.shape
    size = squared_norm(gradient.ravel()) / n_axes
    if not size < HUGE:
        return
    second[j] += (1.0 - decay) * (size - second[j])
    length = rate / (np.sqrt(second[j] * correction) + 1e-4)
    for a in range(n_axes):
        row, own_row = gradient[a], own[a]
        for r in range(rank):
            own_row[r] -= length * row[r]


@njit(nogil=True, cache=True)
def write_mean_squares(rows, matrices, out):
    """Write Σ A² / n_axes, the mean squared singular value, of some points to `out` (n_points,)."""
    n_axes = matrices.shape[1]
    for j in rows:
        total = 0.0
        for a in range(n_axes):
            total += squared_norm(matrices[j, a])
        out[j] = total / n_axes


@njit(nogil=True, cache=True)
def mix_matrices(matrices, neighbors, share):
    """Replace a share of each matrix by the mean of its neighbors, one after another, in place.

    neighbors : (n_points, k), -1 for none
    """
    n_axes, rank = matrices.shape[1:]
    for i in range(matrices.shape[0]):
        count = np.sum(neighbors[i] >= 0)
        if count == 0:
            continue
        each = share / count
        for a in range(n_axes):
            own = matrices[i, a]
            for r in range(rank):
                own[r] *= 1.0 - share
            for j in neighbors[i]:
                if j >= 0:
                    other = matrices[j, a]
                    for r in range(rank):
                        own[r] += each * other[r]


# Decay of the second moments.
MATRIX_DECAY = 0.99
# Initial step sizes of the matrices and of the scales, which keep this ratio.
MATRIX_RATE, SCALE_RATE = 0.06, 0.03
# Strength of the regularization of matrices relative to that of weights.
REGULARIZATION = 0.5
# Smoothing reads all matrices, so it is done once for every ten steps.
SMOOTHING_EVERY = 10
# The scale compensates for a small matrix down to this mean squared singular value.
SMALLEST_SQUARE = 1e-30
# Pairs, and points, that a thread processes at a time.
PAIR_BLOCK, POINT_BLOCK = 1024, 128


class PointMatrices:
    """The matrix Ω_j = √s_j A_j of each point: a scale, and a matrix that starts as the identity.

    Parameters
    ----------
    levels : Levels
        Initial values; the shared levels, and weights of points, stay as they are.
    settings : Settings

    Attributes
    ----------
    matrices : (n_points, n_axes, rank)
        A.
    log_scales : (n_points,)
        log s.
    """

    name = "point matrices"
    # Step size relative to that of the shared levels.
    relative_rate = 1.2

    def __init__(self, levels: Levels, settings: Settings) -> None:
        self._settings = settings
        self._start = levels
        self._rule = settings.loss_rule(len(levels.class_log_weights))
        self._targets = settings.targets(levels)
        self._points = levels.points
        self._roots = np.sqrt(levels.weights)
        self.matrices = initial_matrices(levels)
        n_points = len(self.matrices)
        self.log_scales = np.zeros(n_points)
        self._adam_scales = Adam(self.log_scales)
        self._second = np.zeros(n_points)
        self._n_steps = 0
        self._squares = np.empty(n_points)
        self._restore_bounds(np.arange(n_points))
        self._regularization = REGULARIZATION * settings.alpha * regularization_factor(n_points)

    @property
    def metric(self) -> tuple[Any, ...]:
        """The points, the roots √w of their weights, their matrices A and scales s: what kernels take."""
        # numba recognizes plain tuples faster than named ones, and blocks are small.
        return self._points, self._roots, self.matrices, np.exp(self.log_scales)

    def levels(self) -> Levels:
        """Return a snapshot of the levels."""
        roots = np.exp(0.5 * self.log_scales).astype(self.matrices.dtype)
        return self._start.replace(point_matrices=self.matrices * roots[:, None, None])

    def loss(self, batch: Batch) -> tuple[float, PairSlopes]:
        """Compute the mean loss of a batch, and its slope for each pair of a query and a neighbor."""
        candidates = np.where(batch.kept, batch.candidates, -1)
        distances = batch.epsilon + self._distances(batch.rows, candidates, batch.axis_mask)
        near, distances = smallest(distances, candidates, self._rule.n_neighbors)
        neighbors = Neighbors(near, distances, np.sum(near >= 0, axis=1))
        loss, slopes = batch_loss(neighbors, batch.rows, self._targets, self._rule)
        pairs = _pairs_by_neighbor(near)
        distinct, starts = np.unique(near.ravel()[pairs], return_index=True)
        queries = batch.rows[pairs // near.shape[1]]
        starts = np.append(starts, len(pairs))
        return loss, PairSlopes(distinct, starts, queries, slopes.ravel()[pairs], batch.axis_mask)

    def _distances(self, rows: Indices, candidates: Indices, axis_mask: Floats) -> Floats:
        """Return the squared distances of each query to its candidates, infinite where there is none."""
        metric = self.metric
        neighbors, queries = candidates.ravel(), np.repeat(rows, candidates.shape[1])
        pairs = _pairs_by_neighbor(candidates)
        out = np.full(candidates.size, np.inf)
        map_blocks(
            lambda part: pair_distances(pairs[part], queries, neighbors, axis_mask, metric, out),
            len(pairs), PAIR_BLOCK, n_jobs=self._settings.n_jobs,
        )  # fmt: skip
        return out.reshape(candidates.shape)

    def step(self, gradient: PairSlopes, rate: float, smoothing: float, neighbors: Indices) -> None:
        """Take one step against the gradient, smooth, and restore the bounds.

        Parameters
        ----------
        gradient : PairSlopes
            Of the mean loss of a batch.
        rate : float
            Step size of the matrices.
        smoothing : float
            Share of the parameters of a point that is replaced by those of its neighbors.
        neighbors : (n_points, k)
            Same-class neighbors; -1 for none.
        """
        self._n_steps += 1
        changed = gradient.neighbors
        by_scale = self._settings.alpha * self.log_scales
        by_scale[changed] += self._descend(gradient, rate)
        self._adam_scales.step(by_scale, rate * SCALE_RATE / MATRIX_RATE)
        if smoothing > 0:
            share = min(smoothing, 1.0)
            self.log_scales[:] = mix_with_neighbors(self.log_scales[:, None], neighbors, share)[:, 0]
            if self._n_steps % SMOOTHING_EVERY == 0:
                mix_matrices(self.matrices, neighbors, 1.0 - (1.0 - share) ** SMOOTHING_EVERY)
                changed = np.arange(len(self.matrices))
        self._restore_bounds(changed)

    def _descend(self, pairs: PairSlopes, rate: float) -> Floats:
        """Take one step of the matrices of some points and return the gradients for their scales."""
        metric = self.metric
        # Few queries of a batch change a point, so its gradient counts as that of the sum over all rows.
        loss_factor = float(len(self.matrices))
        correction = 1.0 / (1.0 - MATRIX_DECAY**self._n_steps)
        descent = (loss_factor, self._regularization, rate, MATRIX_DECAY, correction)
        neighbors, starts, *rest = pairs

        def descend_block(part: slice) -> Floats:
            block = (neighbors[part], starts[part.start : part.stop + 1], *rest)
            return descend(block, metric, descent, self._second)

        by_scale = map_blocks(descend_block, len(neighbors), POINT_BLOCK, n_jobs=self._settings.n_jobs)
        return np.concatenate([np.empty(0), *by_scale])

    def _restore_bounds(self, changed: Indices) -> None:
        """Scale all matrices so that the mean squared singular value of Ω is within e^±6."""
        write_mean_squares(changed, self.matrices, self._squares)
        neutral = -np.log(np.maximum(self._squares, SMALLEST_SQUARE))
        lowest, highest = neutral - LARGEST_LOG_WEIGHT, neutral + LARGEST_LOG_WEIGHT
        np.clip(self.log_scales, lowest, highest, out=self.log_scales)


def _pairs_by_neighbor(neighbors: Indices) -> Indices:
    """Return the flat positions of all entries that are not -1, those of one neighbor together."""
    flat = neighbors.ravel()
    pairs = np.flatnonzero(flat >= 0)
    return pairs[np.argsort(flat[pairs], kind="stable")]
