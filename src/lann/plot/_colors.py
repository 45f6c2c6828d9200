"""Colors and marker shapes that can be distinguished with any color vision."""

from __future__ import annotations

from typing import TYPE_CHECKING

from lann._class_colors import class_color
from lann._validation import Integer, validate

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# What is shown without classes, what stands out, and what does not.
FOR, AGAINST, NEUTRAL = "#0072B2", "#D55E00", "#8A8A8A"
# What belongs to no class: curves, lines and texts.
INK, SOFT = "#33404D", "#666666"
# Values that are neither low nor high: categories and missing values.
UNRANKED = "#009E73"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


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
