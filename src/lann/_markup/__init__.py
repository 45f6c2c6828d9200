"""HTML from Python: elements, templates, cells of tables, and pages that are one file.

A page loads nothing, and runs no script but its own, whatever the data contain.
"""

from __future__ import annotations

import os
import re
from base64 import b64encode
from collections.abc import Sequence
from functools import cache
from hashlib import sha256
from importlib.resources import files
from pathlib import Path
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined
from jinja2.ext import Extension
from markupsafe import Markup as Html
from markupsafe import escape

from lann._markup import texts as _texts
from lann._support.files import check_writable, write_atomically
from lann._support.format import N_COLORS, counted, is_missing, percent, signed_percent, value_text

__all__ = [
    "MOST_COLUMNS", "Html", "bar", "bar_cell", "check_page_name", "check_page_path", "class_label",
    "definitions", "element", "folded_table", "footer", "header_cell", "note", "page", "read_resource",
    "render", "save_page", "signed_bar_cell", "step_bar_cell", "table", "value_cell",
]  # fmt: skip

EMPTY_ELEMENTS = ("input", "meta")
# Columns of the user's data in a page, at most.
MOST_COLUMNS = 200
# Shapes of the marks of classes in page.css, in the order of `lann.plot`: 70 classes have different marks.
N_SHAPES = 7
# Bars have their lengths as attributes, which the policy allows; style sheets and scripts need their hashes.
# Browsers that do not know the directives about elements and attributes use the one about all styles.
POLICY = (
    "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
    "style-src-attr 'unsafe-inline'; style-src-elem"
)
PAGE_SUFFIXES = (".html", ".htm")


def element(tag: str, *children: str | Html, **attributes: str | bool | None) -> Html:
    """Return an element.

    Parameters
    ----------
    tag : str
    *children : str or Html
        Its content; a str is escaped.
    **attributes : str, bool or None
        `class_` is written as class, and an underscore within a name as a hyphen. None and False are left
        out; True is an attribute without a value.

    >>> element("p", "a < b", class_="note", hidden=True)
    Markup('<p class="note" hidden>a &lt; b</p>')
    """
    written = ""
    for name, value in attributes.items():
        if value is None or value is False:
            continue
        name = name.rstrip("_").replace("_", "-")
        written += f" {name}" if value is True else f' {name}="{escape(str(value))}"'
    if tag in EMPTY_ELEMENTS:
        return Html(f"<{tag}{written}>")
    inner = Html("").join(children)
    return Html(f"<{tag}{written}>{inner}</{tag}>")


class _WithoutLineBreaks(Extension):
    """Remove line breaks and indentation from the source of templates, which would become spaces."""

    def preprocess(self, source: str, name: str | None, filename: str | None = None) -> str:
        return re.sub(r"\n\s*", "", source)


@cache
def _environment(package: str) -> Environment:
    environment = Environment(
        loader=PackageLoader(package),
        autoescape=True,
        extensions=[_WithoutLineBreaks],
        undefined=StrictUndefined,
    )
    functions = (
        bar, bar_cell, class_label, counted, header_cell, is_missing, note, percent, signed_bar_cell,
        signed_percent, step_bar_cell, value_cell, value_text,
    )  # fmt: skip
    environment.globals |= {function.__name__: function for function in functions}
    return environment


def render(package: str, template: str, **values: Any) -> Html:
    """Return a template of a package, in its folder ``templates``, filled with values; these are escaped."""
    return Html(_environment(package).get_template(template).render(**values))


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


def page(title: str, *parts: Html, styles: Sequence[str] = (), script: str | None = None) -> str:
    """Return a page as text.

    Parameters
    ----------
    title : str
    *parts : Html
        The elements of the body.
    styles : sequence of str
        Style sheets that follow the one that all pages share.
    script : str or None
        It runs after the body has been read; other scripts are blocked.
    """
    all_styles = [read_resource("lann._markup", "page.css"), *styles]
    policy = " ".join([POLICY, *map(_hash, all_styles)])
    if script is not None:
        policy += f"; script-src {_hash(script)}"
    head = element(
        "head",
        Html('<meta charset="utf-8">'),
        element("meta", http_equiv="Content-Security-Policy", content=policy),
        Html('<meta name="viewport" content="width=device-width, initial-scale=1">'),
        Html('<meta name="color-scheme" content="light dark">'),
        Html('<link rel="icon" href="data:,">'),
        element("title", title),
        *[Html(f"<style>{style}</style>") for style in all_styles],
    )
    scripts = [] if script is None else [Html(f"<script>{script}</script>")]
    return f"<!doctype html>\n{element('html', head, element('body', *parts, *scripts), lang='en')}\n"


def _hash(text: str) -> str:
    """Return what allows a script or a style sheet in a policy."""
    return f"'sha256-{b64encode(sha256(text.encode()).digest()).decode()}'"


def definitions(terms: Sequence[tuple[str, str | Html]], *, class_: str | None = None) -> Html:
    """Return a list of terms with what each means."""
    parts = [part for term, text in terms for part in (element("dt", term), element("dd", text))]
    return element("dl", *parts, class_=class_)


def note(text: str) -> Html:
    """Return a note to the reader of a page."""
    return element("p", f"Note: {text}", class_="note")


def footer(row_names: str = _texts.ROW_NUMBERS) -> Html:
    """Return the footer that all pages share, with a sentence about how rows are named."""
    return element("footer", element("p", f"Made by lann. {row_names}"))


def read_resource(package: str, name: str) -> str:
    """Return the text of a file of a package: a style sheet or a script."""
    return files(package).joinpath(name).read_text("utf-8")


def check_page_name(path: str | os.PathLike[str]) -> None:
    """Raise ValueError if the name of a file is not that of a page."""
    if Path(path).suffix.lower() not in PAGE_SUFFIXES:
        raise ValueError(f"{path} has an unknown format; give a file name that ends in .html.")


def check_page_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a page cannot be written to a file of this name."""
    check_page_name(path)
    check_writable(path)


def save_page(path: str | os.PathLike[str], text: str) -> None:
    """Write a page; on failure nothing is written."""
    check_writable(path)
    # A name of a file that is not valid text has halves of surrogate pairs, which UTF-8 does not have.
    write_atomically(Path(path), text.encode(errors="backslashreplace"))
