"""Colors and marker shapes that can be distinguished with any color vision."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from lann.plot._matplotlib import import_pyplot

if TYPE_CHECKING:
    from matplotlib.colors import Colormap

# The palette of Okabe and Ito, without yellow, which is hard to see on white.
OKABE_ITO = ("#0072B2", "#E69F00", "#009E73", "#CC79A7", "#56B4E9", "#D55E00", "#000000")
# For and against a class, and neither.
FOR, AGAINST, NEUTRAL = "#0072B2", "#D55E00", "#8A8A8A"
# Values that are neither low nor high: categories and missing values.
UNRANKED = "#009E73"
MARKERS = ("o", "s", "^", "D", "v", "P", "X")


def class_colors(n_classes: int) -> list[Any]:
    """Return a color for each class: of the Okabe-Ito palette, or of viridis if there are more classes."""
    if n_classes <= len(OKABE_ITO):
        return list(OKABE_ITO[:n_classes])
    viridis = import_pyplot().get_cmap("viridis")
    return [viridis(position) for position in np.linspace(0.0, 0.95, n_classes)]


def low_to_high() -> Colormap:
    """Return a colormap from blue (low) to vermilion (high), with green for values without a rank."""
    from matplotlib.colors import LinearSegmentedColormap

    colors = LinearSegmentedColormap.from_list("low_to_high", [FOR, "#B9B9C4", AGAINST])
    return colors.with_extremes(bad=UNRANKED)


def light_to_dark() -> Colormap:
    """Return a colormap from light (low) to dark (high) whose lightest color is still visible on white."""
    from matplotlib.colors import LinearSegmentedColormap

    return LinearSegmentedColormap.from_list(
        "light_to_dark", [(0.0, "#D3D9E1"), (0.2, "#7FB2D9"), (0.5, FOR), (1.0, "#08263F")]
    )
