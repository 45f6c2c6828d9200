"""What is around the points of an embedding: the frame, the names of classes, the caption."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats, Labels
from lann.plot._style import SMALL, TEXT, TINY, plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# So few points at each end of an axis may lie outside, if they are so much further away than the others,
# and no larger part of a class does.
FEW, BEYOND, MOST_OUTSIDE = 0.01, 0.3, 0.1
# Points of a class so near to its middle are beside its name; part of the picture.
NEAR = 0.06
# Points between the points of a class and its name, between a panel and what is below it, and of a line of
# text, as parts of its size.
NAME_GAP, GAP, LINE = 3.0, 4.0, 1.4
# Ways from the points of a class to its name.
WAYS = np.array([[0, 1], [0, -1], [1, 0], [-1, 0], [1, 1], [-1, 1], [1, -1], [-1, -1]])


def frame(ax: Axes, places: Floats, labels: Labels, *, room: float) -> float:
    """Both axes alike, no ticks: places of an embedding have no units. `room` is left free.

    Where a few points are so far away that all others would be squeezed, they lie outside, and their number
    is told in a corner. Returns the side of the square that is shown.
    """
    middle, half = _square(*_without_the_farthest(places), room)
    outside = np.abs(places - middle).max(axis=1) > half
    # No class is left out, and hardly a part of one.
    if (np.bincount(labels, outside) > MOST_OUTSIDE * np.bincount(labels)).any():
        middle, half = _square(places.min(axis=0), places.max(axis=0), room)
        outside = np.zeros(len(places), bool)
    square = _SquareWithin(middle, half)
    square(ax, None)
    ax.set_axes_locator(square)
    ax.set_aspect("equal", adjustable="datalim")
    ax.set(xticks=[], yticks=[])
    ax.spines[:].set_color("#C4C4C4")
    ax.spines[:].set_linewidth(0.7)
    if outside.any():
        ax.text(
            0.98, 0.98, f"{outside.sum()} outside", transform=ax.transAxes, ha="right", va="top",
            fontsize=TINY, color="#555555",
        )  # fmt: skip
    return 2 * half


class _SquareWithin:
    """Limits within which a square is as large as the axes allow, found as soon as their size is known.

    Axes that shrink to a square instead would mislead a constrained layout about the room for titles and
    keys; and what matplotlib widens for the aspect, it does not take back when the size changes again.
    """

    def __init__(self, middle: Floats, half: float) -> None:
        self.middle = middle
        self.half = half
        self._size: Floats | None = None

    def __call__(self, ax: Any, renderer: Any) -> Any:
        place = ax.get_position(original=True)
        size = np.asarray(place.transformed(ax.figure.transSubfigure).size)
        if self._size is None or not np.allclose(size, self._size):  # a user may have zoomed since
            self._size = size
            x, y = self.half * size / max(size.min(), 1e-9)
            ax.set_xlim(self.middle[0] - x, self.middle[0] + x)
            ax.set_ylim(self.middle[1] - y, self.middle[1] + y)
        return place


def _without_the_farthest(places: Floats) -> tuple[Floats, Floats]:
    """The lowest and the highest places, those aside that are far from nearly all others."""
    inner_low, inner_high = np.quantile(places, (FEW, 1 - FEW), axis=0)
    reach = BEYOND * float((inner_high - inner_low).max())
    return (
        np.maximum(places.min(axis=0), inner_low - reach),
        np.minimum(places.max(axis=0), inner_high + reach),
    )


def _square(low: Floats, high: Floats, room: float) -> tuple[Floats, float]:
    """The middle, and half a side."""
    return (low + high) / 2, (0.5 + room) * max(float((high - low).max()), 1e-9)


def write_names(
    ax: Axes, places: Floats, labels: Labels, names: Sequence[str], *, text: float, width: float, side: float
) -> None:
    """Write the names of classes beside the points of them that are around their medians.

    Above them, or below, to the right or to the left, or between these: where it lies over no other name, and
    over few points. A name for which there is no such place is left out; the largest classes come first.

    width, side : of the square that is shown, in inches and in steps of the places
    """
    from matplotlib.patheffects import withStroke

    unit = 72 * width / side  # points of the paper
    taken: list[tuple[Floats, Floats]] = []
    present, counts = np.unique(labels, return_counts=True)
    for label in present[np.argsort(-counts, kind="stable")]:
        own = places[labels == label]
        # A class in several groups has its median between them: take the point of it that is nearest there.
        middle = own[((own - np.median(own, axis=0)) ** 2).sum(axis=1).argmin()]
        around = own[np.abs(own - middle).max(axis=1) <= NEAR * side]
        low, high = around.min(axis=0), around.max(axis=0)
        x, y = np.median(around, axis=0)
        half = np.array([0.31 * len(names[label]), 0.6]) * text  # of the name, in points
        spots = np.where(WAYS > 0, high, np.where(WAYS < 0, low, (x, y)))
        steps = (half + NAME_GAP) * WAYS
        centers = spots * unit + steps
        hidden = [_hidden(center, half, places * unit, taken) for center in centers]
        best = int(np.argmin(hidden))
        if hidden[best] > len(places):  # another name
            continue
        taken.append((centers[best], half))
        ax.annotate(
            plain(names[label]), spots[best], xytext=steps[best], textcoords="offset points", fontsize=text,
            ha="center", va="center", zorder=6,
            path_effects=[withStroke(linewidth=2.0, foreground="white", alpha=0.85)],
        )  # fmt: skip


def _hidden(center: Floats, half: Floats, points: Floats, taken: list[tuple[Floats, Floats]]) -> int:
    """How many points a name would lie over; another name counts for more than all of them."""
    names = sum(bool((np.abs(center - other) < half + its).all()) for other, its in taken)
    return names * (len(points) + 1) + int((np.abs(points - center) < half).all(axis=1).sum())


def write_caption(ax: Axes, name: str, note: str, *, width: float) -> None:
    """The method and its accuracies, below a panel `width` inches wide."""
    down = GAP
    for text, size, look in ((name, TEXT, "bold"), (note, SMALL, "normal")):
        for line in _lines(text, size, width):
            ax.text(
                0.5, 0.0, plain(line), transform=below(ax, down), ha="center", va="top", fontsize=size,
                fontweight=look,
            )  # fmt: skip
            down += LINE * size


def caption_height(name: str, note: str, *, width: float) -> float:
    """Points that the caption takes."""
    both = ((name, TEXT), (note, SMALL))
    return GAP + sum(LINE * size * len(_lines(text, size, width)) for text, size in both)


def _lines(text: str, size: float, width: float) -> list[str]:
    """The text in lines that are not wider than so many inches."""
    return wrap(text, max(int(72 * width / (0.56 * size)), 1))


def below(ax: Axes, down: float) -> Any:
    """As axes are measured, from 0 to 1, but so many points lower."""
    from matplotlib.transforms import ScaledTranslation

    return ax.transAxes + ScaledTranslation(0, -down / 72, ax.figure.dpi_scale_trans)
