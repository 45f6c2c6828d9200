"""The grid of an EmbeddingDisplay with several panels: space for the captions and the legend."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lann.plot._axes import PanelGrid
from lann.plot._embedding.captions import caption_height
from lann.plot._embedding.legend import LINE_HEIGHT, legend_columns, legend_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# The width of a panel in a new figure, and the minimum width in given axes, in inches.
WIDTH, MIN_WIDTH = 2.4, 0.7
# The maximum number of lines of a legend in the corner of a new figure.
MAX_LINES = 12
# The horizontal space between panels, as a fraction of a panel.
SPACING = 0.08


class EmbeddingGrid(NamedTuple):
    """The grid of the panels, with a last row for the legend.

    Parameters
    ----------
    panels : PanelGrid
    panel_width : float
        The width of a panel, in inches.
    legend_columns : int
        The number of columns of the legend.
    legend_in_corner : bool
        Whether the legend is in the corner that the panels leave empty, not below them.
    """

    panels: PanelGrid
    panel_width: float
    legend_columns: int
    legend_in_corner: bool


def embedding_grid(
    display: EmbeddingDisplay, handles: list[Any], ax: Axes | None, n_columns: int
) -> EmbeddingGrid:
    """Compute the grid of all panels, in a new figure or in the given axes.

    Parameters
    ----------
    display : EmbeddingDisplay
    handles : list of legend handles
    ax : matplotlib Axes or None
    n_columns : int

    Raises
    ------
    ValueError
        If the given axes are too small.
    """
    n_panels = len(display.coordinates)
    n_rows = -(-n_panels // n_columns)
    total_width, total_height = (WIDTH * n_columns, None) if ax is None else axes_size(ax)
    width = WIDTH if ax is None else total_width / (n_columns + SPACING * (n_columns - 1))
    caption = _max_caption_height(display, width)
    max_lines = MAX_LINES
    if total_height is not None:
        max_lines = min(MAX_LINES, int((total_height / n_rows - caption) / LINE_HEIGHT))
    # The legend is in an empty corner if it fits, otherwise below the panels.
    has_corner = n_panels < n_rows * n_columns and max_lines > 0
    columns_in_corner = legend_columns(handles, width, max_lines=max_lines) if has_corner else 0
    columns = columns_in_corner or legend_columns(handles, total_width)
    legend = 0.0 if columns_in_corner else legend_height(handles, columns)
    shape = (n_rows + 1, n_columns)
    size = (total_width, 0.35 + (WIDTH + 0.4) * n_rows + legend)
    if total_height is None or _has_constrained_layout(ax):
        panels = PanelGrid(shape, size, height_ratios=[*[1.0] * n_rows, 0.001])
        return EmbeddingGrid(panels, width, columns, columns_in_corner > 0)
    height = (total_height - legend) / n_rows - caption
    if min(height, width) < MIN_WIDTH:
        width = max(width, MIN_WIDTH)
        min_height = n_rows * (MIN_WIDTH + _max_caption_height(display, width)) + legend
        min_width = width * (n_columns + SPACING * (n_columns - 1))
        raise ValueError(
            f"ax must have at least {min_width:.1f} × {min_height:.1f} inches for {n_rows} × {n_columns} "
            f"panels with captions and the legend; got {total_width:.1f} × {total_height:.1f}."
        )
    last_height = max(legend, 0.001)
    mean_height = (n_rows * height + last_height) / (n_rows + 1)
    panels = PanelGrid(
        shape, size, height_ratios=[*[height] * n_rows, last_height], spacing=(caption / mean_height, SPACING)
    )
    return EmbeddingGrid(panels, width, columns, columns_in_corner > 0)


def axes_size(ax: Axes) -> tuple[float, float]:
    """Return the width and height of axes, in inches."""
    subplot = ax.get_subplotspec()
    box: Any = ax.get_position() if subplot is None else subplot.get_position(ax.figure)  # type: ignore[arg-type]
    width, height = box.transformed(ax.figure.transSubfigure).size / ax.figure.dpi
    return float(width), float(height)


def _max_caption_height(display: EmbeddingDisplay, width: float) -> float:
    """Return the height of the highest caption, in inches."""
    captions = zip(display.names, display.notes, strict=True)
    return (2.0 + max(caption_height(name, note, width=width) for name, note in captions)) / 72


def _has_constrained_layout(ax: Axes | None) -> bool:
    """Return whether matplotlib itself makes space for the captions."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return ax is None or isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine)
