"""One panel of an EmbeddingDisplay: markers, frame, class names, caption and legend."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lann._support.format import N_COLORS, class_color
from lann._support.types import Floats, Indices, Labels
from lann.plot._axes import (
    FOR,
    MARKERS,
    NEUTRAL,
    SMALL,
    TEXT,
    TINY,
    escape_math,
    light_to_dark,
    natural_order,
    shorten_unique,
    wrap_text,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.collections import PathCollection
    from matplotlib.lines import Line2D

    from lann.plot._embedding import EmbeddingDisplay

# Factors of the marker sizes with which all shapes have about the same area.
AREA_FACTORS = {"o": 1.0, "s": 0.8, "^": 1.2, "D": 0.62, "v": 1.2, "P": 1.15, "X": 1.1}
# The part of a panel that the markers would cover side by side, and the limits of their size in points².
COVERAGE, MIN_SIZE, MAX_SIZE = 0.3, 2.5, 18.0
# Markers of more rows are more transparent, and rasterized in vector graphics.
MANY_ROWS = 2000
# The part of white in pale colors.
PALENESS = 0.72
THIN_LINE = 0.25
DARK, LINE_COLOR = "#1A1A1A", "#6B6B6B"
# The names of more classes are written in a smaller font.
MANY_CLASSES = 12
# The factor of the size of misclassified rows, and their maximum size, in points².
MISCLASSIFIED_FACTOR, MAX_MISCLASSIFIED_SIZE = 2.2, 40.0
# The limits of the line widths, in points; neighbors with a smaller share of the vote have no line.
MAX_LINEWIDTH, MIN_LINEWIDTH, MIN_SHARE = 1.5, 0.4, 0.02
# Outliers are at most this part of the rows at each end of an axis, farther from the other rows than this
# part of their range, and at most this part of a class.
OUTLIER_QUANTILE, OUTLIER_DISTANCE, MAX_CLASS_SHARE = 0.01, 0.3, 0.1
# A name is written next to the rows of its class within this distance, as a fraction of the panel.
NEAR = 0.06
# The gap between these rows and the name, in points.
NAME_GAP = 3.0
# The directions from the rows to the name, in order of preference.
DIRECTIONS = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]])
# The gap between a panel and its caption, in points, and the height of a line, relative to the font size.
CAPTION_GAP, LINE_SPACING = 4.0, 1.4
# The height of a line of the legend, in inches.
LINE_HEIGHT = 0.17
# The groups of rows without a feature of their own.
OTHER_FEATURES, NO_FEATURE = "other features", "no single feature"


class ClassMarker(NamedTuple):
    """The color and shape of the rows of a class."""

    color: str
    shape: str
    filled: bool = True


OTHER, NO_CLASS, PALE = ClassMarker(NEUTRAL, "o"), ClassMarker("#D9D9D9", "o"), ClassMarker("#DADDE0", "o")


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


def group_markers(names: list[str]) -> list[ClassMarker]:
    """Return a marker for every group: as for classes, but gray for other features, and for none."""
    special = {OTHER_FEATURES: OTHER, NO_FEATURE: NO_CLASS}
    return [special.get(name, marker) for name, marker in zip(names, class_markers(len(names)), strict=True)]


def draw_panel(ax: Axes, display: EmbeddingDisplay, index: int, *, width: float) -> Any:
    """Draw one panel, `width` inches wide; return the artist of which a color bar is made, or None."""
    training, new = display.coordinates[index], display.new_coordinates[index]
    training_labels = _labels_or_zeros(display.labels[index], len(training))
    shown, labels = training, training_labels
    everything, all_labels = training, training_labels
    size = _marker_size(len(training), width)
    if new is not None:
        shows_classes = display.values is None and display.misclassified is None
        markers = [OTHER] * (training_labels.max() + 1)
        if display.labels[index] is not None and shows_classes:
            markers = class_markers(len(display.class_names))
        _draw_classes(ax, training, training_labels, markers, DrawingStyle(size, pale=True, zorder=1))
        shown, labels = new, _labels_or_zeros(display.new_labels[index], len(new))
        everything, all_labels = np.concatenate([training, new]), np.concatenate([training_labels, labels])
        size = max(size, _marker_size(len(new), width))
    scale = _draw_rows(ax, display, shown, labels, size)
    if len(display.lines):
        _draw_lines(ax, display.lines, display.line_shares, size)
    n_classes = len(display.class_names)
    has_names = len(display.coordinates) == 1 and n_classes > 1
    side = _draw_frame(ax, everything, all_labels, margin=0.06 if has_names else 0.03)
    if has_names:
        names = shorten_unique(display.class_names, 20 if n_classes <= MANY_CLASSES else 16)
        fontsize = SMALL if n_classes <= MANY_CLASSES else TINY + 0.5
        _write_class_names(ax, shown, labels, names, fontsize=fontsize, width=width, side=side)
    return scale


def _labels_or_zeros(labels: Labels | None, n_rows: int) -> Labels:
    """Return the class indices, or the same one for all rows if they are unknown."""
    return np.zeros(n_rows, np.int64) if labels is None else labels


def _marker_size(n_rows: int, width: float) -> float:
    """Return the size of a marker, in points², for a number of rows in a panel `width` inches wide."""
    return float(np.clip(COVERAGE * (72 * width) ** 2 / max(n_rows, 1), MIN_SIZE, MAX_SIZE))


def _random_order(n_rows: int) -> Indices:
    """Return the order in which rows are drawn: random, but the same in every figure."""
    return np.random.default_rng(0).permutation(n_rows)


def _draw_rows(ax: Axes, display: EmbeddingDisplay, coordinates: Floats, labels: Labels, size: float) -> Any:
    """Draw the rows that the panel shows, colored by class, error, group or number."""
    markers = class_markers(len(display.class_names)) or [ClassMarker(FOR, "o")]
    opacity = float(np.clip(0.85 * (MANY_ROWS / len(coordinates)) ** 0.4, 0.25, 0.85))
    style, values, wrong = DrawingStyle(size, alpha=opacity), display.values, display.misclassified
    if wrong is not None:
        _draw_classes(ax, coordinates[~wrong], labels[~wrong], markers, DrawingStyle(size, pale=True))
        large = min(MISCLASSIFIED_FACTOR * size, MAX_MISCLASSIFIED_SIZE)
        emphasized = DrawingStyle(large, edge_color=DARK, zorder=3)
        _draw_classes(ax, coordinates[wrong], labels[wrong], markers, emphasized)
    elif values is None:
        _draw_classes(ax, coordinates, labels, markers, style)
    elif display.value_names is not None:
        _draw_classes(ax, coordinates, values, group_markers(display.value_names), style)
    else:
        # The emphasized rows are drawn last, ties in random order.
        order = _random_order(len(values))
        order = order[np.argsort(-values[order] if display.emphasize_low else values[order], kind="stable")]
        scale = _draw_shapes(ax, coordinates[order], ["o"] * len(order), style)
        scale.set_edgecolor("white")
        scale.set_array(values[order])
        scale.set_cmap(light_to_dark().reversed() if display.emphasize_low else light_to_dark())
        low, high = float(values.min()), float(values.max())
        scale.set_clim(low, high if high > low else low + 1.0)
        return scale
    return None


def _draw_classes(
    ax: Axes, coordinates: Floats, labels: Labels, markers: Sequence[ClassMarker], style: DrawingStyle
) -> None:
    """Draw every row with the marker of its class, in random order."""
    from matplotlib.colors import to_rgba_array

    order = _random_order(len(coordinates))
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
    drawn = _draw_shapes(ax, coordinates[order], shapes, style, linewidth=linewidth)
    drawn.set(facecolor=faces[labels], edgecolor=edges[labels])


def _draw_shapes(
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


def _draw_lines(ax: Axes, lines: Floats, shares: Floats, size: float) -> None:
    """Draw thin lines from rows to their neighbors, and rings around the rows."""
    from matplotlib.collections import LineCollection

    drawn = shares >= MIN_SHARE
    linewidths = np.maximum(MAX_LINEWIDTH * shares / max(float(shares.max()), 1e-12), MIN_LINEWIDTH)
    ax.add_collection(
        LineCollection(
            list(lines[drawn]), linewidths=linewidths[drawn], colors=LINE_COLOR, alpha=0.7, zorder=4.0
        )
    )
    x, y = np.unique(lines[:, 0], axis=0).T
    ax.scatter(x, y, s=2.2 * size, facecolors="none", edgecolors=DARK, linewidths=1.0, zorder=5)


def _draw_frame(ax: Axes, coordinates: Floats, labels: Labels, *, margin: float) -> float:
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


def _write_class_names(
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
        offsets = (half_size + NAME_GAP) * DIRECTIONS
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


def write_caption(ax: Axes, name: str, note: str, *, width: float) -> None:
    """Write a name in bold and a note below a panel that is `width` inches wide."""
    offset = CAPTION_GAP
    for text, fontsize, weight in ((name, TEXT, "bold"), (note, SMALL, "normal")):
        for line in wrap_text(text, width, fontsize).splitlines():
            ax.text(
                0.5, 0.0, escape_math(line), transform=offset_below(ax, offset), ha="center", va="top",
                fontsize=fontsize, fontweight=weight,
            )  # fmt: skip
            offset += LINE_SPACING * fontsize


def caption_height(name: str, note: str, *, width: float) -> float:
    """Return the height of a caption, in points."""
    texts = ((name, TEXT), (note, SMALL))
    return CAPTION_GAP + sum(
        LINE_SPACING * size * len(wrap_text(text, width, size).splitlines()) for text, size in texts
    )


def offset_below(ax: Axes, offset: float) -> Any:
    """Return the transform of the axes, shifted down by `offset` points."""
    from matplotlib.transforms import ScaledTranslation

    return ax.transAxes + ScaledTranslation(0, -offset / 72, ax.figure.dpi_scale_trans)


def _legend_handle(marker: ClassMarker, name: str) -> Line2D:
    """Return the entry of a marker in a legend."""
    from matplotlib.lines import Line2D

    return Line2D(
        [], [], linestyle="none", marker=marker.shape, markersize=5.2 * AREA_FACTORS[marker.shape] ** 0.5,
        markerfacecolor=marker.color if marker.filled else "white",
        markeredgecolor=marker.color, markeredgewidth=0.8, label=name,
    )  # fmt: skip


def legend_handles(display: EmbeddingDisplay, length: int) -> list[Any]:
    """Return the entries of the legend, with names shortened to about `length` characters."""
    if display.value_names is not None:
        names = shorten_unique(display.value_names, length)
        pairs = zip(group_markers(display.value_names), names, strict=True)
        return [_legend_handle(marker, escape_math(name)) for marker, name in pairs]
    markers, names = class_markers(len(display.class_names)), shorten_unique(display.class_names, length)
    handles = [_legend_handle(markers[k], escape_math(names[k])) for k in natural_order(display.class_names)]
    if display.misclassified is not None:
        handle = _legend_handle(ClassMarker("white", "o"), "misclassified")
        handle.set(markeredgecolor=DARK, markersize=7)
        handles.append(handle)
    if len(display.coordinates) > 1 and display.new_coordinates[0] is not None:
        handles.append(_legend_handle(PALE, "training row (pale)"))
    return handles


def legend_columns(handles: list[Any], width: float, *, max_lines: int | None = None) -> int:
    """Return the number of columns of a legend of a width in inches; 0 if it has too many lines."""
    longest = max((len(handle.get_label()) for handle in handles), default=1)
    max_columns = int(width / (0.3 + 0.068 * longest))
    n_lines = max_lines or -(-len(handles) // max(max_columns, 1))
    n_columns = max(-(-len(handles) // max(n_lines, 1)), 1)
    return n_columns if n_columns <= max(max_columns, 0 if max_lines else 1) else 0


def draw_legend(
    ax: Axes, handles: list[Any], n_columns: int, *, offset: float | None = None, anchor: float = 0.0
) -> None:
    """Draw a legend that is read line by line.

    Parameters
    ----------
    ax : matplotlib Axes
    handles : list of legend handles
    n_columns : int
    offset : float or None, default=None
        The distance below `anchor`, in points; None draws the legend in the center of the axes.
    anchor : float, default=0.0
        The vertical position in the axes from which the offset counts, from 0 (bottom) to 1 (top).
    """
    position: dict[str, Any] = {"loc": "center"}
    if offset is not None:
        transform = offset_below(ax, offset)
        position = {"loc": "upper center", "bbox_to_anchor": (0.5, anchor), "bbox_transform": transform}
    # matplotlib fills the legend column by column; lines can be kept together only if all columns are full.
    ordered = handles
    if len(handles) % n_columns == 0:
        ordered = [handle for column in range(n_columns) for handle in handles[column::n_columns]]
    ax.legend(
        handles=ordered, ncols=n_columns, frameon=False, fontsize=SMALL, handlelength=1.0,
        handletextpad=0.4, columnspacing=1.0, borderaxespad=0.0, **position,
    )  # fmt: skip
