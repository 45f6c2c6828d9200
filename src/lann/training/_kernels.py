"""The compiled walk of training: from candidates to distances, and from slopes back to gradients."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def forward(rows, candidates, alive, scales, points, weights, owners, epsilon, n_near):
    """The nearest surviving candidates of each query, as points and weights are now.

    Parameters
    ----------
    rows : (n_queries,) which training points are the queries
    candidates : (n_queries, C) their candidates, -1 for none
    alive : (n_queries, C) which candidates survive the dropout
    scales : (n_features,) 1, or 0 for a feature dropped from this batch
    points : (n_points, n_features) on their curves
    weights, owners : (n_owners, n_features), (n_points,) whose weights a point measures with

    Returns
    -------
    near, distances : (n_queries, n_near) in no order, distances with ε
    counts : (n_queries,) how many are filled
    """
    n_queries, n_candidates = candidates.shape
    near = np.full((n_queries, n_near), -1, np.int64)
    distances = np.full((n_queries, n_near), np.inf)
    counts = np.zeros(n_queries, np.int64)
    for q in range(n_queries):
        query = points[rows[q]]
        count, worst = 0, 0
        for c in range(n_candidates):
            j = candidates[q, c]
            if j < 0 or not alive[q, c]:
                continue
            found = epsilon + _scaled_distance(query, points[j], weights[owners[j]], scales)
            if count < n_near:
                place = count
                count += 1
            elif found < distances[q, worst]:
                place = worst
            else:
                continue
            distances[q, place], near[q, place] = found, j
            worst = 0
            for slot in range(1, count):
                if distances[q, slot] > distances[q, worst]:
                    worst = slot
        counts[q] = count
    return near, distances, counts


@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def _scaled_distance(x, point, weights, scales):
    total = 0.0
    for f in range(x.shape[0]):
        difference = scales[f] * (x[f] - point[f])
        total += weights[f] * difference * difference
    return total


@njit(nogil=True, cache=True)
def backward_weights(rows, near, counts, loss_slopes, scales, points, weights, owners, gradient):
    """Add ∂loss/∂log w = slope · w · difference² to the gradient of each neighbor's owner."""
    for q in range(near.shape[0]):
        query = points[rows[q]]
        for slot in range(counts[q]):
            point, owner = points[near[q, slot]], owners[near[q, slot]]
            slope = loss_slopes[q, slot]
            for f in range(query.shape[0]):
                difference = point[f] - query[f]
                gradient[owner, f] += slope * scales[f] * weights[owner, f] * difference * difference


@njit(nogil=True, cache=True)
def mix_with_neighbors(values, neighbors, strength):
    """Move each row toward the mean of its neighbors' rows; -1 marks a missing neighbor."""
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
                for f in range(n_columns):
                    mean[f] += values[j, f]
        if count > 0:
            for f in range(n_columns):
                mixed[i, f] += strength * (mean[f] / count - values[i, f])
    return mixed
