"""A shape for each class, as paths within some ±1.2, in the order of `lann.plot`; for marks and scripts."""

from __future__ import annotations

from lann.cli.report.markup import Html, element

_TURNED_PLUS = "M.53-1.1 1.1-.53.57 0 1.1.53.53 1.1 0 .57-.53 1.1-1.1.53-.57 0-1.1-.53-.53-1.1 0-.57Z"
# Seven, which has no divisor in common with the ten colors: 70 classes have a pair of their own.
SHAPES = (
    "M1 0A1 1 0 1 1-1 0A1 1 0 1 1 1 0Z",
    "M-.9-.9H.9V.9H-.9Z",
    "M0-1.15 1.1.8H-1.1Z",
    "M0-1.25 1.25 0 0 1.25-1.25 0Z",
    "M0 1.15 1.1-.8H-1.1Z",
    "M-.4-1.15H.4V-.4H1.15V.4H.4V1.15H-.4V.4H-1.15V-.4H-.4Z",
    _TURNED_PLUS,
)
N_COLORS = 10


def class_mark(name: str, place: int) -> Html:
    """A class by its name, color and shape."""
    path = element("path", d=SHAPES[place % len(SHAPES)])
    icon = element("svg", path, viewBox="-1.4 -1.4 2.8 2.8", class_="mark", aria_hidden="true")
    return element("span", icon, element("span", name), class_=f"class c{place % N_COLORS}")
