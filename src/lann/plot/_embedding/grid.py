"""Where the panels of an EmbeddingDisplay stand: rows with room for their captions, and for the key."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

from lann.plot._embedding.frame import caption_height
from lann.plot._embedding.legend import KEY_ROW, key_columns, key_height

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# Inches of a panel among several, and of the smallest in which something is seen.
WIDTH, NARROWEST = 2.4, 0.7
# Rows of a key in the corner of a new figure.
MOST_ROWS = 12
# Between columns, as a part of a panel.
BETWEEN = 0.08


class Grid(NamedTuple):
    """The measures of some panels, in inches.

    Parameters
    ----------
    width : of a panel
    size : (2,) of a new figure
    key_columns : entries of the key beside each other
    in_corner : whether the key stands in the corner that the panels leave empty, not below them
    heights : (n_rows + 1,) of the rows relative to each other, the last for the key
    spaces : between rows and columns, as parts of the mean panel; None where matplotlib finds them
    """

    width: float
    size: tuple[float, float]
    key_columns: int
    in_corner: bool
    heights: list[float]
    spaces: tuple[float, float] | None


def grid_of(shown: EmbeddingDisplay, entries: list[Any], ax: Axes | None, n_columns: int) -> Grid:
    """Room for all panels, of a new figure or in the place of the axes given."""
    n_panels = len(shown.places)
    n_rows = -(-n_panels // n_columns)
    wide, high = (WIDTH * n_columns, None) if ax is None else inches(ax)
    width = WIDTH if ax is None else wide / (n_columns + BETWEEN * (n_columns - 1))
    caption = _tallest_caption(shown, width)
    most_rows = MOST_ROWS
    if high is not None:
        most_rows = min(MOST_ROWS, int((high / n_rows - caption) / KEY_ROW))
    # The key stands in an empty corner if it fits there, otherwise in rows below.
    empty = n_panels < n_rows * n_columns and most_rows > 0
    beside = key_columns(entries, width, most_rows=most_rows) if empty else 0
    in_corner = beside > 0
    beside = beside or key_columns(entries, wide)
    tall = 0.0 if in_corner else key_height(entries, beside)
    size = (wide, 0.35 + (WIDTH + 0.4) * n_rows + tall)
    if high is None or _is_constrained(ax):
        return Grid(width, size, beside, in_corner, [*[1.0] * n_rows, 0.001], None)
    panel = (high - tall) / n_rows - caption
    if min(panel, width) < NARROWEST:
        width = max(width, NARROWEST)
        least = n_rows * (NARROWEST + _tallest_caption(shown, width)) + tall
        raise ValueError(
            f"ax must have room for {n_rows} × {n_columns} panels with their captions and the key, at least "
            f"{width * (n_columns + BETWEEN * (n_columns - 1)):.1f} × {least:.1f} inches; got {wide:.1f} × "
            f"{high:.1f}."
        )
    foot = max(tall, 0.001)
    mean = (n_rows * panel + foot) / (n_rows + 1)
    return Grid(width, size, beside, in_corner, [*[panel] * n_rows, foot], (caption / mean, BETWEEN))


def inches(ax: Axes) -> tuple[float, float]:
    """How wide and how high axes are."""
    place = ax.get_subplotspec()
    box: Any = ax.get_position() if place is None else place.get_position(ax.figure)  # type: ignore[arg-type]
    width, height = box.transformed(ax.figure.transSubfigure).size / ax.figure.dpi
    return float(width), float(height)


def _tallest_caption(shown: EmbeddingDisplay, width: float) -> float:
    both = zip(shown.names, shown.notes, strict=True)
    return (2.0 + max(caption_height(name, note, width=width) for name, note in both)) / 72


def _is_constrained(ax: Axes | None) -> bool:
    """Whether matplotlib itself makes room for captions."""
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    return ax is None or isinstance(ax.figure.get_layout_engine(), ConstrainedLayoutEngine)
