"""The metrics of points over two features, as ellipses: where each point finds others equally near."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices
from lann.metrics.levels import Levels


def local_matrices(levels: Levels, rows: Indices) -> Floats:
    """How some points measure close to themselves: (n_rows, n_features, n_features), in the data's units.

    d_j(x) ≈ (x − x_j)ᵀ A_j (x − x_j) with A_j = J Mᵀ Λ_j M J: the metric Λ_j along the axes, through the map
    M, and through the slopes J of the curves at the point.
    """
    slopes = levels.curves.slopes_at(levels.X[rows])  # (n_rows, n_features)
    axes = np.eye(levels.X.shape[1]) if levels.map is None else levels.map
    if levels.point_maps is None:
        roots = np.sqrt(levels.weights[rows])[:, :, None] * axes  # (n_rows, n_axes, n_features)
    else:
        roots = np.matmul(levels.own_maps(rows).astype(np.float64).swapaxes(1, 2), axes)
    roots = roots * slopes[:, None, :]
    return np.matmul(roots.swapaxes(1, 2), roots)


def outlines(matrices: Floats, distance: float, reach: Floats, n_steps: int = 120) -> Floats:
    """Where δᵀ A δ is `distance`, around each point: closed lines of steps δ, (n_rows, n_steps, 2).

    matrices : (n_rows, 2, 2)
    reach : (2,) no half axis is longer in units of these, for what a point ignores reaches without end
    """
    around = np.linspace(0.0, 2.0 * np.pi, n_steps)
    circle = np.column_stack([np.cos(around), np.sin(around)])
    sizes, turns = np.linalg.eigh(matrices * np.outer(reach, reach))
    halves = np.sqrt(distance / np.maximum(sizes, distance))
    return np.einsum("jab,jb,sb->jsa", turns, halves, circle) * reach
