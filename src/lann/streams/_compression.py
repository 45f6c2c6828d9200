"""Kernels that compress the long-term memory: k-means of each class, with half as many centers as rows."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.streams._memory import HAS_GAPS, N_COMPRESSIONS, N_LONG, SEED, Memories
from lann.streams._neighbors import squared_distances

MAX_ITER = 100


@njit(nogil=True, cache=True)
def next_random(state: NDArray[np.uint64]) -> float:
    """Return a random number from 0 to 1 (splitmix64), and advance the state: (1,)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    bits = state[0]
    bits = (bits ^ (bits >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    bits = (bits ^ (bits >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    bits = bits ^ (bits >> np.uint64(31))
    return np.float64(bits >> np.uint64(11)) / 9007199254740992.0


@njit(nogil=True, cache=True)
def compress(memories: Memories) -> None:
    """Replace the long-term rows of each class by half as many means of rows near each other."""
    counters = memories.counters
    n_rows, n_features = counters[N_LONG], memories.long_X.shape[0]
    state = np.empty(1, np.uint64)
    state[0] = np.uint64(counters[SEED]) * np.uint64(0x2545F4914F6CDD1D) + np.uint64(counters[N_COMPRESSIONS])
    counters[N_COMPRESSIONS] += 1
    labels = memories.long_labels[:n_rows].copy()
    X, extras = memories.long_X[:, :n_rows].copy(), memories.long_extras[:, :n_rows].copy()
    arrivals, sizes = memories.long_arrivals[:n_rows].copy(), memories.long_sizes[:n_rows].copy()
    gaps = counters[HAS_GAPS] != 0
    n_kept = 0
    for label in range(len(memories.known)):
        rows = np.flatnonzero(labels == label)
        if len(rows) == 0:
            continue
        n_centers = max(len(rows) // 2, 1)
        own = np.empty((n_features, len(rows)))
        for i in range(len(rows)):
            own[:, i] = X[:, rows[i]]
        centers, members = k_means(own, n_centers, gaps, state)
        for center in range(n_centers):
            column = n_kept + center
            memories.long_X[:, column] = centers[:, center]
            memories.long_labels[column] = label
            _merge(memories, column, rows[members == center], extras, arrivals, sizes)
        n_kept += n_centers
    counters[N_LONG] = n_kept


@njit(nogil=True, cache=True)
def _merge(
    memories: Memories, column: int, rows: Indices, extras: Floats, arrivals: Floats, sizes: Floats
) -> None:
    """Set the size, mean arrival and mean extras of the long-term row that stands for some rows."""
    total, arrival = 0.0, 0.0
    mean = np.zeros(extras.shape[0])
    for row in rows:
        total += sizes[row]
        arrival += sizes[row] * arrivals[row]
        mean += sizes[row] * extras[:, row]
    memories.long_sizes[column] = total
    memories.long_arrivals[column] = arrival / total
    memories.long_extras[:, column] = mean / total


@njit(nogil=True, cache=True)
def k_means(X: Floats, n_centers: int, gaps: bool, state: NDArray[np.uint64]) -> tuple[Floats, Indices]:
    """Return the centers of k-means, from a start by k-means++, and the center of each row.

    A pass measures only what can have changed: rows to the centers that moved, and rows whose own center has
    moved away from them to the others. Every center keeps at least one row.

    Parameters
    ----------
    X : (n_features, n_rows)
    n_centers : int
        At most `n_rows`.
    gaps : bool
        Whether values can be missing.
    state : (1,)
        Of the random numbers.

    Returns
    -------
    centers : (n_features, n_centers)
    members : (n_rows,)
    """
    n_rows = X.shape[1]
    centers, members, nearest = start_centers(X, n_centers, gaps, state)
    distances = np.empty(max(n_rows, n_centers))
    moved, away = np.empty(n_centers, np.bool_), np.empty(n_rows, np.bool_)
    for _ in range(MAX_ITER):
        if not move_centers(X, centers, members, moved):
            break
        for row in range(n_rows):
            away[row] = False
            if moved[members[row]]:
                before = nearest[row]
                own = members[row]
                x = X[:, row].copy()
                squared_distances(centers, own, own + 1, x, gaps, distances)
                nearest[row] = distances[own]
                away[row] = nearest[row] > before
        changed = False
        for row in range(n_rows):
            if away[row]:
                x = X[:, row].copy()
                squared_distances(centers, 0, n_centers, x, gaps, distances)
                for center in range(n_centers):
                    if distances[center] < nearest[row]:
                        nearest[row], members[row], changed = distances[center], center, True
        for center in range(n_centers):
            if moved[center]:
                x = centers[:, center].copy()
                squared_distances(X, 0, n_rows, x, gaps, distances)
                for row in range(n_rows):
                    if distances[row] < nearest[row]:
                        nearest[row], members[row], changed = distances[row], center, True
        keep_one_member(members, nearest, n_centers)
        if not changed:
            break
    return centers, members


@njit(nogil=True, cache=True)
def start_centers(
    X: Floats, n_centers: int, gaps: bool, state: NDArray[np.uint64]
) -> tuple[Floats, Indices, Floats]:
    """Draw rows as centers by k-means++: each with a probability in proportion to its squared distance.

    Returns the centers, the center of each row, and the squared distance to it.
    """
    n_features, n_rows = X.shape
    centers, members = np.empty((n_features, n_centers)), np.zeros(n_rows, np.int64)
    nearest, distances = np.full(n_rows, np.inf), np.empty(n_rows)
    is_center = np.zeros(n_rows, np.bool_)
    for center in range(n_centers):
        row = _draw(nearest, is_center, center, next_random(state))
        is_center[row] = True
        centers[:, center] = X[:, row]
        x = X[:, row].copy()
        squared_distances(X, 0, n_rows, x, gaps, distances)
        for other in range(n_rows):
            if distances[other] < nearest[other]:
                nearest[other], members[other] = distances[other], center
        # Of rows that are equal, each is its own center.
        nearest[row], members[row] = 0.0, center
    return centers, members, nearest


@njit(nogil=True, cache=True)
def _draw(nearest: Floats, is_center: NDArray[np.bool_], n_drawn: int, number: float) -> int:
    """Return the next center; if all rows are equal to a center, any row that is none."""
    n_rows = len(nearest)
    total = 0.0
    if n_drawn > 0:
        for row in range(n_rows):
            if not is_center[row]:
                total += nearest[row]
    uniform = not (0.0 < total < np.inf)
    threshold = number * (n_rows - n_drawn if uniform else total)
    passed, last = 0.0, 0
    for row in range(n_rows):
        weight = 1.0 if uniform else nearest[row]
        if is_center[row] or weight == 0.0:
            continue
        passed += weight
        last = row
        if passed > threshold:
            return row
    return last


@njit(nogil=True, cache=True)
def move_centers(X: Floats, centers: Floats, members: Indices, moved: NDArray[np.bool_]) -> bool:
    """Move every center to the mean of its rows; note which have moved, and return whether one has.

    Missing values do not count; a center has a gap where all of its rows have one.
    """
    n_features, n_rows = X.shape
    n_centers = centers.shape[1]
    moved[:] = False
    sums, counts = np.empty(n_centers), np.empty(n_centers)
    for feature in range(n_features):
        sums[:], counts[:] = 0.0, 0.0
        for row in range(n_rows):
            value = X[feature, row]
            if value == value:  # not NaN
                sums[members[row]] += value
                counts[members[row]] += 1.0
        for center in range(n_centers):
            mean = sums[center] / counts[center] if counts[center] > 0.0 else np.nan
            before = centers[feature, center]
            if mean != before and not (np.isnan(mean) and np.isnan(before)):
                centers[feature, center] = mean
                moved[center] = True
    return bool(moved.any())


@njit(nogil=True, cache=True)
def keep_one_member(members: Indices, nearest: Floats, n_centers: int) -> None:
    """Give every center without a row the row that is farthest from its center, among those not alone."""
    sizes = np.zeros(n_centers, np.int64)
    for member in members:
        sizes[member] += 1
    for center in range(n_centers):
        if sizes[center] > 0:
            continue
        farthest = -1
        for row in range(len(members)):
            if sizes[members[row]] > 1 and (farthest < 0 or nearest[row] > nearest[farthest]):
                farthest = row
        sizes[members[farthest]] -= 1
        sizes[center] = 1
        members[farthest] = center
        nearest[farthest] = np.inf
