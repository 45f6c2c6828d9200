"""One panel of an EmbeddingDisplay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.plot._embedding.frame import frame, write_caption, write_names
from lann.plot._embedding.legend import DARK, group_marks, marks_of
from lann.plot._embedding.markers import OTHER, draw_marked, draw_shapes, opacity, point_size, shuffled
from lann.plot._style import FOR, SMALL, TINY, short_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# With more classes than that, their names are written beside them in a panel that is alone.
MANY_CLASSES = 12
# Points that are wrong are so much larger, but no larger than that, in points².
WRONG, LARGEST_WRONG = 2.2, 40.0
THICKEST, THINNEST = 2.6, 0.3


def draw_panel(ax: Axes, shown: EmbeddingDisplay, place: int, *, width: float) -> Any:
    """Draw one panel, `width` inches wide; what a scale of its colors is made from, or None."""
    back, new = shown.places[place], shown.new_places[place]
    back_labels = _labels(shown.labels[place], len(back))
    points, labels = back, back_labels
    size = point_size(len(back), width)
    if new is not None:
        by_class = shown.labels[place] is not None and shown.values is None and shown.wrong is None
        draw_marked(
            ax, back, back_labels, marks_of(shown) if by_class else [OTHER] * (back_labels.max() + 1),
            size=size, washed=True, zorder=1,
        )  # fmt: skip
        points, labels = new, _labels(shown.new_labels[place], len(new))
        size = max(size, point_size(len(points), width))
    scale = _draw_points(ax, shown, points, labels, size)
    if len(shown.lines):
        _draw_lines(ax, shown.lines, shown.line_shares, size)
    alone = len(shown.places) == 1 and len(shown.class_names) > 0
    named = alone and (len(shown.class_names) > MANY_CLASSES or shown.values is not None)
    side = frame(
        ax, points if new is None else np.concatenate([back, new]),
        labels if new is None else np.concatenate([back_labels, labels]), room=0.06 if named else 0.03,
    )  # fmt: skip
    if named:
        names = short_apart(shown.class_names, 16)
        text = SMALL if len(names) <= MANY_CLASSES else TINY + 0.5
        write_names(ax, points, labels, names, text=text, width=width, side=side)
    write_caption(ax, shown.names[place], shown.notes[place], width=width)
    return scale


def _draw_points(ax: Axes, shown: EmbeddingDisplay, points: Floats, labels: Labels, size: float) -> Any:
    """The points that the panel is about, colored by whatever is asked for."""
    marks, alpha = marks_of(shown), opacity(len(points))
    if shown.wrong is not None:
        right, wrong = ~shown.wrong, shown.wrong
        draw_marked(ax, points[right], labels[right], marks, size=size, washed=True)
        large = min(WRONG * size, LARGEST_WRONG)
        draw_marked(ax, points[wrong], labels[wrong], marks, size=large, edge=DARK, zorder=3)
        return None
    if shown.values is None:
        draw_marked(ax, points, labels, marks, size=size, alpha=alpha)
        return None
    if shown.value_names is not None:
        draw_marked(ax, points, shown.values, group_marks(shown.value_names), size=size, alpha=alpha)
        return None
    scale = draw_shapes(
        ax, points, np.zeros(len(points), np.int64), "o", shown.values, size=size, alpha=alpha,
        order=_pale_first(shown.values, shown.low_stands_out),
    )  # fmt: skip
    scale.set_cmap(_light_to_dark().reversed() if shown.low_stands_out else _light_to_dark())
    low, high = float(shown.values.min()), float(shown.values.max())
    scale.set_clim(low, high if high > low else low + 1.0)
    return scale


def _labels(given: Any, n_points: int) -> Labels:
    """One class for all where they are not known."""
    return np.zeros(n_points, np.int64) if given is None else given


def _pale_first(values: Floats, low_stands_out: bool) -> Indices:
    """The order in which numbers are drawn: what stands out is over what does not, equals by lot."""
    order = shuffled(len(values))
    return order[np.argsort(-values[order] if low_stands_out else values[order], kind="stable")]


def _draw_lines(ax: Axes, lines: Floats, shares: Floats, size: float) -> None:
    """Lines from points to neighbors, and rings around both."""
    from matplotlib.collections import LineCollection

    thick = np.maximum(THICKEST * shares / max(float(shares.max()), 1e-12), THINNEST)
    for color, more, zorder in (("white", 1.6, 3.5), (DARK, 0.0, 4.0)):
        ax.add_collection(LineCollection(list(lines), linewidths=thick + more, colors=color, zorder=zorder))
    for ends, ring in ((lines[:, 1], 0.7), (lines[:, 0], 1.5)):
        x, y = np.unique(ends, axis=0).T
        ax.scatter(
            x, y, s=1.2 * ring * size, facecolors="none", edgecolors=DARK, linewidths=0.8 * ring, zorder=5
        )


def _light_to_dark() -> Any:
    """From much, dark, to little, still to be seen on white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "light_to_dark", [(0.0, "#D3D9E1"), (0.2, "#7FB2D9"), (0.5, FOR), (1.0, "#08263F")]
    )
