"""Kernels that clean rows by newer ones: what the short-term memory contradicts is removed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.streams._memory import HAS_GAPS, N_LONG, START, STOP, Limits, Memories
from lann.streams._neighbors import extend_nearest, insert_nearest, squared_distances


@njit(nogil=True, cache=True)
def same_class_radius(label: int, labels: Labels, nearest: Indices, lengths: Floats, n_found: int) -> float:
    """Return the largest squared distance to a neighbor with the label; -1 if there is none."""
    radius = -1.0
    for i in range(n_found):
        if labels[nearest[i]] == label:
            radius = max(radius, lengths[i])
    return radius


@njit(nogil=True, cache=True)
def remove_long(memories: Memories, removed: NDArray[np.bool_]) -> None:
    """Remove long-term rows; the others keep their order."""
    counters = memories.counters
    kept = 0
    for column in range(counters[N_LONG]):
        if removed[column]:
            continue
        if kept < column:
            memories.long_X[:, kept] = memories.long_X[:, column]
            memories.long_extras[:, kept] = memories.long_extras[:, column]
            memories.long_labels[kept] = memories.long_labels[column]
            memories.long_arrivals[kept] = memories.long_arrivals[column]
            memories.long_sizes[kept] = memories.long_sizes[column]
        kept += 1
    counters[N_LONG] = kept


@njit(nogil=True, cache=True)
def clean_long(
    memories: Memories, label: int, radius: float, nearest: Indices, lengths: Floats, n_found: int
) -> None:
    """Remove the nearest long-term rows that have another label and are within the radius.

    Parameters
    ----------
    memories : Memories
    label : int
        Class index of the newest row.
    radius : float
        Squared.
    nearest, lengths : (k,)
        The long-term rows nearest to the newest row.
    n_found : int
        How many there are.
    """
    removed = np.zeros(0, np.bool_)
    for i in range(n_found):
        if lengths[i] <= radius and memories.long_labels[nearest[i]] != label:
            if len(removed) == 0:
                removed = np.zeros(memories.counters[N_LONG], np.bool_)
            removed[nearest[i]] = True
    if len(removed):
        remove_long(memories, removed)


@njit(nogil=True, cache=True)
def contradicted(memories: Memories, limits: Limits, low: int) -> NDArray[np.bool_]:
    """Return which short-term rows before the column `low` are removed by the rows from `low` on.

    Each of these rows, oldest first, removes among the k nearest that are left those that have another label
    and are not farther than its own farthest same-class neighbor among its k nearest from `low` on.

    Parameters
    ----------
    memories : Memories
    limits : Limits
    low : int

    Returns
    -------
    removed : (n_columns,)
        By column; False from `low` on.
    """
    k = limits.n_neighbors
    start, stop = memories.counters[START], memories.counters[STOP]
    gaps = memories.counters[HAS_GAPS] != 0
    removed = np.zeros(stop, np.bool_)
    if stop - low <= k:
        return removed
    labels, X = memories.short_labels, memories.short_X
    distances = np.empty(stop)
    nearest, lengths = np.empty(k, np.int64), np.empty(k)
    for column in range(low, stop):
        x = X[:, column].copy()
        squared_distances(X, start, stop, x, gaps, distances)
        n_found = extend_nearest(distances, column + 1, stop, nearest, lengths, 0)
        n_found = extend_nearest(distances, low, column, nearest, lengths, n_found)
        radius = same_class_radius(labels[column], labels, nearest, lengths, n_found)
        if radius < 0.0:
            continue
        n_found = 0
        for other in range(low - 1, start - 1, -1):
            if not removed[other] and (n_found < k or distances[other] <= lengths[k - 1]):
                n_found = insert_nearest(other, distances[other], nearest, lengths, n_found)
        for i in range(n_found):
            if lengths[i] <= radius and labels[nearest[i]] != labels[column]:
                removed[nearest[i]] = True
    return removed
