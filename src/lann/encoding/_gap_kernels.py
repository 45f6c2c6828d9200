"""Compiled functions of gaps."""

from __future__ import annotations

import numpy as np

from lann._compile import njit


@njit(nogil=True, cache=True)
def products(values, matrix):
    """Compute values · matrixᵀ, each row for itself: (n_rows, n_out)."""
    out = np.zeros((values.shape[0], matrix.shape[0]))
    for i in range(values.shape[0]):
        for a in range(matrix.shape[0]):
            total = 0.0
            for f in range(values.shape[1]):
                total += matrix[a, f] * values[i, f]
            out[i, a] = total
    return out
