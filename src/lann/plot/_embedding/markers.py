"""Marks that tell classes apart by color and by shape, and points drawn so that no class hides another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.plot._style import MARKERS, NEUTRAL, OKABE_ITO

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.lines import Line2D

# How much larger a shape is drawn than it comes, so that all have about the same ink.
INK = {"o": 1.0, "s": 0.8, "^": 1.2, "D": 0.62, "v": 1.2, "P": 1.15, "X": 1.1}
# Part of a panel that its points cover, if they lay side by side, and the smallest and largest, in points².
COVER, SMALLEST, LARGEST = 0.55, 2.5, 26.0
# From so many points on, they are drawn thinner, and as pixels even where the picture is made of lines.
MANY = 2000
# Part of white in what stays in the background.
PALE = 0.72
ORDER_SEED = 0


class Mark(NamedTuple):
    """How the points of a class look."""

    color: str
    marker: str
    filled: bool = True


# For what has no name of its own.
OTHER = Mark(NEUTRAL, "o")


def class_marks(n_classes: int) -> list[Mark]:
    """A mark for each class. Up to 98 are all different, and up to 7 in color and in shape.

    >>> marks = class_marks(40)
    >>> len(set(marks)), marks[0].color != marks[1].color, marks[0].marker != marks[1].marker
    (40, True, True)
    """
    n = len(OKABE_ITO)
    # The shapes shift by one with every round of the colors, so that no pair comes twice.
    return [
        Mark(OKABE_ITO[place % n], MARKERS[(place + place // n) % n], place // n**2 % 2 == 0)
        for place in range(n_classes)
    ]


def point_size(n_points: int, width: float) -> float:
    """Points² that a point may take in a panel `width` inches wide."""
    return float(np.clip(COVER * (72 * width) ** 2 / max(n_points, 1), SMALLEST, LARGEST))


def opacity(n_points: int) -> float:
    return float(np.clip(0.85 * (MANY / max(n_points, 1)) ** 0.4, 0.25, 0.85))


def pale(colors: Any) -> Floats:
    """Colors mixed with white: (n_colors, 4)."""
    from matplotlib.colors import to_rgba_array

    return PALE + (1 - PALE) * to_rgba_array(colors)


def shuffled(n_points: int) -> Indices:
    """The order in which points are drawn: by lot, always the same."""
    return np.random.default_rng(ORDER_SEED).permutation(n_points)


def draw_marked(
    ax: Axes,
    places: Floats,
    labels: Labels,
    marks: Sequence[Mark],
    *,
    size: float,
    alpha: float = 1.0,
    washed: bool = False,
    edge: str | None = None,
    zorder: float = 2.0,
) -> None:
    """Draw every point with the mark of its class.

    washed : pale, to stay in the background
    edge : color of a line around the points; None draws a thin white one where points are few
    """
    from matplotlib.colors import to_rgba_array

    colors = to_rgba_array([mark.color for mark in marks])
    colors = pale(colors) if washed else colors
    faces = np.where(np.array([[mark.filled] for mark in marks]), colors, 1.0)
    if edge is not None:
        edges = np.tile(to_rgba_array(edge), (len(marks), 1))
    else:
        edges = np.where(np.array([[mark.filled] for mark in marks]), 1.0, colors)
    shapes = [mark.marker for mark in marks]
    draw_shapes(
        ax, places, labels, shapes, faces[labels], edges=edges[labels], size=size, alpha=alpha,
        order=shuffled(len(places)), zorder=zorder,
        linewidth=0.9 if edge is not None else 0.6 if not all(mark.filled for mark in marks) else 0.25,
    )  # fmt: skip


def draw_shapes(
    ax: Axes,
    places: Floats,
    shapes: Labels,
    markers: Sequence[str],
    faces: Any,
    *,
    size: float,
    order: Indices,
    edges: Any = "white",
    linewidth: float = 0.25,
    alpha: float = 1.0,
    zorder: float = 2.0,
) -> Any:
    """Draw points of different shapes, one by one in the order given: what matplotlib's scatter does not.

    shapes : (n_points,) places in `markers`
    faces : (n_points, 4) colors, or (n_points,) numbers for a color map
    """
    from matplotlib.collections import PathCollection
    from matplotlib.markers import MarkerStyle
    from matplotlib.transforms import IdentityTransform

    styles = [MarkerStyle(marker) for marker in markers]
    outlines = [style.get_path().transformed(style.get_transform()) for style in styles]
    ink = np.array([INK[marker] for marker in markers])
    faces = np.asarray(faces)[order]
    drawn = PathCollection(
        [outlines[place] for place in shapes[order]],
        sizes=size * ink[shapes[order]],
        offsets=places[order],
        offset_transform=ax.transData,
        edgecolors=edges if isinstance(edges, str) else np.asarray(edges)[order],
        # A line around points hardly larger than itself would hide them.
        linewidths=linewidth if size > 2 * SMALLEST or linewidth > 0.25 else 0.0,
        alpha=alpha,
        zorder=zorder,
        rasterized=len(places) > MANY,
    )
    drawn.set_transform(IdentityTransform())  # sizes are those of the paper, not of the data
    if faces.ndim == 2:
        drawn.set_facecolor(faces)
    else:
        drawn.set_array(faces)
    ax.add_collection(drawn, autolim=False)
    return drawn


def key_of(mark: Mark, name: str) -> Line2D:
    """The entry of a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="none", marker=mark.marker, markersize=5.2 * INK[mark.marker] ** 0.5,
        markerfacecolor=mark.color if mark.filled else "white",
        markeredgecolor=mark.color, markeredgewidth=0.8, label=name,
    )  # fmt: skip
