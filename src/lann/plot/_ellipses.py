"""The metrics of points over two features, as ellipses: where each point finds others equally near."""

from __future__ import annotations

import numpy as np

from lann._types import Floats


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
