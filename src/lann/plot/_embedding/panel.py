"""One panel of an EmbeddingDisplay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.plot._colors import light_to_dark
from lann.plot._embedding.class_names import write_class_names
from lann.plot._embedding.frame import draw_frame
from lann.plot._embedding.legend import DARK, LINE_COLOR, display_markers, group_markers
from lann.plot._embedding.markers import (
    OTHER,
    DrawingStyle,
    draw_classes,
    draw_values,
    marker_opacity,
    marker_size,
    random_order,
)
from lann.plot._text import SMALL, TINY, shorten_unique

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# The names of more classes are written in a smaller font.
MANY_CLASSES = 12
# The factor of the size of misclassified rows, and their maximum size, in points².
MISCLASSIFIED_FACTOR, MAX_MISCLASSIFIED_SIZE = 2.2, 40.0
# The limits of the line widths, in points; neighbors with a smaller share of the vote have no line.
MAX_LINEWIDTH, MIN_LINEWIDTH, MIN_SHARE = 1.5, 0.4, 0.02


def draw_panel(ax: Axes, display: EmbeddingDisplay, index: int, *, width: float) -> Any:
    """Draw one panel, `width` inches wide; return the artist of which a color bar is made, or None."""
    training, new = display.coordinates[index], display.new_coordinates[index]
    training_labels = _labels_or_zeros(display.labels[index], len(training))
    shown, labels = training, training_labels
    size = marker_size(len(training), width)
    if new is not None:
        _draw_background(ax, display, index, size)
        shown, labels = new, _labels_or_zeros(display.new_labels[index], len(new))
        size = max(size, marker_size(len(new), width))
    scale = _draw_rows(ax, display, shown, labels, size)
    if len(display.lines):
        _draw_lines(ax, display.lines, display.line_shares, size)
    n_classes = len(display.class_names)
    is_only_panel = len(display.coordinates) == 1
    has_names = is_only_panel and n_classes > 1
    side = draw_frame(
        ax, training if new is None else np.concatenate([training, new]),
        training_labels if new is None else np.concatenate([training_labels, labels]),
        margin=0.06 if has_names else 0.03,
    )  # fmt: skip
    if has_names:
        names = shorten_unique(display.class_names, 20 if n_classes <= MANY_CLASSES else 16)
        fontsize = SMALL if n_classes <= MANY_CLASSES else TINY + 0.5
        write_class_names(ax, shown, labels, names, fontsize=fontsize, width=width, side=side)
    return scale


def _draw_background(ax: Axes, display: EmbeddingDisplay, index: int, size: float) -> None:
    """Draw the training rows in pale colors; in gray if their class is unknown or not shown."""
    labels = _labels_or_zeros(display.labels[index], len(display.coordinates[index]))
    shows_classes = display.values is None and display.misclassified is None
    markers = [OTHER] * (labels.max() + 1)
    if display.labels[index] is not None and shows_classes:
        markers = display_markers(display)
    draw_classes(ax, display.coordinates[index], labels, markers, DrawingStyle(size, pale=True, zorder=1))


def _draw_rows(ax: Axes, display: EmbeddingDisplay, coordinates: Floats, labels: Labels, size: float) -> Any:
    """Draw the rows that the panel shows, colored by class, error, group or number."""
    markers, style = display_markers(display), DrawingStyle(size, alpha=marker_opacity(len(coordinates)))
    if display.misclassified is not None:
        wrong = display.misclassified
        draw_classes(ax, coordinates[~wrong], labels[~wrong], markers, DrawingStyle(size, pale=True))
        large = min(MISCLASSIFIED_FACTOR * size, MAX_MISCLASSIFIED_SIZE)
        emphasized = DrawingStyle(large, edge_color=DARK, zorder=3)
        draw_classes(ax, coordinates[wrong], labels[wrong], markers, emphasized)
        return None
    if display.values is None:
        draw_classes(ax, coordinates, labels, markers, style)
        return None
    if display.value_names is not None:
        draw_classes(ax, coordinates, display.values, group_markers(display.value_names), style)
        return None
    order = _emphasized_last(display.values, display.emphasize_low)
    scale = draw_values(ax, coordinates[order], display.values[order], style)
    scale.set_cmap(light_to_dark().reversed() if display.emphasize_low else light_to_dark())
    low, high = float(display.values.min()), float(display.values.max())
    scale.set_clim(low, high if high > low else low + 1.0)
    return scale


def _labels_or_zeros(labels: Labels | None, n_rows: int) -> Labels:
    """Return the class indices, or the same one for all rows if they are unknown."""
    return np.zeros(n_rows, np.int64) if labels is None else labels


def _emphasized_last(values: Floats, emphasize_low: bool) -> Indices:
    """Return the order in which rows are drawn: the emphasized ones last, ties at random."""
    order = random_order(len(values))
    return order[np.argsort(-values[order] if emphasize_low else values[order], kind="stable")]


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
