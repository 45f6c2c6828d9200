"""Markers that distinguish classes by color and shape, drawn so that no class hides another."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lann._class_colors import N_COLORS, class_color
from lann._types import Floats, Indices, Labels
from lann.plot._colors import MARKERS, NEUTRAL

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

# Factors of the marker sizes with which all shapes have about the same area.
AREA_FACTORS = {"o": 1.0, "s": 0.8, "^": 1.2, "D": 0.62, "v": 1.2, "P": 1.15, "X": 1.1}
# The part of a panel that the markers would cover side by side, and the limits of their size in points².
COVERAGE, MIN_SIZE, MAX_SIZE = 0.3, 2.5, 18.0
# Markers of more rows are more transparent, and rasterized in vector graphics.
MANY_ROWS = 2000
# The part of white in pale colors.
PALENESS = 0.72
THIN_LINE = 0.25
ORDER_SEED = 0


class ClassMarker(NamedTuple):
    """The color and shape of the rows of a class."""

    color: str
    shape: str
    filled: bool = True


# The marker of everything without a name.
OTHER = ClassMarker(NEUTRAL, "o")
# The marker of rows to which no single feature is relevant.
NONE = ClassMarker("#D9D9D9", "o")
# The marker of training rows behind new rows, in a legend.
PALE = ClassMarker("#DADDE0", "o")


class DrawingStyle(NamedTuple):
    """How a set of rows is drawn.

    Parameters
    ----------
    size : float
        The size of a circle, in points².
    alpha : float
        The opacity.
    zorder : float
        Sets with a higher order are drawn over the others.
    pale : bool
        Whether to draw pale colors, for rows in the background.
    edge_color : str or None
        The color of a line around the markers. If None, filled markers have a thin white one.
    """

    size: float
    alpha: float = 1.0
    zorder: float = 2.0
    pale: bool = False
    edge_color: str | None = None


def class_markers(n_classes: int) -> list[ClassMarker]:
    """Return a marker for each class: different for up to 140 classes, in color and in shape for up to 7.

    >>> markers = class_markers(140)
    >>> len(set(markers)), markers[0].color != markers[1].color, markers[0].shape != markers[1].shape
    (140, True, True)
    """
    # The numbers of colors and shapes have no common divisor, so that all pairs occur before one repeats.
    n_pairs = N_COLORS * len(MARKERS)
    return [
        ClassMarker(class_color(k), MARKERS[k % len(MARKERS)], k // n_pairs % 2 == 0)
        for k in range(n_classes)
    ]


def marker_size(n_rows: int, width: float) -> float:
    """Return the size of a marker, in points², for a number of rows in a panel `width` inches wide."""
    return float(np.clip(COVERAGE * (72 * width) ** 2 / max(n_rows, 1), MIN_SIZE, MAX_SIZE))


def marker_opacity(n_rows: int) -> float:
    """Return the opacity of the markers for a number of rows."""
    return float(np.clip(0.85 * (MANY_ROWS / max(n_rows, 1)) ** 0.4, 0.25, 0.85))


def random_order(n_rows: int) -> Indices:
    """Return the order in which rows are drawn: random, but the same in every figure."""
    return np.random.default_rng(ORDER_SEED).permutation(n_rows)


def draw_classes(
    ax: Axes, coordinates: Floats, labels: Labels, markers: Sequence[ClassMarker], style: DrawingStyle
) -> None:
    """Draw every row with the marker of its class, in random order."""
    from matplotlib.colors import to_rgba_array

    order = random_order(len(coordinates))
    labels = labels[order]
    colors = to_rgba_array([marker.color for marker in markers])
    if style.pale:
        colors = PALENESS + (1 - PALENESS) * colors
    filled = np.array([[marker.filled] for marker in markers])
    faces, edges = np.where(filled, colors, 1.0), np.where(filled, 1.0, colors)
    linewidth = THIN_LINE if filled.all() else 0.6
    if style.edge_color is not None:
        edges, linewidth = np.tile(to_rgba_array(style.edge_color), (len(markers), 1)), 0.9
    shapes = [markers[label].shape for label in labels]
    drawn = draw_shapes(ax, coordinates[order], shapes, style, linewidth=linewidth)
    drawn.set(facecolor=faces[labels], edgecolor=edges[labels])


def draw_values(ax: Axes, coordinates: Floats, values: Floats, style: DrawingStyle) -> PathCollection:
    """Draw every row as a circle, in the given order, with a number for a colormap."""
    drawn = draw_shapes(ax, coordinates, ["o"] * len(coordinates), style)
    drawn.set_edgecolor("white")
    drawn.set_array(values)
    return drawn


def draw_shapes(
    ax: Axes,
    coordinates: Floats,
    shapes: Sequence[str],
    style: DrawingStyle,
    *,
    linewidth: float = THIN_LINE,
) -> PathCollection:
    """Draw rows with different shapes in the given order, which matplotlib's scatter cannot do."""
    from matplotlib.collections import PathCollection
    from matplotlib.markers import MarkerStyle
    from matplotlib.transforms import IdentityTransform

    markers = {shape: MarkerStyle(shape) for shape in set(shapes)}
    paths = {
        shape: marker.get_path().transformed(marker.get_transform()) for shape, marker in markers.items()
    }
    # A thin line around very small markers would hide them.
    is_visible = style.size > 2 * MIN_SIZE or linewidth > THIN_LINE
    drawn = PathCollection(
        [paths[shape] for shape in shapes],
        sizes=style.size * np.array([AREA_FACTORS[shape] for shape in shapes]),
        offsets=coordinates,
        offset_transform=ax.transData,
        linewidths=linewidth if is_visible else 0.0,
        alpha=style.alpha,
        zorder=style.zorder,
        rasterized=len(coordinates) > MANY_ROWS,
    )
    drawn.set_transform(IdentityTransform())  # sizes are in points, not in the units of the data
    ax.add_collection(drawn, autolim=False)
    return drawn


def legend_handle(marker: ClassMarker, name: str) -> Line2D:
    """Return the entry of a marker in a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="none", marker=marker.shape, markersize=5.2 * AREA_FACTORS[marker.shape] ** 0.5,
        markerfacecolor=marker.color if marker.filled else "white",
        markeredgecolor=marker.color, markeredgewidth=0.8, label=name,
    )  # fmt: skip
