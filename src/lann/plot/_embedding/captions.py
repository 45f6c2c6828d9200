"""The captions below the panels of an EmbeddingDisplay."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from lann.plot._text import SMALL, TEXT, escape_math, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# The gap between a panel and its caption, in points, and the height of a line, relative to the font size.
GAP, LINE_SPACING = 4.0, 1.4


def write_caption(ax: Axes, name: str, note: str, *, width: float) -> None:
    """Write a name in bold and a note below a panel that is `width` inches wide."""
    offset = GAP
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
    return GAP + sum(
        LINE_SPACING * size * len(wrap_text(text, width, size).splitlines()) for text, size in texts
    )


def offset_below(ax: Axes, offset: float) -> Any:
    """Return the transform of the axes, shifted down by `offset` points."""
    from matplotlib.transforms import ScaledTranslation

    return ax.transAxes + ScaledTranslation(0, -offset / 72, ax.figure.dpi_scale_trans)
