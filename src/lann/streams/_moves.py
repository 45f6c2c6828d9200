"""Kernels that move rows: to the first columns, to the long-term memory, and out of both."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann.streams._cleaning import contradicted, remove_long
from lann.streams._compression import compress
from lann.streams._memory import (
    MAX_BEFORE,
    MAX_DRIFTS,
    N_BEFORE,
    N_DRIFTS,
    N_LONG,
    N_SEEN,
    START,
    STOP,
    Limits,
    Memories,
)


@njit(nogil=True, cache=True)
def make_room(memories: Memories) -> None:
    """Move the short-term rows to the first columns if there is no column for another row."""
    counters = memories.counters
    start, stop = counters[START], counters[STOP]
    if stop < memories.short_X.shape[1]:
        return
    n_rows = stop - start
    # Column by column upward: a row is read before it is overwritten.
    for feature in range(memories.short_X.shape[0]):
        for i in range(n_rows):
            memories.short_X[feature, i] = memories.short_X[feature, start + i]
    for extra in range(memories.short_extras.shape[0]):
        for i in range(n_rows):
            memories.short_extras[extra, i] = memories.short_extras[extra, start + i]
    for i in range(n_rows):
        memories.short_labels[i] = memories.short_labels[start + i]
        memories.short_arrivals[i] = memories.short_arrivals[start + i]
        memories.hits[:, i] = memories.hits[:, start + i]
        memories.window_hits[:, i] = memories.window_hits[:, start + i]
    for window in range(len(memories.window_starts)):
        if memories.window_starts[window] >= 0:
            memories.window_starts[window] -= start
    counters[START], counters[STOP] = 0, n_rows


@njit(nogil=True, cache=True)
def append_long(memories: Memories, column: int) -> None:
    """Append a short-term row to the long-term memory."""
    last = memories.counters[N_LONG]
    memories.long_X[:, last] = memories.short_X[:, column]
    memories.long_extras[:, last] = memories.short_extras[:, column]
    memories.long_labels[last] = memories.short_labels[column]
    memories.long_arrivals[last] = memories.short_arrivals[column]
    memories.long_sizes[last] = 1.0
    memories.counters[N_LONG] = last + 1


@njit(nogil=True, cache=True)
def forget_short(memories: Memories, n_rows: int) -> None:
    """Remove the oldest short-term rows, and the hits of the votes about them."""
    start = memories.counters[START]
    for number in range(len(memories.hit_counts)):
        for column in range(start, start + n_rows):
            memories.hit_counts[number] -= memories.hits[number, column]
    memories.counters[START] = start + n_rows


@njit(nogil=True, cache=True)
def limit_sizes(memories: Memories, limits: Limits) -> bool:
    """Compress the long-term memory if both are full; return whether something has changed.

    Unless it is beyond its own limit, it first takes over so many of the oldest short-term rows.
    """
    counters = memories.counters
    n_short, n_long = counters[STOP] - counters[START], counters[N_LONG]
    if n_short + n_long <= limits.total:
        return False
    if n_long <= limits.long:
        n_moved = limits.long - n_long + 1
        for column in range(counters[START], counters[START] + n_moved):
            append_long(memories, column)
        forget_short(memories, n_moved)
        memories.window_starts[:] = -1
    compress(memories)
    # With as many classes as rows, compression removes none.
    surplus = counters[STOP] - counters[START] + counters[N_LONG] - limits.total
    if surplus > 0:
        removed = np.zeros(counters[N_LONG], np.bool_)
        for column in np.argsort(memories.long_arrivals[: counters[N_LONG]], kind="mergesort")[:surplus]:
            removed[column] = True
        remove_long(memories, removed)
    return True


@njit(nogil=True, cache=True)
def shrink(memories: Memories, limits: Limits, best: int) -> None:
    """Make a candidate window the short-term memory; older rows go to the long-term memory, cleaned."""
    counters = memories.counters
    start, stop, low = counters[START], counters[STOP], memories.window_starts[best]
    _keep_some(memories, start, low)
    removed = contradicted(memories, limits, low)
    for column in range(start, low):
        if not removed[column]:
            append_long(memories, column)
    forget_short(memories, low - start)
    n_windows = len(memories.window_starts)
    for window in range(n_windows):
        other = window + best
        if other < n_windows:
            memories.window_starts[window] = memories.window_starts[other]
            memories.window_counts[window] = memories.window_counts[other]
            memories.window_hits[window, low:stop] = memories.window_hits[other, low:stop]
        else:
            memories.window_starts[window] = -1
    drift = memories.drifts[counters[N_DRIFTS] % MAX_DRIFTS]
    drift[0], drift[1], drift[2] = counters[N_SEEN] - 1, stop - start, stop - low
    counters[N_DRIFTS] += 1


@njit(nogil=True, cache=True)
def _keep_some(memories: Memories, start: int, stop: int) -> None:
    """Keep some of the rows that a drift removes, evenly spaced, with the newest of them."""
    n_kept = min(stop - start, MAX_BEFORE)
    for i in range(n_kept):
        column = start + ((i + 1) * (stop - start)) // n_kept - 1
        memories.before_X[:, i] = memories.short_X[:, column]
        memories.before_labels[i] = memories.short_labels[column]
        memories.before_arrivals[i] = memories.short_arrivals[column]
    memories.counters[N_BEFORE] = n_kept
