"""The look that all displays share: colors that everyone can tell apart, names that fit, panels."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.colors import Colormap

# Okabe and Ito's colors, told apart with any color vision; yellow, pale on white, is left out.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
FOR, AGAINST, NEUTRAL = "#0072B2", "#D55E00", "#8A8A8A"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")
TEXT, SMALL, TINY = 9.0, 8.0, 6.5
# From nothing to much, light to dark.
SEQUENTIAL = "Blues"


def pyplot() -> ModuleType:
    """matplotlib.pyplot, imported on use."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Displays need matplotlib: pip install 'lann[plot]'.") from error
    return plt


def class_colors(n_classes: int) -> list[Any]:
    """A color for each class: Okabe and Ito's, or, where these are too few, from dark to light."""
    if n_classes <= len(OKABE_ITO):
        return list(OKABE_ITO[:n_classes])
    shades = pyplot().get_cmap("viridis")
    return [shades(place) for place in np.linspace(0.0, 0.95, n_classes)]


def low_to_high() -> Colormap:
    """From low values, blue, to high ones, vermilion."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list("low_to_high", [FOR, "#B9B9C4", AGAINST])


def short(name: Any, length: int = 30) -> str:
    """The name, without its middle where it is longer than `length`: ends tell apart what begins alike.

    >>> short("mean fractal dimension of the nucleus", 20)
    'mean fract…e nucleus'
    """
    text = str(name)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def short_apart(names: Iterable[Any], length: int = 30) -> list[str]:
    """All names shortened; those that would look alike are longer, until they do not.

    >>> short_apart(["mean depth of layer 1, in winter", "mean depth of layer 2, in winter"], 16)
    ['mean depth o…1, in winter', 'mean depth o…2, in winter']
    """
    texts = [str(name) for name in names]
    lengths = dict.fromkeys(texts, length)
    while True:
        alike: dict[str, list[str]] = {}
        for text, own in lengths.items():
            alike.setdefault(short(text, own), []).append(text)
        colliding = [text for those in alike.values() if len(those) > 1 for text in those]
        if not colliding:
            return [short(text, lengths[text]) for text in texts]
        for text in colliding:
            lengths[text] += 1


def plain(text: Any) -> str:
    r"""A text as matplotlib draws it letter by letter: a dollar sign does not begin a formula.

    Every text that has users' names in it goes through this, as the last step before it is drawn.

    >>> print(plain("price [$]"))
    price [\$]
    """
    from matplotlib import rcParams

    # Who has switched formulas off sees the backslash, unless TeX itself sets the text.
    read = rcParams["text.parse_math"] or rcParams["text.usetex"]
    return str(text).replace("$", r"\$") if read else str(text)


def name_and_unit(name: Any) -> tuple[str, str]:
    """The unit that a name ends in, taken off.

    >>> name_and_unit("sepal length (cm)"), name_and_unit("ash")
    (('sepal length', 'cm'), ('ash', ''))
    """
    found = re.fullmatch(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]", str(name))
    return (found[1], found[2]) if found else (str(name), "")


def value_with_name(name: Any, value: float, length: int = 30) -> str:
    """A feature and its value, with its unit.

    >>> value_with_name("sepal length (cm)", 5.1), value_with_name("ash", 12345.678)
    ('sepal length = 5.1 cm', 'ash = 12346')
    """
    bare, unit = name_and_unit(name)
    size = f"{value:.0f}" if 1000 <= abs(value) < 1e6 else f"{value:.3g}"
    return f"{short(bare, length)} = {size}{' ' + unit if unit else ''}"


def largest_first(sizes: NDArray[np.float64], n_wanted: int | None) -> NDArray[np.int64]:
    """Places of the largest, largest first, equals in order."""
    order = np.argsort(-np.asarray(sizes), kind="stable")
    return order if n_wanted is None else order[:n_wanted]


def row_size(n_rows: int) -> tuple[float, float]:
    """Inches of height, and points of text, for each of some rows."""
    return (0.26, TEXT) if n_rows <= 20 else (0.21, SMALL) if n_rows <= 40 else (0.155, TINY + 0.5)


def one_panel(ax: Axes | None, size: tuple[float, float]) -> tuple[Any, Axes]:
    """The axes given, or those of a new figure."""
    if ax is None:
        _, ax = pyplot().subplots(figsize=size, layout="constrained", facecolor="white")
    return ax.figure, ax


def panels(
    ax: Axes | None,
    shape: tuple[int, int],
    size: tuple[float, float],
    *,
    title: str,
    widths: Sequence[float] | None = None,
    heights: Sequence[float] | None = None,
    spaces: tuple[float, float] | None = None,
    sharex: bool = False,
    sharey: bool = False,
) -> tuple[Any, NDArray[Any]]:
    """Axes in rows and columns, of a new figure or in the place of the axes given: (n_rows, n_columns).

    spaces : between rows and between columns, as parts of the mean panel; then there is none below the title
    """
    below_title = None if spaces is None else 0.0
    if ax is None:
        figure = pyplot().figure(figsize=size, layout="constrained", facecolor="white")
        grid = figure.add_gridspec(2, 1, height_ratios=(0.001, 1.0), hspace=below_title)
    else:
        figure, place = ax.figure, ax.get_subplotspec()
        if place is None:
            raise ValueError("ax must be one of plt.subplots, as several panels take its place.")
        ax.set_axis_off()
        grid = place.subgridspec(2, 1, height_ratios=(0.001, 1.0), hspace=below_title)
    # Axes of their own keep room for the title.
    head = figure.add_subplot(grid[0])
    head.set_axis_off()
    head.set_title(plain(title), fontsize=TEXT + 1)
    hspace, wspace = spaces or (None, None)
    inner = grid[1].subgridspec(
        *shape, width_ratios=widths, height_ratios=heights, hspace=hspace, wspace=wspace
    )
    return figure, np.asarray(inner.subplots(sharex=sharex, sharey=sharey, squeeze=False))


def tidy(ax: Axes, *, grid: Literal["both", "x", "y"] | None = None) -> None:
    """No frame but left and bottom, small ticks, a faint grid along one axis."""
    ax.spines[["top", "right"]].set_visible(False)
    ax.tick_params(labelsize=SMALL)
    if grid is not None:
        ax.grid(axis=grid, color="#E3E3E3", linewidth=0.7)
        ax.set_axisbelow(True)


def name_rows(ax: Axes, names: Sequence[str], text: float, *, margin: float = 0.6) -> None:
    """Names at y = 0, 1, …, the first on top."""
    ax.set_yticks(range(len(names)), [plain(name) for name in names], fontsize=text)
    ax.set_ylim(len(names) - 1 + margin, -margin)
    ax.tick_params(axis="y", length=0)
