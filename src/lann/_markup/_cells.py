"""Tables, and cells with values, bars and class labels."""

from __future__ import annotations

from lann._class_colors import N_COLORS
from lann._format import counted, is_missing, value_text
from lann._markup._elements import Html, element

# Columns of the user's data in a page, at most.
MOST_COLUMNS = 200

# Shapes of the marks of classes in page.css, in the order of `lann.plot`: 70 classes have different marks.
N_SHAPES = 7


def table(
    caption: str,
    header: list[Html],
    rows: list[Html],
    *,
    class_: str | None = None,
    body_id: str | None = None,
) -> Html:
    """Return a table in a box that scrolls, also by keyboard, on a narrow screen.

    Parameters
    ----------
    caption : str
        For screen readers; it is not visible.
    header, rows : list of Html
        Cells of the header, and elements ``tr``.
    class_ : str or None
    body_id : str or None
        The id of the element ``tbody``.
    """
    whole = element(
        "table",
        element("caption", caption, class_="visually-hidden"),
        element("thead", element("tr", *header)),
        element("tbody", *rows, id=body_id),
        class_=class_,
    )
    return element("div", whole, class_="scroll", role="region", tabindex="0", aria_label=caption)


def header_cell(*inner: str | Html, number: bool = False) -> Html:
    """Return the name of a column of a table."""
    return element("th", *inner, scope="col", class_="number" if number else None)


def value_cell(value: object, *, number: bool, note: str = "") -> Html:
    """Return a cell of a column of numbers or of text; a missing value differs from the text "missing".

    A note about the value follows it.
    """
    inner = element("i", "missing") if is_missing(value) else value_text(value)
    notes = [" ", element("i", f"({note})")] if note else []
    return element("td", inner, *notes, class_="number" if number else "text")


def bar(share: float, full: float, class_index: int | None = None) -> Html:
    """Return a bar; `full` is the share of a bar of full length. With a class index it has that color."""
    length = 100 * share / full if full > 0 else 0.0
    fill = element("span", style=f"width:{length:.1f}%")
    return element("span", fill, class_="bar" + _color(class_index), aria_hidden="true")


def bar_cell(share: float, full: float, text: str | Html, class_index: int | None = None) -> Html:
    """Return a cell with a bar and its number as text."""
    return element("td", bar(share, full, class_index), element("span", text, class_="amount"), class_="bars")


def signed_bar_cell(share: float, full: float, text: str | Html, class_index: int | None = None) -> Html:
    """Return a cell with a bar that starts in the middle: to the right above 0, to the left below."""
    length = 50 * abs(share) / full if full > 0 else 0.0
    fill = element("span", style=f"{'left' if share >= 0 else 'right'}:50%;width:{length:.1f}%")
    track = element("span", fill, class_="bar signed" + _color(class_index), aria_hidden="true")
    return element("td", track, element("span", text, class_="amount"), class_="bars")


def step_bar_cell(
    start: float, end: float, limits: tuple[float, float], text: str | Html, class_index: int | None = None
) -> Html:
    """Return a cell with a bar between two values of a scale, and a text beside it.

    Parameters
    ----------
    start, end : float
        Where the bar starts and ends.
    limits : tuple of float
        The values at the left and at the right end of the scale.
    text : str or Html
    class_index : int or None
        The class whose color the bar has.
    """
    low, high = limits
    left, length = (100 * part / (high - low) for part in (min(start, end) - low, abs(end - start)))
    fill = element("span", style=f"left:{left:.2f}%;width:{length:.2f}%")
    track = element("span", fill, class_="bar step" + _color(class_index), aria_hidden="true")
    return element("td", track, element("span", text, class_="amount"), class_="bars")


def class_label(label: object, class_index: int) -> Html:
    """Return a label with the color and the shape of its class."""
    kind = f" s{class_index % N_SHAPES}" if class_index % N_SHAPES else ""
    return element("span", str(label), class_="class-label" + _color(class_index) + kind)


def _color(class_index: int | None) -> str:
    return "" if class_index is None else f" c{class_index % N_COLORS}"


def folded_table(
    caption: str,
    header: list[Html],
    lines: list[Html],
    n_shown: int,
    n_more: int,
    *,
    class_: str | None,
    noun: str = "column",
) -> Html:
    """Return a table of the first lines, and the others in a second one that has to be opened.

    Parameters
    ----------
    caption : str
    header, lines : list of Html
    n_shown : int
        Number of lines of the first table.
    n_more : int
        Number of columns beyond these; there may be more than `lines` has.
    noun : str
        What a line is about.
    """
    first = table(caption, header, lines[:n_shown], class_=class_)
    rest = lines[n_shown:]
    if not rest:
        return first
    title = counted(n_more, f"more {noun}", "more classes" if noun == "class" else None)
    if len(rest) < n_more:
        title += f", {len(rest)} of them here"
    more = table(f"{caption}: {title}", header, rest, class_=class_)
    return Html(first + element("details", element("summary", title), more))
