"""Squared distances of queries to points that are given with their metrics, and not as a whole metric."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.metrics._diagonal import NO_LABELS, measure_diagonal
from lann.metrics._matrix import measure_matrices


def measure_pairs(queries: Floats, points: Floats, own: NDArray, candidates: Indices) -> Floats:
    """Return the squared distances of each query to its candidates, to the bit as a whole metric does.

    Parameters
    ----------
    queries : (n_queries, n_axes)
    points : (n_points, n_axes)
    own : (n_points, n_axes) or (n_points, n_axes, rank)
        The weights, or the matrix, of each point.
    candidates : (n_queries, n_candidates)
        Points.

    Returns
    -------
    distances : (n_queries, n_candidates)
    """
    queries = np.ascontiguousarray(queries, dtype=np.float64)
    if own.ndim == 2:
        return measure_diagonal(queries, points, own, NO_LABELS, candidates)
    return measure_matrices(queries, points, own, candidates)
