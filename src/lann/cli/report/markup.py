"""HTML from Python: text is escaped unless it is known to be markup."""

from __future__ import annotations

from html import escape

from lann.cli.account import is_missing, value_text

EMPTY_ELEMENTS = ("input", "meta")


class Html(str):
    """Text that is markup already."""

    __slots__ = ()


def element(tag: str, *children: str | Html, **attributes: str | bool | None) -> Html:
    """An element; `class_` stands for class, an underscore within a name for a hyphen.

    Attributes that are None or False are left out; one that is True has no value.
    """
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        written += f" {name}" if value is True else f' {name}="{escape(str(value), quote=True)}"'
    if tag in EMPTY_ELEMENTS:
        return Html(f"<{tag}{written}>")
    inner = "".join(child if isinstance(child, Html) else escape(str(child)) for child in children)
    return Html(f"<{tag}{written}>{inner}</{tag}>")


def table(caption: str, header: list[Html], rows: list[Html], *, class_: str | None = None) -> Html:
    """A table in a box of its own, which scrolls, by keyboard too, where the screen is too narrow.

    caption : read out, not shown, as a heading stands above most tables
    """
    whole = element(
        "table",
        element("caption", caption, class_="unseen"),
        element("thead", element("tr", *header)),
        element("tbody", *rows),
        class_=class_,
    )
    return element("div", whole, class_="scroll", role="region", tabindex="0", aria_label=caption)


def head(*inner: str | Html, number: bool = False) -> Html:
    """The name of a table's column."""
    return element("th", *inner, scope="col", class_="number" if number else None)


def value_cell(value: object) -> Html:
    """A value of the user's, with "missing" told from a value of that name."""
    kind = "number" if isinstance(value, float) or value is None else "text"
    inner = element("i", "missing") if is_missing(value) else value_text(value)
    return element("td", inner, class_=kind)


def bar_cell(share: float, whole: float, text: str, place: int | None = None) -> Html:
    """A bar from the left, `share` of `whole` long, with its number; of the color of a class, if given."""
    return element("td", bar(share, whole, place), element("span", text, class_="amount"), class_="bars")


def bar(share: float, whole: float, place: int | None = None) -> Html:
    length = 100 * share / whole if whole > 0 else 0.0
    fill = element("span", style=f"width:{length:.1f}%")
    return element("span", fill, class_="bar" + _color(place), aria_hidden="true")


def signed_bar_cell(share: float, whole: float, text: str) -> Html:
    """A bar from the middle: to the right above 0, to the left below."""
    length = 50 * abs(share) / whole if whole > 0 else 0.0
    side, kind = ("left", "for") if share >= 0 else ("right", "against")
    fill = element("span", class_=kind, style=f"{side}:50%;width:{length:.1f}%")
    track = element("span", fill, class_="bar signed", aria_hidden="true")
    return element("td", track, element("span", text, class_="amount"), class_="bars")


def label_chip(label: object, place: int) -> Html:
    """A label with the color of its class."""
    return element("span", str(label), class_="chip" + _color(place))


def _color(place: int | None) -> str:
    """There are ten; further classes take turns."""
    return "" if place is None else f" c{place % 10}"
