"""The frame of a panel of an EmbeddingDisplay: a square that shows all rows but a few outliers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Labels
from lann.plot._text import TINY

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Outliers are at most this part of the rows at each end of an axis, farther from the other rows than this
# part of their range, and at most this part of a class.
OUTLIER_QUANTILE, OUTLIER_DISTANCE, MAX_CLASS_SHARE = 0.01, 0.3, 0.1


def draw_frame(ax: Axes, coordinates: Floats, labels: Labels, *, margin: float) -> float:
    """Set the limits of both axes with the same scale, without ticks, and return the side of the square
    shown.

    Rows that are so far away that all others would be drawn in a small part of the panel are outside, and
    their number is written in a corner.

    Parameters
    ----------
    ax : matplotlib Axes
    coordinates : ndarray of shape (n_rows, 2)
    labels : ndarray of shape (n_rows,)
        The class indices.
    margin : float
        The margin around the rows, as a fraction of their range.

    Returns
    -------
    side : float
        The side of the square, in units of the coordinates.
    """
    center, half_side = _square(*_limits_without_outliers(coordinates), margin)
    outside = np.abs(coordinates - center).max(axis=1) > half_side
    if (np.bincount(labels, outside) > MAX_CLASS_SHARE * np.bincount(labels)).any():
        center, half_side = _square(coordinates.min(axis=0), coordinates.max(axis=0), margin)
        outside = np.zeros(len(coordinates), bool)
    limits = _SquareLimits(center, half_side)
    limits(ax, None)
    ax.set_axes_locator(limits)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#C4C4C4")
    ax.spines[:].set_linewidth(0.7)
    if outside.any():
        ax.text(
            0.98, 0.98, f"{outside.sum()} outside", transform=ax.transAxes, ha="right", va="top",
            fontsize=TINY, color="#555555",
        )  # fmt: skip
    return 2 * half_side


class _SquareLimits:
    """An axes locator that sets limits in which a square is as large as possible, when the size is known.

    Axes that shrink to a square instead would leave a constrained layout too little space for titles and
    legends, and limits that matplotlib extends for the aspect are not reduced when the size changes again.
    """

    def __init__(self, center: Floats, half_side: float) -> None:
        self.center = center
        self.half_side = half_side
        self._size: Floats | None = None

    def __call__(self, ax: Any, renderer: Any) -> Any:
        box = ax.get_position(original=True)
        size = np.asarray(box.transformed(ax.figure.transSubfigure).size)
        # If the size has not changed, keep the limits: the user may have zoomed.
        if self._size is None or not np.allclose(size, self._size):
            self._size = size
            x, y = self.half_side * size / max(size.min(), 1e-9)
            ax.set_xlim(self.center[0] - x, self.center[0] + x)
            ax.set_ylim(self.center[1] - y, self.center[1] + y)
        return box


def _limits_without_outliers(coordinates: Floats) -> tuple[Floats, Floats]:
    """Return the lowest and highest coordinates, without rows that are far from nearly all others."""
    low, high = np.quantile(coordinates, (OUTLIER_QUANTILE, 1 - OUTLIER_QUANTILE), axis=0)
    distance = OUTLIER_DISTANCE * float((high - low).max())
    return (
        np.maximum(coordinates.min(axis=0), low - distance),
        np.minimum(coordinates.max(axis=0), high + distance),
    )


def _square(low: Floats, high: Floats, margin: float) -> tuple[Floats, float]:
    """Return the center and half the side of the square around a range."""
    return (low + high) / 2, (0.5 + margin) * max(float((high - low).max()), 1e-9)
