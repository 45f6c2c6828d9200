"""Samples of training rows."""

from __future__ import annotations

import numpy as np

from lann._types import Indices, Labels


def stratified_rows(labels: Labels, n_rows: int) -> Indices:
    """Return some rows, of every class in proportion to its size: (n_rows,) ascending."""
    by_class = np.argsort(labels, kind="stable")
    positions = np.linspace(0, len(labels) - 1, max(n_rows, 1)).round().astype(np.int64)
    return np.sort(by_class[positions])
