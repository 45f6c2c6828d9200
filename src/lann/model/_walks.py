"""Distances of rows on the way from a query to another row, feature by feature."""

from __future__ import annotations

import numpy as np
from numba import njit


# Sums may be reordered, so that they vectorize; the compiled code fixes the order, the same for every call.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def diagonal_walks(starts, steps, columns, firsts, orders, bounds, points, weights, candidates):
    """Return squared distances to candidates under diagonal metrics: (n_walks, 2, n_stops, n_candidates).

    A row on the way and its complement lie on opposite sides of the middle m, at m + a and m − a. Their
    squared distances to a candidate p are ‖m − p‖² + ‖a‖² ± 2 ⟨a, m − p⟩, in its metric: two sums for two
    rows.

    Parameters
    ----------
    starts : (n_walks, n_axes)
        The queries on the axes.
    steps : (n_walks, n_coordinates)
        From the coordinates of the query to those of the other row.
    columns : (n_coordinates, n_axes)
        The transposed linear map; without any row, the axes are the coordinates.
    firsts : (n_features + 1,)
        The first coordinate of each feature.
    orders, bounds, candidates
        As for `NeighborModel.walk_distances`.
    points : (n_points, n_axes)
    weights : (n_points, n_axes), or (1, n_axes) if shared
    """
    n_walks, n_candidates = candidates.shape
    n_axes, n_stops, is_mapped = starts.shape[1], len(bounds), columns.shape[0] > 0
    out = np.empty((n_walks, 2, n_stops, n_candidates))
    scales, slopes = np.empty((n_candidates, n_axes)), np.empty((n_candidates, n_axes))
    offsets, side, squares = np.empty(n_candidates), np.empty(n_axes), np.empty(n_axes)
    for walk in range(n_walks):
        side[:] = 0.0  # half the way, from the middle to the query
        for coordinate in range(steps.shape[1]):
            half = -0.5 * steps[walk, coordinate]
            if half != 0.0:
                if is_mapped:
                    for a in range(n_axes):
                        side[a] += half * columns[coordinate, a]
                else:
                    side[coordinate] += half
        for slot in range(n_candidates):
            j = max(candidates[walk, slot], 0)
            owner = j if len(weights) > 1 else 0
            total = 0.0
            for a in range(n_axes):
                weight, difference = weights[owner, a], starts[walk, a] - side[a] - points[j, a]
                scales[slot, a], slopes[slot, a] = weight, weight * difference
                total += weight * difference * difference
            offsets[slot] = total
        done = 0
        for stop in range(n_stops):
            moved = stop == 0
            while done < bounds[stop]:
                feature = orders[walk, done]
                for coordinate in range(firsts[feature], firsts[feature + 1]):
                    step = steps[walk, coordinate]
                    if step != 0.0:
                        moved = True
                        if is_mapped:
                            for a in range(n_axes):
                                side[a] += step * columns[coordinate, a]
                        else:
                            side[coordinate] += step
                done += 1
            if not moved:
                out[walk, 0, stop] = out[walk, 0, stop - 1]
                out[walk, 1, stop] = out[walk, 1, stop - 1]
                continue
            for a in range(n_axes):
                squares[a] = side[a] * side[a]
            for slot in range(n_candidates):
                if candidates[walk, slot] < 0:
                    out[walk, 0, stop, slot] = out[walk, 1, stop, slot] = np.inf
                    continue
                length, slope = 0.0, 0.0
                for a in range(n_axes):
                    length += scales[slot, a] * squares[a]
                    slope += slopes[slot, a] * side[a]
                middle = offsets[slot] + length
                out[walk, 0, stop, slot] = max(middle + 2.0 * slope, 0.0)  # rounding may go below 0
                out[walk, 1, stop, slot] = max(middle - 2.0 * slope, 0.0)
    return out
