"""What all displays share: the base class, axes and panels, colors, and names as they are drawn."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Sequence
from numbers import Real
from textwrap import wrap
from types import ModuleType
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from lann._support.format import class_color, is_missing, printable, value_text
from lann._support.validation import Integer, validate

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.axis import Axis
    from matplotlib.colors import Colormap

# Font sizes in points.
TEXT, SMALL, TINY = 9.0, 8.0, 6.5
# The mean width of a character, relative to the font size.
CHARACTER = 0.56
# What is shown without classes, what stands out, and what does not.
FOR, AGAINST, NEUTRAL = "#0072B2", "#D55E00", "#8A8A8A"
# What belongs to no class: curves, lines and texts.
INK, SOFT = "#33404D", "#666666"
# Values that are neither low nor high: categories and missing values.
UNRANKED = "#009E73"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def import_pyplot() -> ModuleType:
    """Return the module matplotlib.pyplot; raise ImportError if matplotlib is not installed."""
    try:
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise ImportError("Displays need matplotlib: pip install 'lann[plot]'.") from error
    return plt


def check_matplotlib_support() -> None:
    """Raise ImportError if matplotlib is not installed.

    Raises
    ------
    ImportError
        If matplotlib is not installed. The message says how to install it.

    Examples
    --------
    >>> from lann.plot import check_matplotlib_support
    >>> check_matplotlib_support()
    """
    import_pyplot()


class Display:
    """Base of the displays: creates the axes or a grid of panels, and their title and color bar."""

    figure_: Any
    ax_: Any

    def __post_init__(self) -> None:
        for name in ("feature_names", "class_names"):
            if hasattr(self, name):
                setattr(self, name, np.asarray(getattr(self, name)))

    def _create_axes(self, ax: Axes | None, size: tuple[float, float]) -> None:
        """Use the given axes, or create a figure of the given size in inches."""
        if ax is None:
            _, ax = import_pyplot().subplots(figsize=size, layout="constrained", facecolor="white")
        self.figure_, self.ax_ = ax.figure, ax

    def _create_panels(
        self,
        ax: Axes | None,
        title: str,
        shape: tuple[int, int],
        size: tuple[float, float],
        *,
        spacing: tuple[float, float] | None = None,
        shared: dict[str, bool] | None = None,
        **ratios: Any,
    ) -> NDArray[Any]:
        """Create a grid of panels in a new figure, or in place of the given axes.

        Parameters
        ----------
        ax : matplotlib Axes or None
        title : str
        shape : tuple (n_rows, n_columns)
        size : tuple (width, height)
            The size of a new figure, in inches.
        spacing : tuple (vertical, horizontal) or None, default=None
            The space between panels as a fraction of the mean panel, with none below the title. None leaves
            it to matplotlib.
        shared : dict or None, default=None
            Whether the panels share axes: `sharex` and `sharey`.
        **ratios : sequences of float
            `width_ratios` and `height_ratios`.

        Returns
        -------
        axes : ndarray of shape (n_rows, n_columns)
        """
        title_space = None if spacing is None else 0.0
        if ax is None:
            self.figure_ = import_pyplot().figure(figsize=size, layout="constrained", facecolor="white")
            outer = self.figure_.add_gridspec(2, 1, height_ratios=(0.001, 1.0), hspace=title_space)
        else:
            self.figure_, subplot = ax.figure, ax.get_subplotspec()
            if subplot is None:
                raise ValueError("ax must be created by plt.subplots: it is replaced by several panels.")
            ax.set_axis_off()
            outer = subplot.subgridspec(2, 1, height_ratios=(0.001, 1.0), hspace=title_space)
        # Separate axes reserve the space for the title.
        title_ax = self.figure_.add_subplot(outer[0])
        title_ax.set_axis_off()
        title_ax.set_title(escape_math(title), fontsize=TEXT + 1)
        hspace, wspace = spacing or (None, None)
        inner = outer[1].subgridspec(*shape, hspace=hspace, wspace=wspace, **ratios)
        return np.asarray(inner.subplots(squeeze=False, **(shared or {})))

    def _set_title(self, *lines: str, width: float, pad: float | None = None) -> None:
        title = escape_math(title_lines(*lines, width=width))
        self.ax_.set_title(title, fontsize=TEXT + 1, pad=pad)

    def _draw_color_bar(self, drawn: Any, label: str, height: float) -> None:
        """Draw a color bar of shares to the right of the axes; wrap its label to a height in inches."""
        bar = self.figure_.colorbar(drawn, ax=self.ax_, aspect=40, pad=0.02)
        bar.set_label(wrap_text(label, height, SMALL), fontsize=SMALL)
        label_percent(bar.ax.yaxis)
        bar.ax.tick_params(labelsize=SMALL)
        bar.outline.set_visible(False)


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
    axis.set_major_formatter(lambda share, _: f"{100 * share:.4g} %".replace("-", "−"))


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


def class_colors(n_classes: int) -> list[str]:
    """Return the colors of classes, by class index.

    All displays, reports and embedding pages draw a class in the same color, which depends only on its
    position in `classes_`. Each color has a contrast of at least 3 to white, and all pairs can be
    distinguished with any color vision. After ten classes the colors repeat; displays then distinguish the
    classes by marker shapes or by their names, too.

    Parameters
    ----------
    n_classes : int
        The number of classes.

    Returns
    -------
    colors : list of str
        Hexadecimal RGB values.

    Raises
    ------
    ValueError
        If the number is negative.

    Examples
    --------
    >>> from lann.plot import class_colors
    >>> class_colors(2)
    ['#0072B2', '#C66200']
    """
    validate("n_classes", n_classes, Integer(0))
    return [class_color(index) for index in range(n_classes)]


def low_to_high() -> Colormap:
    """Return a colormap from gold (low) to dark purple (high), with green for values without a rank.

    It has no colors of the first classes, so that values are not taken for classes.
    """
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("low_to_high", ["#EDBB3F", "#C2606B", "#3B1561"])
    return colors.with_extremes(bad=UNRANKED)


def light_to_dark() -> Colormap:
    """Return a colormap from light (low) to dark (high) whose lightest color is still visible on white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "light_to_dark", [(0.0, "#D3D9E1"), (0.2, "#7FB2D9"), (0.5, FOR), (1.0, "#08263F")]
    )


def largest_first(values: NDArray[np.float64], n_largest: int | None = None) -> NDArray[np.int64]:
    """Return the indices of the largest values, largest first and ties in order; None returns all."""
    order = np.argsort(-np.asarray(values), kind="stable")
    return order if n_largest is None else order[:n_largest]


def natural_order(names: Sequence[str]) -> list[int]:
    """Return the positions of names in alphabetical order, with the numbers in them ordered by value.

    >>> names = ["type 10", "type 2", "other"]
    >>> [names[position] for position in natural_order(names)]
    ['other', 'type 2', 'type 10']
    """
    # At odd positions of the parts are the numbers. Of two numbers the longer one is larger.
    parts = [re.split(r"0*(\d+)", name) for name in names]
    keys = [[(len(part) if k % 2 else 0, part) for k, part in enumerate(own)] for own in parts]
    return sorted(range(len(names)), key=lambda position: keys[position])


def shorten(name: Any, length: int = 30) -> str:
    """Return the name, with its middle replaced by an ellipsis if it is longer than `length`.

    >>> shorten("mean fractal dimension of the nucleus", 20)
    'mean fract…e nucleus'
    """
    text = str(name)
    if len(text) <= length:
        return text
    tail = (length - 1) // 2
    return f"{text[: length - 1 - tail]}…{text[len(text) - tail :]}"


def shorten_unique(names: Iterable[Any], length: int = 30) -> list[str]:
    """Shorten all names so that different ones stay different: names that would be equal stay longer.

    >>> shorten_unique(["mean depth of layer 1, in winter", "mean depth of layer 2, in winter"], 20)
    ['mean depth o…1, in winter', 'mean depth o…2, in winter']
    >>> shorten_unique(["ash", "a very long name with a tail"], 12)
    ['ash', 'a very… tail']
    """
    texts = [str(name) for name in names]
    lengths = dict.fromkeys(texts, length)
    while True:
        shortened = {text: shorten(text, lengths[text]) for text in lengths}
        counts = Counter(shortened.values())
        ambiguous = [text for text, short in shortened.items() if counts[short] > 1]
        if not ambiguous:
            return [shortened[text] for text in texts]
        for text in ambiguous:
            lengths[text] += 1


def wrap_text(text: str, width: float, fontsize: float = TEXT, *, max_lines: int | None = None) -> str:
    """Wrap a text into lines that are at most about `width` inches wide; lines are kept.

    A text with more lines than allowed is shortened.

    >>> wrap_text("mean concave points", 1.0)
    'mean concave\\npoints'
    """
    n_characters = max(int(72 * width / (CHARACTER * fontsize)), 4)
    if max_lines is not None:
        length = max_lines * n_characters
        while len(wrap(shorten(text, length), n_characters)) > max_lines:
            length -= 1
        text = shorten(text, length)
    return "\n".join("\n".join(wrap(line, n_characters)) for line in text.splitlines())


def text_width(texts: Iterable[str], fontsize: float) -> float:
    """Return about the width of the longest text, in inches."""
    return max((len(text) for text in texts), default=0) * CHARACTER * fontsize / 72


def escape_math(text: Any) -> str:
    r"""Escape dollar signs, so that matplotlib draws them instead of parsing a formula.

    Control characters are escaped, too, since fonts do not have them; line breaks stay. Apply it to every
    text that contains a user's names, as the last step before drawing.

    >>> print(escape_math("price [$]"))
    price [\$]
    """
    from matplotlib import rcParams

    drawn = "\n".join(map(printable, str(text).split("\n")))
    # Without math mode and TeX the backslash would be drawn.
    parses_math = rcParams["text.parse_math"] or rcParams["text.usetex"]
    return drawn.replace("$", r"\$") if parses_math else drawn


def split_unit(name: Any) -> tuple[str, str]:
    """Split a name into the name itself and the unit in parentheses at its end.

    >>> split_unit("sepal length (cm)"), split_unit("ash")
    (('sepal length', 'cm'), ('ash', ''))
    """
    found = re.fullmatch(r"(.+?)\s*[(\[]([^()\[\]]+)[)\]]", str(name))
    return (found[1], found[2]) if found else (str(name), "")


def short_names(names: Iterable[Any], length: int = 30) -> list[str]:
    """Shorten the names of features so that different ones stay different, but not their units.

    >>> short_names(["length of the longest petal (cm)", "ash"], 16)
    ['length o…t petal (cm)', 'ash']
    """
    parts = [split_unit(name) for name in names]
    shortened = shorten_unique([name for name, _ in parts], length)
    return [f"{name} ({unit})" if unit else name for name, (_, unit) in zip(shortened, parts, strict=True)]


def is_number(value: Any) -> bool:
    """Return whether a value is a number, not a bool and not missing."""
    return not is_missing(value) and not isinstance(value, bool) and isinstance(value, Real)


def short_value(value: Any, length: int = 14) -> str:
    """Format a value, a number or text, in few characters.

    >>> short_value(5.1), short_value(12345.678), short_value("Ulm"), short_value(None)
    ('5.1', '12346', 'Ulm', 'missing')
    """
    if not is_number(value):
        return shorten(value_text(value), length)
    return f"{value:.0f}" if 1000 <= abs(float(value)) < 1e6 else f"{float(value):.3g}"
