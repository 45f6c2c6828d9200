"""Axes and grids of panels, and their common style."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann.plot._matplotlib import import_pyplot
from lann.plot._text import SMALL, TEXT, TINY, escape_math, short_names, text_width, wrap_text

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis


class PanelGrid(NamedTuple):
    """A grid of panels.

    Parameters
    ----------
    shape : tuple (n_rows, n_columns)
    size : tuple (width, height)
        The size of a new figure, in inches.
    width_ratios, height_ratios : sequence of float or None
        The relative widths of the columns and heights of the rows; None if all are equal.
    spacing : tuple (vertical, horizontal) or None
        The space between panels as a fraction of the mean panel, with none below the title. None leaves it
        to matplotlib.
    sharex, sharey : bool
        Whether the panels share their axes.
    """

    shape: tuple[int, int]
    size: tuple[float, float]
    width_ratios: Sequence[float] | None = None
    height_ratios: Sequence[float] | None = None
    spacing: tuple[float, float] | None = None
    sharex: bool = False
    sharey: bool = False


def single_axes(ax: Axes | None, size: tuple[float, float]) -> tuple[Any, Axes]:
    """Return a figure and axes: those given, or new ones of the given size in inches."""
    if ax is None:
        _, ax = import_pyplot().subplots(figsize=size, layout="constrained", facecolor="white")
    return ax.figure, ax


def panel_axes(ax: Axes | None, grid: PanelGrid, title: str) -> tuple[Any, NDArray[Any]]:
    """Return a figure and its panels, (n_rows, n_columns): in a new figure, or instead of the given axes."""
    title_space = None if grid.spacing is None else 0.0
    if ax is None:
        figure = import_pyplot().figure(figsize=grid.size, layout="constrained", facecolor="white")
        outer = figure.add_gridspec(2, 1, height_ratios=(0.001, 1.0), hspace=title_space)
    else:
        figure, subplot = ax.figure, ax.get_subplotspec()
        if subplot is None:
            raise ValueError("ax must be created by plt.subplots, because it is replaced by several panels.")
        ax.set_axis_off()
        outer = subplot.subgridspec(2, 1, height_ratios=(0.001, 1.0), hspace=title_space)
    # Separate axes reserve the space for the title.
    title_ax = figure.add_subplot(outer[0])
    title_ax.set_axis_off()
    title_ax.set_title(escape_math(title), fontsize=TEXT + 1)
    hspace, wspace = grid.spacing or (None, None)
    inner = outer[1].subgridspec(
        *grid.shape, width_ratios=grid.width_ratios, height_ratios=grid.height_ratios, hspace=hspace,
        wspace=wspace,
    )  # fmt: skip
    return figure, np.asarray(inner.subplots(sharex=grid.sharex, sharey=grid.sharey, squeeze=False))


def style_axes(ax: Axes, *, grid: Literal["both", "x", "y"] | None = None) -> None:
    """Hide the top and right spines, use small tick labels, and draw light grid lines if wanted."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
    if grid is not None:
        ax.grid(axis=grid, color="#E3E3E3", linewidth=0.7)
        ax.set_axisbelow(True)


def line_height(n_lines: int) -> tuple[float, float]:
    """Return the height in inches, and the font size, of each of a number of labeled lines."""
    return (0.26, TEXT) if n_lines <= 20 else (0.21, SMALL) if n_lines <= 40 else (0.155, TINY + 0.5)


def label_lines(ax: Axes, names: Sequence[str], fontsize: float, *, margin: float = 0.6) -> None:
    """Label the lines y = 0, 1, … with names, from top to bottom."""
    ax.set_yticks(range(len(names)), [escape_math(name) for name in names], fontsize=fontsize)
    ax.set_ylim(len(names) - 1 + margin, -margin)
    ax.tick_params(axis="y", length=0)


def label_columns(ax: Axes, names: Sequence[str]) -> None:
    """Label the columns x = 0, 1, … of a heat map with names, which are shortened."""
    n_columns = len(names)
    few = n_columns <= 8
    fontsize = TEXT if few else SMALL if n_columns <= 32 else TINY
    texts = [escape_math(name) for name in short_names(names, 28)]
    ax.set_xticks(range(n_columns), texts, fontsize=fontsize, rotation=40 if few else 90)
    if few:
        for text in ax.get_xticklabels():
            text.set(ha="right", rotation_mode="anchor")
    ax.tick_params(axis="x", labelsize=fontsize, length=2)


def column_width(n_columns: int) -> float:
    """Return the width of each column of a heat map, in inches."""
    return 0.5 if n_columns <= 8 else 0.27 if n_columns <= 32 else 0.16


def label_percent(axis: Axis) -> None:
    """Label the ticks of an axis, which are shares, in percent."""
    axis.set_major_formatter(lambda share, _: percent_tick(share))


def percent_tick(share: float) -> str:
    """Format a share as a tick label.

    >>> percent_tick(0.25), percent_tick(-0.025), percent_tick(0.0)
    ('25 %', '−2.5 %', '0 %')
    """
    return f"{100 * share:.4g} %".replace("-", "−")


def legend_above(ax: Axes, handles: Sequence[Any], width: float, *, fontsize: float = SMALL) -> float:
    """Draw a legend above axes, in as many columns as fit a width in inches; return its height in points."""
    longest = text_width([str(handle.get_label()) for handle in handles], fontsize)
    n_columns = min(max(int(width / (longest + 0.35)), 1), len(handles))
    ax.legend(
        handles=handles, fontsize=fontsize, frameon=False, loc="lower center", bbox_to_anchor=(0.5, 1.0),
        ncols=n_columns, borderaxespad=0.2, handletextpad=0.3, handlelength=1.0, columnspacing=1.0,
    )  # fmt: skip
    return 1.65 * fontsize * -(-len(handles) // n_columns)


def title_lines(*lines: str, width: float) -> str:
    """Join the lines of a title, without empty ones, wrapped to a width in inches."""
    return "\n".join(wrap_text(line, width, TEXT + 1) for line in lines if line)
