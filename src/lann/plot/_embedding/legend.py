"""The legend of an EmbeddingDisplay: the markers of the classes or groups, or a color bar."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lann.plot._colors import FOR
from lann.plot._embedding.captions import offset_below
from lann.plot._embedding.markers import (
    NONE,
    OTHER,
    PALE,
    ClassMarker,
    class_markers,
    legend_handle,
)
from lann.plot._ranking import natural_order
from lann.plot._text import SMALL, escape_math, shorten_unique

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# The name of the features without a marker of their own.
OTHER_FEATURES = "other features"
NO_FEATURE = "no single feature"
DARK, LINE_COLOR = "#1A1A1A", "#6B6B6B"
# The height of a line of the legend, in inches.
LINE_HEIGHT = 0.17


def display_markers(display: EmbeddingDisplay) -> list[ClassMarker]:
    """Return a marker for every class; one for all rows if there are no classes."""
    return class_markers(len(display.class_names)) or [ClassMarker(FOR, "o")]


def group_markers(names: list[str]) -> list[ClassMarker]:
    """Return a marker for every group: as for classes, but gray for other features, and for none."""
    return [
        {OTHER_FEATURES: OTHER, NO_FEATURE: NONE}.get(name, marker)
        for name, marker in zip(names, class_markers(len(names)), strict=True)
    ]


def legend_handles(display: EmbeddingDisplay, length: int) -> list[Any]:
    """Return the entries of the legend, with names shortened to about `length` characters."""
    if display.value_names is not None:
        names = shorten_unique(display.value_names, length)
        pairs = zip(group_markers(display.value_names), names, strict=True)
        return [legend_handle(marker, escape_math(name)) for marker, name in pairs]
    markers, names = display_markers(display), shorten_unique(display.class_names, length)
    handles = [legend_handle(markers[k], escape_math(names[k])) for k in natural_order(display.class_names)]
    if display.misclassified is not None:
        handle = legend_handle(ClassMarker("white", "o"), "misclassified")
        handle.set(markeredgecolor=DARK, markersize=7)
        handles.append(handle)
    if len(display.coordinates) > 1 and display.new_coordinates[0] is not None:
        handles.append(legend_handle(PALE, "training row (pale)"))
    return handles


def explain_marks(display: EmbeddingDisplay) -> str:
    """Return what is drawn beside the markers of the legend: training rows behind new rows, and lines."""
    notes = []
    if display.new_coordinates[0] is not None:
        shows_classes = display.values is None and display.misclassified is None
        notes.append("pale: training rows" if shows_classes else "light gray: training rows")
    if len(display.lines):
        notes.append("lines: from a row with a ring to its neighbors, the wider, the larger their vote")
    return "; ".join(notes)


def legend_columns(handles: list[Any], width: float, *, max_lines: int | None = None) -> int:
    """Return the number of columns of a legend of a width in inches; 0 if it has too many lines."""
    longest = max((len(handle.get_label()) for handle in handles), default=1)
    max_columns = int(width / (0.3 + 0.068 * longest))
    n_lines = max_lines or -(-len(handles) // max(max_columns, 1))
    n_columns = max(-(-len(handles) // max(n_lines, 1)), 1)
    return n_columns if n_columns <= max(max_columns, 0 if max_lines else 1) else 0


def legend_height(handles: list[Any], n_columns: int) -> float:
    """Return the height of a legend below a panel, in inches."""
    return 0.2 + LINE_HEIGHT * -(-len(handles) // max(n_columns, 1)) if handles else 0.0


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


def draw_color_bar(ax: Axes, drawn: Any, label: str, *, offset: float) -> None:
    """Draw the color bar of numbers, `offset` points below a panel."""
    from matplotlib.cm import ScalarMappable

    bar_ax = ax.inset_axes((0.15, -0.025, 0.7, 0.025), transform=offset_below(ax, offset))
    opaque = ScalarMappable(drawn.norm, drawn.cmap)
    bar = ax.figure.colorbar(opaque, cax=bar_ax, orientation="horizontal")
    bar.set_label(escape_math(label), fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)
