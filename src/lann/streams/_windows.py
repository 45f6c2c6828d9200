"""Kernels for the candidate windows: how well the rows of each predict its own next rows.

Window j has the newest n // 2^j short-term rows. A row of a window is predicted by the rows before it in the
window; the accuracy over all but the first k rows is what windows are compared by. When a window loses its
oldest row, its other rows keep their record: it is computed anew only if it could shrink the memory.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._support.types import Floats
from lann.streams._memory import HAS_GAPS, START, STOP, Limits, Memories
from lann.streams._neighbors import extend_nearest, squared_distances, vote


@njit(nogil=True, cache=True)
def count_windows(n_rows: int, smallest: int) -> int:
    """Return the number of candidate windows of so many short-term rows; at least 1."""
    n_windows = 1
    while n_rows >> n_windows >= smallest:
        n_windows += 1
    return n_windows


@njit(nogil=True, cache=True)
def replay_window(memories: Memories, limits: Limits, window: int, low: int) -> None:
    """Predict every row of a window by the rows before it, and set its record.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    window : int
    low : int
        First column of the window.
    """
    k, stop = limits.n_neighbors, memories.counters[STOP]
    gaps = memories.counters[HAS_GAPS] != 0
    distances = np.empty(stop)
    nearest, labels = np.empty(k, np.int64), np.empty(k, np.int64)
    lengths, weights, support = np.empty(k), np.empty(k), np.zeros(len(memories.known))
    count = 0
    for column in range(low + k, stop):
        x = memories.short_X[:, column].copy()
        squared_distances(memories.short_X, low, column, x, gaps, distances)
        n_found = extend_nearest(distances, low, column, nearest, lengths, 0)
        for i in range(n_found):
            labels[i] = memories.short_labels[nearest[i]]
        predicted = vote(labels, lengths, n_found, weights, support)
        hit = predicted == memories.short_labels[column]
        memories.window_hits[window, column] = hit
        count += hit
    memories.window_starts[window], memories.window_counts[window] = low, count


@njit(nogil=True, cache=True)
def update_windows(memories: Memories, limits: Limits) -> None:
    """Bring the record of every window up to the newest row, whose hits are set already."""
    k, stop = limits.n_neighbors, memories.counters[STOP]
    n_rows = stop - memories.counters[START]
    n_windows = count_windows(n_rows, limits.smallest)
    starts, counts, hits = memories.window_starts, memories.window_counts, memories.window_hits
    for window in range(len(starts)):
        low = stop - (n_rows >> window)
        if window >= n_windows:
            starts[window] = -1
        elif starts[window] < 0 or low > starts[window] + 1:
            replay_window(memories, limits, window, low)
        else:
            if low == starts[window] + 1:
                counts[window] -= hits[window, low + k - 1]
                starts[window] = low
            if stop - 1 >= low + k:
                counts[window] += hits[window, stop - 1]


@njit(nogil=True, cache=True)
def best_window(memories: Memories, limits: Limits, accuracies: Floats) -> int:
    """Return the most accurate window: the largest of those within rounding.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    accuracies : (n_windows,)
        Set, in rounded ten thousandths.
    """
    k, stop = limits.n_neighbors, memories.counters[STOP]
    n_windows = count_windows(stop - memories.counters[START], limits.smallest)
    best = 0
    for window in range(n_windows):
        n_predicted = stop - memories.window_starts[window] - k
        share = memories.window_counts[window] / n_predicted if n_predicted > 0 else 0.0
        accuracies[window] = np.rint(share * 1e4)
        if accuracies[window] > accuracies[best]:
            best = window
    return best


@njit(nogil=True, cache=True)
def choose_window(memories: Memories, limits: Limits) -> int:
    """Return the window that becomes the short-term memory; records in favor of fewer rows are checked."""
    accuracies = np.empty(len(memories.window_starts))
    best = best_window(memories, limits, accuracies)
    if best == 0:
        return 0
    n_windows = count_windows(memories.counters[STOP] - memories.counters[START], limits.smallest)
    for window in range(1, n_windows):
        if accuracies[window] > accuracies[0]:
            replay_window(memories, limits, window, memories.window_starts[window])
    return best_window(memories, limits, accuracies)
