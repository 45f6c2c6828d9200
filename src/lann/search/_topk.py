"""Compiled functions of the search: a running shortlist over tiles, and the order of a few candidates."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numba import njit

from lann._support.types import Floats, Indices

# Number of values of a tile that are scanned at a time.
GROUP = 32
# Lists of up to this many entries are sorted by insertion.
FEW = 16


@njit(nogil=True, cache=True)
def scan_tile(tile, first, values, indices, counts, limits, keep):
    """Merge one tile of distances into the running list of every query: see `scan_rows`."""
    scan_rows(tile, np.arange(tile.shape[0]), first, values, indices, counts, limits, keep)


@njit(nogil=True, cache=True)
def scan_rows(tile, rows, first, values, indices, counts, limits, keep):
    """Merge one tile of distances into the running lists of some queries: the `keep` smallest of each.

    A list grows to its capacity before it is cut back to `keep`, so that most values cost one comparison, a
    group at a time. In a group with a near value, every value is written and the count advances only past
    the near ones, which needs no branch.

    tile: (n_rows, n_groups, GROUP); rows: (n_rows,) queries; first: index of the tile's first point
    values, indices: (n_queries, capacity), capacity at least keep + 2 GROUP; counts, limits: (n_queries,)
    """
    n_rows, n_groups, size = tile.shape  # a size known only at run time is what LLVM vectorizes best
    full = np.uint64(values.shape[1] - size)
    for number in range(n_rows):
        query = rows[number]
        # An unsigned count needs no check for an index from the end.
        limit, count = limits[query], np.uint64(counts[query])
        row_values, row_indices = values[query], indices[query]
        for group in range(n_groups):
            row = tile[number, group]
            hits = np.int32(0)
            for slot in range(size):
                hits += np.int32(row[slot] < limit)
            if hits == 0:
                continue
            start = first + group * size
            for slot in range(size):
                row_values[count] = row[slot]
                row_indices[count] = start + slot
                count += np.uint64(row[slot] < limit)
            if count > full:
                _partition(row_values, row_indices, np.int64(count), keep - 1)
                count, limit = np.uint64(keep), row_values[keep - 1]
        counts[query], limits[query] = np.int64(count), limit


@njit(nogil=True, cache=True)
def finish_lists(values, indices, counts, limits, keep):
    """Cut every list to its `keep` smallest; afterwards `limits` is a lower bound of all other values."""
    for query in range(values.shape[0]):
        if counts[query] > keep:
            _partition(values[query], indices[query], counts[query], keep - 1)
            counts[query], limits[query] = keep, values[query, keep - 1]


@njit(nogil=True, cache=True)
def _partition(values, indices, size, nth):
    """Rearrange both arrays so that values[nth] is that of the sorted array, with smaller ones before it."""
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


def concatenate_results(blocks: Iterable[tuple[Indices, Floats]]) -> tuple[Indices, Floats]:
    """Concatenate the indices and distances of blocks of queries."""
    indices, distances = zip(*blocks, strict=True)
    return np.concatenate(indices), np.concatenate(distances)


def smallest(distances: Floats, indices: Indices, k: int) -> tuple[Indices, Floats]:
    """Return the indices and distances of the k smallest of each row, in order: (n_queries, k) each.

    Equal distances are ordered by index. A negative index marks an empty slot.
    """
    best_indices, best_distances = np.empty((len(distances), k), np.int64), np.empty((len(distances), k))
    _write_smallest(distances, indices, best_indices, best_distances)
    return best_indices, best_distances


@njit(nogil=True, cache=True)
def _write_smallest(distances, indices, best_indices, best_distances):
    n_queries, n_candidates = distances.shape
    k = best_indices.shape[1]
    best_distances[:], best_indices[:] = np.inf, -1
    row_distances, row_indices = np.empty(n_candidates), np.empty(n_candidates, np.int64)
    for query in range(n_queries):
        if k <= FEW:
            for slot in range(n_candidates):
                if indices[query, slot] >= 0:
                    insert(
                        best_distances[query],
                        best_indices[query],
                        distances[query, slot],
                        indices[query, slot],
                    )
            continue
        count = 0
        for slot in range(n_candidates):
            row_distances[count], row_indices[count] = distances[query, slot], indices[query, slot]
            count += indices[query, slot] >= 0
        _sort_smallest(row_distances, row_indices, count, k)
        for slot in range(min(k, count)):
            best_distances[query, slot], best_indices[query, slot] = row_distances[slot], row_indices[slot]


@njit(nogil=True, cache=True)
def _sort_smallest(distances, indices, size, k):
    """Rearrange both arrays so that the k smallest of the first `size` entries come first, in order.

    A quicksort that leaves out the parts behind the first k, and sorts short parts by insertion.
    """
    lows, highs = np.empty(64, np.int64), np.empty(64, np.int64)  # the shorter part comes first: log2(size)
    lows[0], highs[0], n_parts = 0, size - 1, 1
    while n_parts > 0:
        n_parts -= 1
        low, high = lows[n_parts], highs[n_parts]
        while high - low >= FEW:
            middle = (low + high) // 2
            pivot, pivot_index = distances[middle], indices[middle]
            left, right = low, high
            while left <= right:
                while _before(distances[left], indices[left], pivot, pivot_index):
                    left += 1
                while _before(pivot, pivot_index, distances[right], indices[right]):
                    right -= 1
                if left <= right:
                    distances[left], distances[right] = distances[right], distances[left]
                    indices[left], indices[right] = indices[right], indices[left]
                    left += 1
                    right -= 1
            if left >= k:  # the right part is not among the k smallest
                high = right
            elif right - low < high - left:
                lows[n_parts], highs[n_parts] = left, high
                n_parts += 1
                high = right
            else:
                lows[n_parts], highs[n_parts] = low, right
                n_parts += 1
                low = left
        for slot in range(low + 1, high + 1):
            distance, index, to = distances[slot], indices[slot], slot
            while to > low and _before(distance, index, distances[to - 1], indices[to - 1]):
                distances[to], indices[to] = distances[to - 1], indices[to - 1]
                to -= 1
            distances[to], indices[to] = distance, index


@njit(nogil=True, cache=True)
def insert(distances, indices, distance, index):
    """Insert an entry into a sorted list of fixed length, dropping the last, unless it comes after all."""
    slot = distances.shape[0] - 1
    if not _before(distance, index, distances[slot], indices[slot]):
        return
    while slot > 0 and _before(distance, index, distances[slot - 1], indices[slot - 1]):
        distances[slot], indices[slot] = distances[slot - 1], indices[slot - 1]
        slot -= 1
    distances[slot], indices[slot] = distance, index


@njit(nogil=True, cache=True)
def count_found(indices):
    """Return how many entries of such a list are filled, which are the first ones."""
    n_found = 0
    while n_found < indices.shape[0] and indices[n_found] >= 0:
        n_found += 1
    return n_found


@njit(nogil=True, cache=True)
def _before(distance, index, other_distance, other_index):
    if distance != other_distance:
        return distance < other_distance
    return other_index < 0 or index < other_index
