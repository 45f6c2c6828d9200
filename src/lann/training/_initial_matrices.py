"""Initial values of point matrices, and a check of the memory that they need."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann.metrics import Levels

# From this many numbers on, matrices are float32.
SINGLE_FROM = 2**24
# With more numbers than this in all matrices, training would take more than ten gigabytes.
MOST_NUMBERS = 2**29
# How many copies of the matrices training needs, at most.
COPIES = 5


def initial_matrices(levels: Levels) -> NDArray:
    """Return a new array of the point matrices, or of identities where there are none.

    (n_points, n_axes, rank).
    """
    if levels.point_matrices is not None:
        return levels.point_matrices.copy()
    n_points, n_axes = levels.point_log_weights.shape
    return np.tile(np.eye(n_axes, dtype=matrix_dtype(n_points, n_axes)), (n_points, 1, 1))


def matrix_dtype(n_points: int, n_axes: int) -> type:
    """Return the type of the numbers of so many matrices."""
    return np.float32 if n_points * n_axes**2 > SINGLE_FROM else np.float64


def check_matrix_memory(levels: Levels) -> None:
    """Raise ValueError if a matrix per row would take too much memory."""
    n_rows, n_axes = len(levels.X), levels.class_log_weights.shape[1]
    if n_rows * n_axes**2 > MOST_NUMBERS:
        size = COPIES * 4 * n_rows * n_axes**2 / 2**30
        raise ValueError(
            f"Matrices over {n_axes} axes for {n_rows} rows take about {size:.0f} GB to learn; use "
            "metric='low_rank' with a smaller n_components, or fewer rows."
        )
