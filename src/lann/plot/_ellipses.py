"""Point metrics over two features, as ellipses of equal distance."""

from __future__ import annotations

import numpy as np

from lann._types import Floats


def ellipse_outlines(
    matrices: Floats, squared_distance: float, max_half_axes: Floats, n_steps: int = 120
) -> Floats:
    """Return the closed curves on which δᵀ A δ equals a squared distance, (n_rows, n_steps, 2).

    Parameters
    ----------
    matrices : ndarray of shape (n_rows, 2, 2)
        The matrix A of each row.
    squared_distance : float
    max_half_axes : ndarray of shape (2,)
        The maximum half axis for each feature: the ellipse of a feature without weight would be infinite.
    n_steps : int, default=120
        The number of points of each curve.
    """
    angles = np.linspace(0.0, 2.0 * np.pi, n_steps)
    circle = np.column_stack([np.cos(angles), np.sin(angles)])
    eigenvalues, eigenvectors = np.linalg.eigh(matrices * np.outer(max_half_axes, max_half_axes))
    half_axes = np.sqrt(squared_distance / np.maximum(eigenvalues, squared_distance))
    return np.einsum("jab,jb,sb->jsa", eigenvectors, half_axes, circle) * max_half_axes
