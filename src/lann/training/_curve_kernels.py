"""The compiled walk of a batch through curves: only the points that it needs are bent, and learned from."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def renumber(rows, candidates, alive, place):
    """Number the points of a batch from 0 on.

    Parameters
    ----------
    rows : (n_queries,)
    candidates, alive : (n_queries, C) as `lann.training._kernels.forward` takes them
    place : (n_points,) all -1, as they are again in the end

    Returns
    -------
    used : (n_used,) the points, in the order of their new numbers
    new_rows, new_candidates : the same batch in the new numbers
    """
    used = np.empty(rows.size + candidates.size, np.int64)
    new_rows = np.empty(rows.shape[0], np.int64)
    new_candidates = np.full(candidates.shape, -1, np.int64)
    n_used = 0
    for q in range(rows.shape[0]):
        i = rows[q]
        if place[i] < 0:
            place[i] = n_used
            used[n_used] = i
            n_used += 1
        new_rows[q] = place[i]
        for c in range(candidates.shape[1]):
            j = candidates[q, c]
            if j < 0 or not alive[q, c]:
                continue
            if place[j] < 0:
                place[j] = n_used
                used[n_used] = j
                n_used += 1
            new_candidates[q, c] = place[j]
    for number in range(n_used):
        place[used[number]] = -1
    return used[:n_used], new_rows, new_candidates


@njit(nogil=True, cache=True)
def bend(cells, offsets, used, starts, slopes):
    """Curved values of some points: (n_used, n_features).

    cells : (n_points, n_features) the flat index of each value's bin; starts, slopes : (n_features, n_bins)
    """
    flat_starts, flat_slopes = starts.ravel(), slopes.ravel()
    out = np.empty((used.shape[0], cells.shape[1]))
    for number in range(used.shape[0]):
        i = used[number]
        for f in range(cells.shape[1]):
            cell = cells[i, f]
            out[number, f] = flat_starts[cell] + flat_slopes[cell] * offsets[i, f]
    return out


@njit(nogil=True, cache=True)
def backward_points(rows, near, counts, loss_slopes, scales, points, weights, owners):
    """∂loss/∂point = 2 · slope · w · difference, summed over all in which a point takes part: as `points`."""
    gradient = np.zeros(points.shape)
    for q in range(near.shape[0]):
        i = rows[q]
        for slot in range(counts[q]):
            j = near[q, slot]
            owner = owners[j]
            slope = 2.0 * loss_slopes[q, slot]
            for f in range(gradient.shape[1]):
                pull = slope * scales[f] * weights[owner, f] * (points[j, f] - points[i, f])
                gradient[j, f] += pull
                gradient[i, f] -= pull
    return gradient


@njit(nogil=True, cache=True)
def gather_bins(cells, offsets, used, gradient, sums, moments):
    """Sums and moments of the points' gradients per bin, as `FeatureCurves.slope_gradient` takes them.

    gradient : (n_used, n_features); sums, moments : (n_features, n_bins), added to
    """
    flat_sums, flat_moments = sums.ravel(), moments.ravel()
    for number in range(used.shape[0]):
        i = used[number]
        for f in range(cells.shape[1]):
            pull = gradient[number, f]
            flat_sums[cells[i, f]] += pull
            flat_moments[cells[i, f]] += pull * offsets[i, f]
