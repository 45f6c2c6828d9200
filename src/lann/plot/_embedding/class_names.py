"""The names of classes, written next to their rows in an embedding."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lann._types import Floats, Labels
from lann.plot._text import escape_math

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# A name is written next to the rows of its class within this distance, as a fraction of the panel.
NEAR = 0.06
# The gap between these rows and the name, in points.
GAP = 3.0
# The directions from the rows to the name, in order of preference.
DIRECTIONS = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]])


def write_class_names(
    ax: Axes,
    coordinates: Floats,
    labels: Labels,
    names: Sequence[str],
    *,
    fontsize: float,
    width: float,
    side: float,
) -> None:
    """Write the name of each class next to its rows around the median.

    A name is written in the panel where it hides no other name and as few rows as possible. If it would hide
    another name or be cut off in all directions, it is omitted. The largest classes come first.

    Parameters
    ----------
    ax : matplotlib Axes
    coordinates : ndarray of shape (n_rows, 2)
    labels : ndarray of shape (n_rows,)
        The class indices.
    names : sequence of str
        The names of the classes.
    fontsize : float
        The font size in points.
    width, side : float
        The side of the square that is shown, in inches and in units of the coordinates.
    """
    from matplotlib.patheffects import withStroke

    scale = 72 * width / side  # points per unit of the coordinates
    low, high = scale * np.array([ax.get_xlim(), ax.get_ylim()]).T
    written: list[tuple[Floats, Floats]] = []  # centers and half sizes of the names, in points
    present, counts = np.unique(labels, return_counts=True)
    for label in present[np.argsort(-counts, kind="stable")]:
        half_size = np.array([0.31 * len(names[label]), 0.6]) * fontsize
        anchors = _anchors(coordinates[labels == label], NEAR * side)
        offsets = (half_size + GAP) * DIRECTIONS
        centers = anchors * scale + offsets
        hidden = np.array(
            [_count_hidden(center, half_size, coordinates * scale, written) for center in centers]
        )
        is_cut_off = (centers - half_size < low).any(axis=1) | (centers + half_size > high).any(axis=1)
        hidden[is_cut_off] += len(coordinates) + 1
        best = int(np.argmin(hidden))
        if hidden[best] > len(coordinates):  # hides another name, or is cut off
            continue
        written.append((centers[best], half_size))
        name = ax.annotate(
            escape_math(names[label]), anchors[best], xytext=offsets[best], textcoords="offset points",
            fontsize=fontsize, ha="center", va="center", zorder=6,
            path_effects=[withStroke(linewidth=2.0, foreground="white", alpha=0.85)],
        )  # fmt: skip
        name.set_in_layout(False)


def _anchors(members: Floats, radius: float) -> Floats:
    """Return the edges of the rows around the median of a class in all directions, (n_directions, 2)."""
    # The median of a class in several clusters is between them: take the row nearest to it.
    center = members[((members - np.median(members, axis=0)) ** 2).sum(axis=1).argmin()]
    near = members[np.abs(members - center).max(axis=1) <= radius]
    low, high = near.min(axis=0), near.max(axis=0)
    return np.where(DIRECTIONS > 0, high, np.where(DIRECTIONS < 0, low, np.median(near, axis=0)))


def _count_hidden(
    center: Floats, half_size: Floats, points: Floats, written: list[tuple[Floats, Floats]]
) -> int:
    """Return the number of rows that a name would hide; another name counts more than all rows."""
    names = sum(bool((np.abs(center - other) < half_size + own).all()) for other, own in written)
    return names * (len(points) + 1) + int((np.abs(points - center) < half_size).all(axis=1).sum())
