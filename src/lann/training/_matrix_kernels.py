"""Compiled functions of training with matrices: distances of pairs, gradients and steps of single points.

The matrix of a point is Ω = √s A, with a scale s; d = s ‖Aᵀ u‖², u = √w ⊙ (difference on the axes). The
functions take named tuples, or plain ones of the same entries.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._compile import njit
from lann._types import Floats, Indices
from lann.metrics import project, squared_norm
from lann.vote import HUGE


class MatrixPoints(NamedTuple):
    """Points and the matrices with which they measure.

    Attributes
    ----------
    points : (n_points, n_axes)
    roots : (n_points, n_axes)
        √w, the roots of the weights.
    matrices : (n_points, n_axes, rank)
        A.
    scales : (n_points,)
        s.
    """

    points: Floats
    roots: Floats
    matrices: NDArray
    scales: Floats


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


class Descent(NamedTuple):
    """How a matrix takes a step.

    Attributes
    ----------
    loss_factor : float
        Of the gradient of the loss.
    regularization : float
        Factor of the penalty ½ ‖A − I‖².
    rate : float
        Step size.
    decay, correction : float
        Decay of the second moments, and the correction of their bias.
    """

    loss_factor: float
    regularization: float
    rate: float
    decay: float
    correction: float


@njit(nogil=True, cache=True)
def pair_distances(pairs, queries, neighbors, axis_mask, metric, out):
    """Write the squared distance of some pairs, d = s ‖Aᵀ u‖², to `out`.

    pairs : (n,) entries of the following arrays, those of one neighbor together
    queries, neighbors, out : (n_pairs,)
    axis_mask : (n_axes,); metric : MatrixPoints
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

    number : position of the neighbor; pairs : PairSlopes; metric : MatrixPoints; out : (n_axes, rank)
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

    pairs : PairSlopes; metric : MatrixPoints, matrices changed in place; descent : Descent
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
