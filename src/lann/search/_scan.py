"""Exact search for few queries by one pass over all points, which needs nothing to be built."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.metric import measure_pairs, overflow_is_far
from lann.search._exact import insert, smallest

# Points beyond those that are wanted: their distances show that no nearer point was missed.
SPARE = 8
ALL_CELLS: NDArray[np.bool_] = np.empty((0, 0), np.bool_)
# Sums of the same numbers in another order differ by less than this many roundings per axis.
ROUNDINGS = 8.0 * float(np.finfo(np.float64).eps)


class ScanPoints(NamedTuple):
    """Points that measure with the weights of their classes.

    Attributes
    ----------
    points : (n_stored, n_axes)
    labels : (n_stored,)
    class_weights : (n_classes, n_axes)
    rows : (n_rows,)
        Which of the points are searched, ascending; all of them where it is empty.
    cells : (n_stored,)
        The cell of each point; empty where there are no cells.
    """

    points: Floats
    labels: Labels
    class_weights: Floats
    rows: Indices
    cells: NDArray[np.int32]


def find_nearest(
    queries: Floats,
    searched: ScanPoints,
    k: int,
    *,
    exclude: Indices | None = None,
    label: int | None = None,
    probed: NDArray[np.bool_] = ALL_CELLS,
) -> tuple[Indices, Floats]:
    """Return the k nearest points of each query, equal distances by index: as an `ExactSearch` does.

    With `probed`, as a `CellSearch` does: points of other cells are not searched, unless too few are found.

    The points that a pass over all of them finds, and some spare ones, are measured again by the direct
    formula. Where rounding could have hidden a nearer point, all points are.

    Parameters
    ----------
    queries : (n_queries, n_axes)
    searched : ScanPoints
    k : int
        At most the number of points, or one less with `exclude`.
    exclude : (n_queries,) or None
        For each query the position of a point that is not its neighbor; -1 for none.
    label : int or None
        The class whose points are searched, k at least; None is all.
    probed : (n_queries, n_cells)
        The cells that each query searches; empty for all points.

    Returns
    -------
    indices, distances : (n_queries, k)
        Positions in the rows that are searched, and squared distances.
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    excluded = np.full(len(queries), -1) if exclude is None else exclude
    indices, distances = _find_nearest(queries, searched, k, excluded, label, probed)
    lost = np.flatnonzero(indices[:, -1] < 0)
    if len(lost) and probed.size:
        found = _find_nearest(queries[lost], searched, k, excluded[lost], label, ALL_CELLS)
        indices[lost], distances[lost] = found
    return indices, distances


@overflow_is_far
def _find_nearest(
    queries: Floats,
    searched: ScanPoints,
    k: int,
    excluded: Indices,
    label: int | None,
    probed: NDArray[np.bool_],
) -> tuple[Indices, Floats]:
    """Return the k nearest points of each query, -1 where there are fewer: see `find_nearest`."""
    n_queries, n_axes = queries.shape
    n_rows = len(searched.rows) or len(searched.points)
    n_kept = min(k + SPARE, n_rows)
    labels = np.full(n_queries, -1 if label is None else label)
    kept, limits = np.empty((n_queries, n_kept), np.int64), np.empty((n_queries, n_kept))
    scan(queries, searched, excluded, labels, probed, kept, limits)
    indices, distances = smallest(_measure(queries, searched, kept), kept, k)
    margin = 1.0 + ROUNDINGS * (n_axes + 4)
    # Where there are fewer points than spare ones, none can have been missed.
    uncertain = (kept[:, -1] >= 0) & ~(limits[:, -1] > margin * distances[:, -1]) & (n_kept < n_rows)
    for query in np.flatnonzero(uncertain):
        rows = np.arange(n_rows)
        if label is not None:
            own = searched.labels[searched.rows] if len(searched.rows) else searched.labels
            rows = rows[own == label]
        if probed.size:
            stored = searched.rows[rows] if len(searched.rows) else rows
            rows = rows[probed[query, searched.cells[stored]]]
        rows = rows[rows != excluded[query]][None]
        one = queries[query : query + 1]
        indices[query], distances[query] = (
            found[0] for found in smallest(_measure(one, searched, rows), rows, k)
        )
    return indices, distances


def _measure(queries: Floats, searched: ScanPoints, rows: Indices) -> Floats:
    """Return the squared distances of each query to some positions, by the direct formula."""
    points, labels, class_weights, alive, _ = searched
    stored = np.maximum(rows, 0).ravel()
    if len(alive):
        stored = alive[stored]
    pairs = np.arange(rows.size).reshape(rows.shape)
    return measure_pairs(queries, points[stored], class_weights[labels[stored]], pairs)


# Sums may be reordered, so that they vectorize; the result is measured again.
@njit(nogil=True, cache=True, fastmath={"reassoc", "contract"})
def scan(queries, searched, excluded, own_labels, probed, indices, distances):
    """Find the k nearest points of each query, in order, and their squared distances up to rounding.

    queries : (n_queries, n_axes); searched : ScanPoints
    excluded : (n_queries,) a position that is left out, -1 for none
    own_labels : (n_queries,) the class whose points are searched, -1 for all
    probed : (n_queries, n_cells) the cells that are searched; empty for all points
    indices, distances : (n_queries, k) the result: positions in `rows`, -1 where there are fewer
    """
    points, labels, class_weights, rows, cells = searched
    by_cell = probed.size > 0
    n_queries, n_axes = queries.shape
    n_rows = rows.shape[0] if rows.shape[0] > 0 else points.shape[0]
    every = rows.shape[0] == 0
    k = indices.shape[1]
    indices[:], distances[:] = -1, np.inf
    for query in range(n_queries):
        x, near, squared = queries[query], indices[query], distances[query]
        own, left_out = own_labels[query], excluded[query]
        for position in range(n_rows):
            j = position if every else rows[position]
            if by_cell and not probed[query, cells[j]]:
                continue
            label = labels[j]
            if own >= 0 and label != own:
                continue
            point, weights = points[j], class_weights[label]
            total = 0.0
            for a in range(n_axes):
                difference = x[a] - point[a]
                total += weights[a] * difference * difference
            if (total < squared[k - 1] or near[k - 1] < 0) and position != left_out:
                insert(squared, near, total, position)
