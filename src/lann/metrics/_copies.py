"""Copies: training rows with the same values and the same label, and how much they count together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._compile import njit
from lann._types import Floats, Indices, Labels
from lann.metrics._diagonal import row_parts
from lann.metrics._levels import Levels

# Odd numbers with irregular bits: products with them spread over all 64 bits.
FIRST_FACTOR, SECOND_FACTOR = np.uint64(0x9E3779B97F4A7C15), np.uint64(0xC2B2AE3D27D4EB4F)
SHIFT = np.uint64(29)
# The bits of infinity, above which are those of NaN, and of one NaN that stands for all.
INFINITY, NAN = np.uint64(0x7FF0000000000000), np.uint64(0x7FF8000000000000)


class Copies(NamedTuple):
    """Groups of training rows that are copies of each other.

    Attributes
    ----------
    distinct : (n_groups,)
        One row of each group, in an order that depends on the values of the rows only.
    group : (n_rows,)
        The group of each row.
    """

    distinct: Indices
    group: Indices

    def totals(self, row_weights: Floats | None) -> Floats:
        """Return the total weight of each group: (n_groups,)."""
        if row_weights is None:
            return np.bincount(self.group).astype(np.float64)
        # Added up in an order that does not depend on that of the rows: the same bits.
        order = np.lexsort((row_weights, self.group))
        starts = np.flatnonzero(np.diff(self.group[order], prepend=-1))
        return np.add.reduceat(row_weights[order], starts)

    def merge(self, levels: Levels) -> Levels:
        """Return one row of each group, with the total weight of the group relative to the mean."""
        totals = self.totals(levels.row_weights)
        return levels.subset(self.distinct).replace(row_weights=totals / totals.mean())

    def expand(self, merged: Levels, levels: Levels) -> Levels:
        """Return all rows of `levels`, each with the metric of its group in `merged`."""
        matrices = merged.point_matrices
        return merged.replace(
            X=levels.X,
            labels=levels.labels,
            row_weights=levels.row_weights,
            point_log_weights=merged.point_log_weights[self.group],
            point_matrices=None if matrices is None else matrices[self.group],
        )


def find_copies(X: Floats, labels: Labels, row_weights: Floats | None) -> Copies | None:
    """Return the groups of equal rows, or None if all rows are distinct and count alike.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    row_weights : (n_rows,) or None
        How much each row counts; None is 1 for all.
    """
    hashes = row_hashes(X, labels)
    order = np.argsort(hashes, kind="stable")
    in_order = hashes[order]
    repeated = in_order[1:] == in_order[:-1]
    if not repeated.any() and row_weights is None:
        return None
    first, second = order[:-1][repeated], order[1:][repeated]
    if not (
        np.array_equal(X[first], X[second], equal_nan=True) and np.array_equal(labels[first], labels[second])
    ):
        return _lexicographic(X, labels)
    starts = np.append(True, ~repeated)
    group = np.empty(len(order), np.int64)
    group[order] = np.cumsum(starts) - 1
    return Copies(order[starts], group)


def _lexicographic(X: Floats, labels: Labels) -> Copies:
    """Return the groups in lexicographic order, where different rows have the same hash."""
    gaps = np.isnan(X)
    table = np.column_stack([np.where(gaps, 0.0, X), gaps, labels])
    _, distinct, group = np.unique(table, axis=0, return_index=True, return_inverse=True)
    return Copies(distinct, group.ravel())


def row_hashes(X: Floats, labels: Labels) -> NDArray[np.uint64]:
    """Return a hash of the values and the label of each row: (n_rows,)."""
    hashes = np.empty(len(X), np.uint64)
    for part in row_parts(len(X)):
        bits = np.ascontiguousarray(X[part], dtype=np.float64).view(np.uint64)
        hashes[part] = _row_hashes(bits, labels[part])
    return hashes


@njit(nogil=True, cache=True)
def _row_hashes(bits, labels):
    """Compute the hashes of rows given as bits: (n_rows,)."""
    hashes = np.empty(bits.shape[0], np.uint64)
    negative_zero = np.uint64(1) << np.uint64(63)
    for i in range(bits.shape[0]):
        value = (np.uint64(labels[i]) + np.uint64(1)) * FIRST_FACTOR
        for f in range(bits.shape[1]):
            own = np.uint64(0) if bits[i, f] == negative_zero else bits[i, f]  # −0 equals 0
            own = NAN if (own & ~negative_zero) > INFINITY else own  # a gap equals a gap
            value = (value ^ (own ^ (own >> SHIFT))) * SECOND_FACTOR
            value ^= value >> SHIFT
        hashes[i] = value * FIRST_FACTOR
    return hashes


def join_weights(*parts: tuple[Floats | None, int]) -> Floats | None:
    """Return the weights of the rows of several parts, or None if all are 1.

    Parameters
    ----------
    parts : tuple
        The weights of the rows of a part, None for 1, and their number.
    """
    if all(weights is None for weights, _ in parts):
        return None
    return np.concatenate([np.ones(n_rows) if weights is None else weights for weights, n_rows in parts])
