"""Compiled functions of a training step: loss and gradients of a batch, smoothing, and Adam."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.training._settings import Neighbors, loss_with_slopes

# Instead of a gradient that is not needed.
NOT_NEEDED = np.empty((0, 0))


class Batch(NamedTuple):
    """Training rows as queries, and the candidates for their neighbors.

    Attributes
    ----------
    rows : (n_queries,)
        Points that are the queries.
    candidates : (n_queries, n_candidates)
        Points; -1 for none.
    kept : (n_queries, n_candidates)
        Which candidates are not dropped.
    axis_mask : (n_axes,)
        1, or 0 for an axis that is dropped.
    epsilon : float
        ε, which is added to every squared distance.
    """

    rows: Indices
    candidates: Indices
    kept: NDArray[np.bool_]
    axis_mask: Floats
    epsilon: float

    @classmethod
    def without_dropout(cls, rows: Indices, candidates: Indices, n_axes: int, epsilon: float) -> Batch:
        """Return a batch from which nothing is dropped."""
        return cls(rows, candidates, np.ones(candidates.shape, np.bool_), np.ones(n_axes), epsilon)


class WeightedPoints(NamedTuple):
    """Points and the weights with which they measure.

    Attributes
    ----------
    points : (n_points, n_axes)
    weights : (n_owners, n_axes)
    owners : (n_points,)
        The row of `weights` that a point measures with: its class, or itself.
    """

    points: Floats
    weights: Floats
    owners: Indices


@njit(nogil=True, cache=True)
def loss_and_gradients(batch, metric, targets, rule, by_weight, by_point):
    """Compute the mean loss of a batch and add its gradients to two arrays.

    Parameters
    ----------
    batch : Batch
    metric : WeightedPoints
    targets : Targets
    rule : LossRule
    by_weight : (n_owners, n_axes) or empty
        The gradient for the log weights is added to it; it is not computed if the array is empty.
    by_point : (n_points, n_axes) or empty
        The same for the points.

    Returns
    -------
    loss : float
    """
    neighbors = _nearest_candidates(batch, metric, rule.n_neighbors)
    slopes = np.zeros(neighbors.distances.shape)
    loss = loss_with_slopes(neighbors, batch.rows, targets, rule, slopes)
    if by_weight.size > 0:
        _add_weight_gradient(batch, neighbors, slopes, metric, by_weight)
    if by_point.size > 0:
        _add_point_gradient(batch, neighbors, slopes, metric, by_point)
    return loss


# Functions that are inlined are compiled once, with the function that calls them.
@njit(inline="always")
def _nearest_candidates(batch, metric, k):
    """Return the k nearest kept candidates of each query, in no particular order: a `Neighbors`.

    batch : Batch; metric : WeightedPoints
    """
    rows, candidates, kept, axis_mask, epsilon = batch
    points, weights, owners = metric
    n_queries, n_candidates = candidates.shape
    near = np.full((n_queries, k), -1, np.int64)
    distances = np.full((n_queries, k), np.inf)
    counts = np.zeros(n_queries, np.int64)
    for q in range(n_queries):
        query = points[rows[q]]
        count, farthest = 0, 0
        for c in range(n_candidates):
            j = candidates[q, c]
            if j < 0 or not kept[q, c]:
                continue
            found = epsilon + _masked_distance(query, points[j], weights[owners[j]], axis_mask)
            if count < k:
                slot = count
                count += 1
            elif found < distances[q, farthest]:
                slot = farthest
            else:
                continue
            distances[q, slot], near[q, slot] = found, j
            farthest = 0
            for other in range(1, count):
                if distances[q, other] > distances[q, farthest]:
                    farthest = other
        counts[q] = count
    return Neighbors(near, distances, counts)


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _masked_distance(x, point, weights, axis_mask):
    """Return Σ w (x − p)² over the axes that are not dropped."""
    total = 0.0
    for a in range(x.shape[0]):
        difference = axis_mask[a] * (x[a] - point[a])
        total += weights[a] * difference * difference
    return total


@njit(inline="always")
def _add_weight_gradient(batch, neighbors, slopes, metric, gradient):
    """Add ∂loss/∂log w = slope · w · difference², over all pairs, to the gradient of each neighbor's owner.

    slopes : (n_queries, k) ∂loss/∂d; gradient : (n_owners, n_axes), changed in place
    """
    points, weights, owners = metric
    axis_mask = batch.axis_mask
    near, counts = neighbors.indices, neighbors.counts
    for q in range(near.shape[0]):
        query = points[batch.rows[q]]
        for slot in range(counts[q]):
            point, owner = points[near[q, slot]], owners[near[q, slot]]
            slope = slopes[q, slot]
            for a in range(query.shape[0]):
                difference = point[a] - query[a]
                gradient[owner, a] += slope * axis_mask[a] * weights[owner, a] * difference * difference


@njit(inline="always")
def _add_point_gradient(batch, neighbors, slopes, metric, gradient):
    """Add ∂loss/∂point = 2 · slope · w · difference, over all pairs, to the gradients of both points.

    slopes : (n_queries, k) ∂loss/∂d; gradient : (n_points, n_axes), changed in place
    """
    points, weights, owners = metric
    axis_mask = batch.axis_mask
    near, counts = neighbors.indices, neighbors.counts
    for q in range(near.shape[0]):
        i = batch.rows[q]
        for slot in range(counts[q]):
            j = near[q, slot]
            owner = owners[j]
            slope = 2.0 * slopes[q, slot]
            for a in range(gradient.shape[1]):
                change = slope * axis_mask[a] * weights[owner, a] * (points[j, a] - points[i, a])
                gradient[j, a] += change
                gradient[i, a] -= change


@njit(nogil=True, cache=True)
def mix_with_neighbors(values, neighbors, share):
    """Replace a share of each row by the mean of the rows of its neighbors, all at once.

    values : (n_rows, n_columns); neighbors : (n_rows, k), -1 for none; returns (n_rows, n_columns)
    """
    n_rows, n_columns = values.shape
    mixed = values.copy()
    mean = np.empty(n_columns)
    for i in range(n_rows):
        mean[:] = 0.0
        count = 0
        for slot in range(neighbors.shape[1]):
            j = neighbors[i, slot]
            if j >= 0:
                count += 1
                for column in range(n_columns):
                    mean[column] += values[j, column]
        if count > 0:
            for column in range(n_columns):
                mixed[i, column] += share * (mean[column] / count - values[i, column])
    return mixed


# Decay of the first and of the second moment.
DECAY = (0.9, 0.99)


class Adam:
    """Adam (Kingma & Ba 2015) for one array of parameters.

    Parameters
    ----------
    parameters : ndarray
        Changed in place.
    """

    def __init__(self, parameters: Floats) -> None:
        self.parameters = parameters
        self._first = np.zeros_like(parameters)
        self._second = np.zeros_like(parameters)
        self._n_steps = 0

    def step(self, gradient: Floats, rate: float) -> None:
        """Take one step of size `rate`, for a gradient of the shape of the parameters."""
        self._n_steps += 1
        _step(
            self.parameters.reshape(-1), gradient.reshape(-1), self._first.reshape(-1),
            self._second.reshape(-1), rate, DECAY, self._n_steps,
        )  # fmt: skip


@njit(nogil=True, cache=True)
def _step(parameters, gradient, first, second, rate, decay, n_steps):
    first_decay, second_decay = decay
    first_scale = 1.0 / (1.0 - first_decay**n_steps)
    second_scale = 1.0 / (1.0 - second_decay**n_steps)
    for i in range(parameters.shape[0]):
        first[i] += (1.0 - first_decay) * (gradient[i] - first[i])
        second[i] += (1.0 - second_decay) * (gradient[i] ** 2 - second[i])
        parameters[i] -= rate * (first[i] * first_scale) / (np.sqrt(second[i] * second_scale) + 1e-4)
