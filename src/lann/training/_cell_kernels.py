"""Compiled functions of training with an encoding: coordinates of rows, and gradients by cell.

A cell is a set of values of a feature on which its coordinate is linear: a range of numbers without an edge
or a threshold of the curve inside, or one category, or a gap.

Only the points that a batch uses are computed.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._compile import njit
from lann._types import Indices


def compact_batch(
    rows: Indices, candidates: Indices, kept: NDArray[np.bool_], position: Indices
) -> tuple[Indices, Indices, Indices]:
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
    new_rows, new_candidates = np.empty(len(rows), np.int64), np.full(candidates.shape, -1, np.int64)
    n_used = _compact(rows, candidates, kept, position, used, new_rows, new_candidates)
    return used[:n_used], new_rows, new_candidates


@njit(nogil=True, cache=True)
def _compact(rows, candidates, kept, position, used, new_rows, new_candidates):
    """Write to the last three arrays; return how many points are used."""
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
    return n_used


@njit(nogil=True, cache=True)
def cell_values(cells, offsets, used, starts, slopes):
    """Return the coordinates of some points: (n_used, n_coordinates).

    cells : (n_points, n_coordinates) cell of each value
    offsets : (n_points, n_coordinates) from the origins of the cells; used : (n_used,)
    starts, slopes : (n_cells,)
    """
    out = np.empty((used.shape[0], cells.shape[1]))
    for number in range(used.shape[0]):
        i = used[number]
        for f in range(cells.shape[1]):
            cell = cells[i, f]
            out[number, f] = starts[cell] + slopes[cell] * offsets[i, f]
    return out


@njit(nogil=True, cache=True)
def add_by_cell(cells, offsets, used, gradient, sums, moments):
    """Add the gradients of some points to the sums by cell that `Cells.gradients` takes.

    cells, offsets, used : as for `cell_values`; gradient : (n_used, n_coordinates)
    sums, moments : (n_cells,), changed in place
    """
    for number in range(used.shape[0]):
        i = used[number]
        for f in range(cells.shape[1]):
            sums[cells[i, f]] += gradient[number, f]
            moments[cells[i, f]] += gradient[number, f] * offsets[i, f]
