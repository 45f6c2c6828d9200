"""A shape for each class, as SVG paths within about ±1.2, in the order of `lann.plot`."""

from __future__ import annotations

from lann._class_colors import N_COLORS
from lann._markup import Html, element

# Seven, which has no common divisor with the ten colors: 70 classes have different marks.
SHAPES = (
    "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",  # circle
    "M-.9-.9H.9V.9H-.9Z",  # square
    "M0-1.15 1.1.8H-1.1Z",  # triangle
    "M0-1.25 1.25 0 0 1.25-1.25 0Z",  # diamond
    "M0 1.15 1.1-.8H-1.1Z",  # triangle, pointing down
    "M-.4-1.15H.4V-.4H1.15V.4H.4V1.15H-.4V.4H-1.15V-.4H-.4Z",  # plus
    "M.53-1.1 1.1-.53.57 0 1.1.53.53 1.1 0 .57-.53 1.1-1.1.53-.57 0-1.1-.53-.53-1.1 0-.57Z",  # cross
)


def class_mark(name: str, class_index: int) -> Html:
    """Return the name of a class with its color and shape."""
    path = element("path", d=SHAPES[class_index % len(SHAPES)])
    icon = element("svg", path, viewBox="-1.4 -1.4 2.8 2.8", class_="mark", aria_hidden="true")
    return element("span", icon, element("span", name), class_=f"class c{class_index % N_COLORS}")
