"""Samples of training rows."""

from __future__ import annotations

import numpy as np

from lann._support.types import Indices, Labels


def stratified_rows(labels: Labels, n_rows: int) -> Indices:
    """Return some rows, of every class in proportion to its size: (n_rows,) ascending."""
    by_class = np.argsort(labels, kind="stable")
    positions = np.linspace(0, len(labels) - 1, max(n_rows, 1)).round().astype(np.int64)
    return np.sort(by_class[positions])


def positions_in(rows: Indices, wanted: Indices) -> Indices:
    """Return the positions of rows in a sample, which ascends; -1 for those that are not in it.

    >>> from lann._support.sampling import positions_in
    >>> positions_in(np.array([2, 5, 7]), np.array([7, 3, 2, 9, -1])).tolist()
    [2, -1, 0, -1, -1]
    """
    found = np.minimum(np.searchsorted(rows, wanted), len(rows) - 1)
    return np.where(rows[found] == wanted, found, -1)
