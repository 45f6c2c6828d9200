"""Samples of training rows, and distances relative to those between the rows around."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels

# Rows near a query with whose distances its own is compared.
N_AROUND = 10
# ε as a share of the mean distance: rows that have copies are at distance 0.
LEAST_SHARE = 0.1


def stratified_rows(labels: Labels, n_rows: int) -> Indices:
    """Return some rows, of every class in proportion to its size: (n_rows,) ascending."""
    by_class = np.argsort(labels, kind="stable")
    positions = np.linspace(0, len(labels) - 1, max(n_rows, 1)).round().astype(np.int64)
    return np.sort(by_class[positions])


def spread_rows(n_rows: int, most: int) -> Indices:
    """Return at most `most` of some rows, evenly spread."""
    return np.linspace(0, n_rows - 1, min(n_rows, most)).astype(np.int64)


def positions_in(rows: NDArray[Any], wanted: NDArray[Any]) -> Indices:
    """Return the positions of rows in a sample, which ascends; -1 for those that are not in it.

    >>> from lann._support.rows import positions_in
    >>> positions_in(np.array([2, 5, 7]), np.array([7, 3, 2, 9, -1])).tolist()
    [2, -1, 0, -1, -1]
    """
    positions = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[positions] == wanted, positions, -1)


def relative_distances(distances: Floats, spacing: Floats, around: Indices) -> Floats:
    """Return (d + ε) / (mean of the spacing of the rows around + ε): (n_queries,).

    Parameters
    ----------
    distances : (n_queries,)
    spacing : (n_rows,)
        Distance of each row to its nearest others; infinite if it has none.
    around : (n_queries, n_around)
        Rows near each query.
    """
    mean = float(spacing.mean())
    if np.isinf(mean):
        mean = float(spacing.mean(where=np.isfinite(spacing))) if np.isfinite(spacing).any() else 0.0
    least = LEAST_SHARE * mean or 1.0
    with np.errstate(over="ignore"):  # infinitely far
        return (distances + least) / (np.mean(spacing[around], axis=1) + least)
