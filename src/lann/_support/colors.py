"""The colors of classes, the same in every picture and on every page."""

from __future__ import annotations

# Every pair differs with normal vision, protanopia and deuteranopia, and each has a contrast of 3 to white.
# The first classes get the most different colors.
CLASS_COLORS = (
    "#0072B2",  # blue
    "#C66200",  # orange
    "#019150",  # green
    "#DB718A",  # pink
    "#621605",  # brown
    "#442387",  # purple
    "#3594EF",  # sky blue
    "#98981A",  # olive
    "#AC2732",  # red
    "#6C627D",  # gray
)
N_COLORS = len(CLASS_COLORS)


def class_color(class_index: int) -> str:
    """Return the color of a class, which depends on its index only; after ten classes the colors repeat.

    >>> class_color(0), class_color(10)
    ('#0072B2', '#0072B2')
    """
    return CLASS_COLORS[class_index % N_COLORS]
