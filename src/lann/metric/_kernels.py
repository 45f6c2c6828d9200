"""Compiled functions of curves and gaps; numba is imported with this module, when something is computed."""

from __future__ import annotations

import numpy as np
from numba import njit


@njit(nogil=True, cache=True)
def curve_rows(X, edges, slopes, widths, thresholds, jumps):
    """Compute the curved values of a few rows, to the bit as `curve_table` does: (n_rows, n_features).

    The arrays are those of `FeatureCurves`.
    """
    n_rows, n_features = X.shape
    n_edges, n_steps = edges.shape[1], thresholds.shape[1]
    out = np.empty((n_rows, n_features))
    for f in range(n_features):
        for i in range(n_rows):
            x = X[i, f]
            position, start = 0, 0.0
            while position < n_edges and edges[f, position] <= x:
                start += slopes[f, position] * widths[f, position]
                position += 1
            origin = edges[f, max(position - 1, 0)] if n_edges > 0 else 0.0
            if not np.isfinite(origin):
                origin = 0.0
            value = start + slopes[f, position] * (x - origin)
            height = 0.0
            for step in range(n_steps):
                if thresholds[f, step] > x:
                    break
                height += jumps[f, step]
            out[i, f] = value + height
    return out


@njit(nogil=True, cache=True)
def curve_table(X, edges, slopes, starts, thresholds, heights):
    """Compute the curved values of many rows: (n_rows, n_features).

    The arrays are those of `FeatureCurves`. Bins and thresholds are found by bisection.
    """
    n_rows, n_features = X.shape
    out = np.empty((n_rows, n_features))
    for i in range(n_rows):
        for f in range(n_features):
            x = X[i, f]
            position = _count_up_to(edges[f], x)
            origin = edges[f, max(position - 1, 0)] if edges.shape[1] > 0 else 0.0
            if not np.isfinite(origin):
                origin = 0.0
            value = starts[f, position] + slopes[f, position] * (x - origin)
            if thresholds.shape[1] > 0:
                value += heights[f, _count_up_to(thresholds[f], x)]
            out[i, f] = value
    return out


@njit(nogil=True, cache=True)
def _count_up_to(values, x):
    """Return how many of ascending values are at most x; all of them for NaN, as NumPy does."""
    low, high = 0, values.shape[0]
    while low < high:
        middle = (low + high) // 2
        if values[middle] > x:
            high = middle
        else:
            low = middle + 1
    return low


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
