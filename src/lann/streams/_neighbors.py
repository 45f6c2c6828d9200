"""Kernels that measure rows, find the nearest of them, and let these vote."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Labels
from lann.vote import HUGE

# Rows that are measured at once: their distances stay in the fastest cache.
BLOCK = 512
# A neighbor counts at most this many times as much as the farthest that votes.
LARGEST_RATIO = 1e9


@njit(nogil=True, cache=True)
def has_gaps(x: Floats) -> bool:
    """Return whether a value is missing."""
    return bool(np.isnan(x).any())


@njit(nogil=True, cache=True)
def squared_distances(X: Floats, start: int, stop: int, x: Floats, gaps: bool, out: Floats) -> None:
    """Compute the squared distances of x to the columns from `start` to `stop` of X.

    Every sum is over the features in order, so that a distance does not depend on the position of the row.
    With gaps, it is the sum over the features that both have, times the share of these among all; rows
    without a common feature are at the distance HUGE.

    Parameters
    ----------
    X : (n_features, capacity)
    start, stop : int
    x : (n_features,)
    gaps : bool
        Whether values of X or x can be missing.
    out : (capacity,)
        Set in the columns from `start` to `stop`.
    """
    for first in range(start, stop, BLOCK):
        last = min(first + BLOCK, stop)
        if gaps:
            _measure_with_gaps(X, first, last, x, out[first:last])
        else:
            _measure(X, first, last, x, out[first:last])


@njit(nogil=True, cache=True)
def _measure(X: Floats, start: int, stop: int, x: Floats, out: Floats) -> None:
    n_features, n_rows = len(x), stop - start
    out[:] = 0.0
    feature = 0
    # Four features at once, to load and store the sums less often.
    while feature + 4 <= n_features:
        # Slices of one feature are contiguous, which the compiler has to know.
        first, second = X[feature][start:stop], X[feature + 1][start:stop]
        third, fourth = X[feature + 2][start:stop], X[feature + 3][start:stop]
        a, b, c, d = x[feature], x[feature + 1], x[feature + 2], x[feature + 3]
        for row in range(n_rows):
            step = first[row] - a
            total = out[row] + step * step
            step = second[row] - b
            total += step * step
            step = third[row] - c
            total += step * step
            step = fourth[row] - d
            out[row] = total + step * step
        feature += 4
    while feature < n_features:
        values, a = X[feature][start:stop], x[feature]
        for row in range(n_rows):
            step = values[row] - a
            out[row] += step * step
        feature += 1


@njit(nogil=True, cache=True)
def _measure_with_gaps(X: Floats, start: int, stop: int, x: Floats, out: Floats) -> None:
    n_features, n_rows = len(x), stop - start
    common = np.zeros(n_rows)
    out[:] = 0.0
    for feature in range(n_features):
        values, a = X[feature][start:stop], x[feature]
        if np.isnan(a):
            continue
        for row in range(n_rows):
            step = values[row] - a
            both = step == step  # not NaN
            out[row] += step * step if both else 0.0
            common[row] += 1.0 if both else 0.0
    scale_up(out, common, n_features)


@njit(nogil=True, cache=True)
def scale_up(out: Floats, common: Floats, n_features: int) -> None:
    """Scale distances over some common features up to all; without a common feature, they are HUGE."""
    for row in range(len(out)):
        if common[row] == 0.0:
            out[row] = HUGE
        elif common[row] < n_features:
            out[row] *= n_features / common[row]


@njit(nogil=True, cache=True)
def extend_nearest(
    distances: Floats, low: int, high: int, nearest: NDArray[np.int64], lengths: Floats, n_found: int
) -> int:
    """Add the columns from `high` - 1 down to `low` to the nearest; return how many there are.

    Of columns at the same distance, the lower one comes first: the older row, as in the authors' program.

    Parameters
    ----------
    distances : (capacity,)
        Squared.
    low, high : int
    nearest, lengths : (k,)
        Columns and squared distances of the nearest so far, ascending.
    n_found : int
        How many there are so far.
    """
    k = len(nearest)
    limit = lengths[k - 1] if n_found == k else np.inf
    for column in range(high - 1, low - 1, -1):
        distance = distances[column]
        if distance <= limit:
            n_found = insert_nearest(column, distance, nearest, lengths, n_found)
            if n_found == k:
                limit = lengths[k - 1]
    return n_found


@njit(nogil=True, cache=True)
def insert_nearest(
    column: int, distance: float, nearest: NDArray[np.int64], lengths: Floats, n_found: int
) -> int:
    """Insert a column among the nearest, before those at the same distance; return how many there are."""
    k = len(nearest)
    position = n_found
    if n_found == k:
        position -= 1
    while position > 0 and lengths[position - 1] >= distance:
        lengths[position], nearest[position] = lengths[position - 1], nearest[position - 1]
        position -= 1
    lengths[position], nearest[position] = distance, column
    return min(n_found + 1, k)


@njit(nogil=True, cache=True)
def vote_weights(lengths: Floats, n_found: int, weights: Floats) -> None:
    """Compute the weight of each neighbor: 1/d, relative to the farthest of them.

    Distances below 1e-9 of the farthest count as that much: no weight overflows, in whatever unit.

    Parameters
    ----------
    lengths : (k,)
        Squared distances, ascending.
    n_found : int
        Number of neighbors.
    weights : (k,)
        Set for the neighbors.
    """
    farthest = np.sqrt(lengths[n_found - 1]) if n_found else 0.0
    for i in range(n_found):
        if farthest == 0.0:
            weights[i] = 1.0
        else:
            weights[i] = farthest / max(np.sqrt(lengths[i]), farthest / LARGEST_RATIO)


@njit(nogil=True, cache=True)
def vote(labels: Labels, lengths: Floats, n_found: int, weights: Floats, support: Floats) -> int:
    """Return the class index with the largest weight among neighbors, the lower one on a tie; -1 for none.

    Parameters
    ----------
    labels, lengths : (k,)
        Class indices and squared distances of the neighbors, nearest first.
    n_found : int
        Number of neighbors.
    weights : (k,)
        Set for the neighbors.
    support : (n_classes,)
        All 0, also afterwards.
    """
    vote_weights(lengths, n_found, weights)
    for i in range(n_found):
        support[labels[i]] += weights[i]
    best, largest = -1, 0.0
    for i in range(n_found):
        label = labels[i]
        if support[label] > largest or (support[label] == largest and label < best):
            best, largest = label, support[label]
    for i in range(n_found):
        support[labels[i]] = 0.0
    return best
