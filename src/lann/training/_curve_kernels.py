"""Compiled functions of training with curves: values on the curves, and gradients by bin.

Only the points that a batch uses are computed.
"""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def compact_batch(rows, candidates, kept, position):
    """Return the points that a batch uses, and its queries and candidates as positions among these.

    Parameters
    ----------
    rows, candidates, kept
        Of a `Batch`.
    position : (n_points,)
        All -1, before and after.

    Returns
    -------
    used : (n_used,)
        The queries and their kept candidates, in order of appearance.
    rows : (n_queries,)
    candidates : (n_queries, n_candidates)
        -1 for candidates that are dropped.
    """
    used = np.empty(rows.size + candidates.size, np.int64)
    new_rows = np.empty(rows.shape[0], np.int64)
    new_candidates = np.full(candidates.shape, -1, np.int64)
    n_used = 0
    for q in range(rows.shape[0]):
        i = rows[q]
        if position[i] < 0:
            position[i] = n_used
            used[n_used] = i
            n_used += 1
        new_rows[q] = position[i]
        for c in range(candidates.shape[1]):
            j = candidates[q, c]
            if j < 0 or not kept[q, c]:
                continue
            if position[j] < 0:
                position[j] = n_used
                used[n_used] = j
                n_used += 1
            new_candidates[q, c] = position[j]
    for number in range(n_used):
        position[used[number]] = -1
    return used[:n_used], new_rows, new_candidates


@njit(nogil=True, cache=True)
def curve_values(cells, offsets, used, starts, slopes):
    """Return some points on the curves without their jumps: (n_used, n_features).

    cells : (n_points, n_features) flat index of the bin of each value, in (n_features, n_bins)
    offsets : (n_points, n_features) from the origins of the bins; used : (n_used,)
    starts, slopes : (n_features, n_bins)
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
def add_by_bin(cells, offsets, used, gradient, sums, moments):
    """Add the gradients of some points to the sums by bin that `FeatureCurves.slope_gradient` takes.

    cells, offsets, used : as for `curve_values`; gradient : (n_used, n_features)
    sums, moments : (n_features, n_bins), changed in place
    """
    flat_sums, flat_moments = sums.ravel(), moments.ravel()
    for number in range(used.shape[0]):
        i = used[number]
        for f in range(cells.shape[1]):
            flat_sums[cells[i, f]] += gradient[number, f]
            flat_moments[cells[i, f]] += gradient[number, f] * offsets[i, f]


@njit(nogil=True, cache=True)
def add_jumps(features, counts, used, heights, curved):
    """Add the jumps of the curves to some points on them.

    features : (n_jumping,) that have thresholds
    counts : (n_points, n_jumping) thresholds to the left of each value; used : (n_used,)
    heights : (n_features, n_steps + 1) sum of the first jumps; curved : (n_used, n_features), changed in place
    """
    for number in range(used.shape[0]):
        i = used[number]
        for column in range(features.shape[0]):
            f = features[column]
            curved[number, f] += heights[f, counts[i, column]]


@njit(nogil=True, cache=True)
def jump_gradient(features, counts, used, gradient, shape):
    """Return the gradient with respect to the jumps: the sum over the values to the right of each.

    features, counts, used : as for `add_jumps`; gradient : (n_used, n_features); shape : of the jumps
    """
    by_jump = np.zeros(shape)
    for number in range(used.shape[0]):
        i = used[number]
        for column in range(features.shape[0]):
            if counts[i, column] > 0:
                f = features[column]
                by_jump[f, counts[i, column] - 1] += gradient[number, f]
    for step in range(shape[1] - 2, -1, -1):
        by_jump[:, step] += by_jump[:, step + 1]
    return by_jump
