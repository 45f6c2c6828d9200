"""The key of an EmbeddingDisplay: what its colors and shapes stand for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lann.plot._embedding.frame import below
from lann.plot._embedding.markers import OTHER, Mark, class_marks, key_of
from lann.plot._style import FOR, SMALL, plain, short_apart

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from lann.plot._embedding.display import EmbeddingDisplay

# What features are called that have no mark of their own.
OTHER_FEATURES = "other features"
DARK = "#1A1A1A"
# Inches of a row.
KEY_ROW = 0.17


def marks_of(shown: EmbeddingDisplay) -> list[Mark]:
    """A mark for every class; one for all points where there are no classes."""
    return class_marks(len(shown.class_names)) or [Mark(FOR, "o")]


def group_marks(names: list[str]) -> list[Mark]:
    """As for classes; gray for the last, if it is what has no name of its own."""
    return [
        OTHER if name == OTHER_FEATURES else mark
        for name, mark in zip(names, class_marks(len(names)), strict=True)
    ]


def key_entries(shown: EmbeddingDisplay, length: int) -> list[Any]:
    """The marks and what they stand for."""
    if shown.value_names is not None:
        pairs = zip(group_marks(shown.value_names), short_apart(shown.value_names, length), strict=True)
        return [key_of(mark, plain(name)) for mark, name in pairs]
    marks, names = marks_of(shown), short_apart(shown.class_names, length)
    entries = [key_of(marks[place], plain(names[place])) for place in _in_order(shown.class_names)]
    if shown.wrong is not None:
        wrong = key_of(Mark("white", "o"), "voted for another class")
        wrong.set(markeredgecolor=DARK, markersize=7)
        entries.append(wrong)
    return entries


def key_columns(entries: list[Any], width: float, *, most_rows: int | None = None) -> int:
    """How many entries stand beside each other in so many inches; 0 if all rows are too many."""
    longest = max((len(entry.get_label()) for entry in entries), default=1)
    beside = int(width / (0.3 + 0.068 * longest))
    n_rows = most_rows or -(-len(entries) // max(beside, 1))
    needed = max(-(-len(entries) // max(n_rows, 1)), 1)
    return needed if needed <= max(beside, 0 if most_rows else 1) else 0


def key_height(entries: list[Any], n_columns: int) -> float:
    """Inches that a key takes below a panel."""
    return 0.2 + KEY_ROW * -(-len(entries) // max(n_columns, 1)) if entries else 0.0


def draw_key(
    ax: Axes, entries: list[Any], n_columns: int, *, down: float | None = None, at: float = 0.0
) -> None:
    """A legend of the marks, to be read row by row: in the middle of a panel, or `down` points below.

    at : from where `down` counts, from 0, the foot of the panel, to 1, its head
    """
    where: dict[str, Any] = {"loc": "center"}
    if down is not None:
        where = {"loc": "upper center", "bbox_to_anchor": (0.5, at), "bbox_transform": below(ax, down)}
    n_rows = -(-len(entries) // n_columns)
    by_column = [
        entries[place] for column in range(n_columns) for place in range(column, len(entries), n_columns)
    ]
    if n_rows * n_columns > len(entries):
        # matplotlib fills columns from the first on; only full ones keep the rows together.
        by_column = entries
    ax.legend(
        handles=by_column, ncols=n_columns, frameon=False, fontsize=SMALL, handlelength=1.0,
        handletextpad=0.4, columnspacing=1.0, borderaxespad=0.0, **where,
    )  # fmt: skip


def draw_scale(ax: Axes, drawn: Any, unit: str, *, down: float) -> None:
    """What the colors of numbers mean, `down` points below a panel."""
    from matplotlib.cm import ScalarMappable

    bar_ax = ax.inset_axes((0.15, -0.025, 0.7, 0.025), transform=below(ax, down))
    opaque = ScalarMappable(drawn.norm, drawn.cmap)
    bar = ax.figure.colorbar(opaque, cax=bar_ax, orientation="horizontal")
    bar.set_label(plain(unit), fontsize=SMALL)
    bar.ax.tick_params(labelsize=SMALL)
    bar.outline.set_visible(False)


def _in_order(names: list[str]) -> list[int]:
    """Places of the names, 2 before 10."""
    numbers = all(name.isdecimal() for name in names)
    return sorted(range(len(names)), key=lambda place: int(names[place]) if numbers else place)
