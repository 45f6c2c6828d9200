"""The compiled walk of training with matrices: distances of pairs, gradients and steps of single points.

A point's matrix is Ω = √s A, with a scale s of its own; d = s ‖Aᵀ u‖², u = √w ⊙ (difference along the axes).
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lann.metrics import project, squared_norm
from lann.vote import HUGE


@njit(nogil=True, cache=True)
def measure(pairs, queries, owners, axes, points, roots, maps, scales, out):
    """Write the distance of each of some pairs: d = s ‖Aᵀ u‖².

    pairs : (n,) which entries of queries, owners and out (flat) to fill, those of one owner together
    axes : (n_axes,) 1, or 0 for an axis dropped from this batch
    roots : (n_points, n_axes) √w; maps, scales : (n_points, n_axes, rank), (n_points,) A and s
    """
    n_axes, rank = maps.shape[1:]
    step, turned = np.empty(n_axes), np.empty(rank)
    for pair in pairs:
        j = owners[pair]
        step_between(points[j], points[queries[pair]], roots[j], axes, step)
        project(step, maps[j], turned)
        out[pair] = scales[j] * squared_norm(turned)


@njit(nogil=True, cache=True)
def step_between(point, query, roots, axes, step):
    """u = √w ⊙ (point − query), without the axes that are dropped."""
    for a in range(step.shape[0]):
        step[a] = roots[a] * axes[a] * (point[a] - query[a])


@njit(nogil=True, cache=True)
def point_gradient(j, first, last, queries, loss_slopes, axes, points, roots, own, scale, out):
    """∂loss/∂A = Σ 2 s · slope · u (Aᵀu)ᵀ of point j, written to `out` (n_axes, rank); returns ∂loss/∂log s.

    first, last : which of the pairs, in queries and loss_slopes, are the point's
    own, scale : A and s
    """
    n_axes, rank = own.shape
    step, turned = np.empty(n_axes), np.empty(rank)
    by_scale = 0.0
    out[:] = 0.0
    for pair in range(first, last):
        step_between(points[j], points[queries[pair]], roots[j], axes, step)
        project(step, own, turned)
        by_scale += loss_slopes[pair] * scale * squared_norm(turned)
        slope = 2.0 * scale * loss_slopes[pair]
        for a in range(n_axes):
            pull, row = slope * step[a], out[a]
            for r in range(rank):
                row[r] += pull * turned[r]
    return by_scale


@njit(nogil=True, cache=True)
def descend(
    touched, starts, queries, loss_slopes, axes, points, roots, maps, scales, weight, restraint, pulled,
    rate, decay, correction, second,
):  # fmt: skip
    """One step of each touched point's A; returns the gradients for log s.

    starts : (n_touched + 1,) where the pairs of each touched point begin, in queries and loss_slopes
    weight : of the loss; restraint : of the penalty, ½ ‖A − I‖²
    pulled : (n_touched, n_axes, rank) the point to which the penalty pulls, if it is not I; else empty
    second : (n_points,) second moments, changed in place
    """
    n_axes, rank = maps.shape[1:]
    gradient = np.empty((n_axes, rank))
    by_scale = np.empty(touched.shape[0])
    for number in range(touched.shape[0]):
        j = touched[number]
        own = maps[j]
        by_scale[number] = weight * point_gradient(
            j, starts[number], starts[number + 1], queries, loss_slopes, axes, points, roots, own, scales[j],
            gradient,
        )  # fmt: skip
        for a in range(n_axes):
            row, own_row = gradient[a], own[a]
            for r in range(rank):
                row[r] = weight * row[r] + restraint * own_row[r]
            if pulled.shape[0] > 0:
                for r in range(rank):
                    row[r] -= restraint * pulled[number, a, r]
            elif a < rank:
                row[a] -= restraint
        _move(own, gradient, rate, decay, correction, second, j)
    return by_scale


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _move(own, gradient, rate, decay, correction, second, j):
    """One step of A. Its entries share one second moment, the mean over the axes of the gradient's square.

    So a direction that hardly matters is hardly moved, and nothing but A itself takes memory.
    """
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
def mean_squares(rows, maps, weights, out):
    """The mean over the axes of Σ_r w_a A_ar², for some points, into `out` (n_points,)."""
    n_axes = maps.shape[1]
    for j in rows:
        total = 0.0
        for a in range(n_axes):
            total += weights[j, a] * squared_norm(maps[j, a])
        out[j] = total / n_axes


@njit(nogil=True, cache=True)
def mix_in_turn(maps, neighbors, strength):
    """Move each map toward the mean of its neighbors', one after another; -1 marks a missing neighbor."""
    n_axes, rank = maps.shape[1:]
    for i in range(maps.shape[0]):
        count = np.sum(neighbors[i] >= 0)
        if count == 0:
            continue
        share = strength / count
        for a in range(n_axes):
            own = maps[i, a]
            for r in range(rank):
                own[r] *= 1.0 - strength
            for j in neighbors[i]:
                if j >= 0:
                    other = maps[j, a]
                    for r in range(rank):
                        own[r] += share * other[r]
