"""Compiled leaves of the search: a running shortlist over tiles, and the exact order of a few candidates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit

from lann._types import Floats, Indices

# The scan of a tile passes over this many values at a time.
GROUP = 32


@njit(nogil=True, cache=True)
def scan_tile(tile, first, values, indices, counts, limits, keep):
    """Merge one tile of distances into each query's running list of the `keep` smallest.

    A list may grow to its capacity before it is cut back to `keep`: then most values cost one comparison,
    a group of them at a time. Within a group that holds something near, every value is written and the
    count moves on only past the near ones: no branch to mispredict.

    tile: (n_queries, n_groups, GROUP); first: index of the tile's first point
    values, indices: (n_queries, capacity), capacity at least keep + 2 GROUP; counts, limits: (n_queries,)
    """
    n_queries, n_groups, size = tile.shape  # a size known only at run time is what LLVM vectorizes best
    full = np.uint64(values.shape[1] - size)
    for query in range(n_queries):
        # An unsigned count needs no check for an index from the end.
        limit, count = limits[query], np.uint64(counts[query])
        row_values, row_indices = values[query], indices[query]
        for group in range(n_groups):
            row = tile[query, group]
            hits = np.int32(0)
            for place in range(size):
                hits += np.int32(row[place] < limit)
            if hits == 0:
                continue
            start = first + group * size
            for place in range(size):
                row_values[count] = row[place]
                row_indices[count] = start + place
                count += np.uint64(row[place] < limit)
            if count > full:
                _partition(row_values, row_indices, np.int64(count), keep - 1)
                count, limit = np.uint64(keep), row_values[keep - 1]
        counts[query], limits[query] = np.int64(count), limit


@njit(nogil=True, cache=True)
def finish_lists(values, indices, counts, limits, keep):
    """Cut every list to its `keep` smallest; afterwards `limits` bounds from below whatever was left out."""
    for query in range(values.shape[0]):
        if counts[query] > keep:
            _partition(values[query], indices[query], counts[query], keep - 1)
            counts[query], limits[query] = keep, values[query, keep - 1]


@njit(nogil=True, cache=True)
def _partition(values, indices, size, nth):
    """Rearrange both arrays so that values[nth] is the one of a sorted array, smaller ones before it."""
    low, high = 0, size - 1
    while low < high:
        pivot = values[(low + high) // 2]
        left, right = low, high
        while left <= right:
            while values[left] < pivot:
                left += 1
            while values[right] > pivot:
                right -= 1
            if left <= right:
                values[left], values[right] = values[right], values[left]
                indices[left], indices[right] = indices[right], indices[left]
                left += 1
                right -= 1
        if nth <= right:
            high = right
        elif nth >= left:
            low = left
        else:
            return


def together(blocks: Iterable[tuple[Indices, Floats]]) -> tuple[Indices, Floats]:
    """The indices and distances of blocks of queries, as one pair of arrays."""
    indices, distances = zip(*blocks, strict=True)
    return np.concatenate(indices), np.concatenate(distances)


@njit(nogil=True, cache=True)
def smallest(distances, indices, k):
    """The k smallest of each row, in order, equal distances by index: (n_queries, k) twice.

    A negative index marks an empty slot.
    """
    n_queries, n_candidates = distances.shape
    best_distances = np.full((n_queries, k), np.inf)
    best_indices = np.full((n_queries, k), -1, np.int64)
    for query in range(n_queries):
        for slot in range(n_candidates):
            if indices[query, slot] >= 0:
                insert(
                    best_distances[query], best_indices[query], distances[query, slot], indices[query, slot]
                )
    return best_indices, best_distances


@njit(nogil=True, cache=True)
def insert(distances, indices, distance, index):
    """Insert into a sorted list of fixed length, dropping its last entry, if the newcomer comes before it."""
    place = distances.shape[0] - 1
    if not _before(distance, index, distances[place], indices[place]):
        return
    while place > 0 and _before(distance, index, distances[place - 1], indices[place - 1]):
        distances[place], indices[place] = distances[place - 1], indices[place - 1]
        place -= 1
    distances[place], indices[place] = distance, index


@njit(nogil=True, cache=True)
def count_found(indices):
    """How many entries of such a list are filled: the first ones."""
    n_found = 0
    while n_found < indices.shape[0] and indices[n_found] >= 0:
        n_found += 1
    return n_found


@njit(nogil=True, cache=True)
def _before(distance, index, other_distance, other_index):
    if distance != other_distance:
        return distance < other_distance
    return other_index < 0 or index < other_index
