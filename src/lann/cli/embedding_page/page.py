"""The whole page: the picture with its tools and key, and in numbers how well the classes are kept apart."""

from __future__ import annotations

from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING

from lann._files import write_atomically
from lann.cli.embed_summary import FLATTERS
from lann.cli.embedding_page.controls import beside, stage, tools
from lann.cli.embedding_page.numbers import in_numbers
from lann.cli.embedding_page.pack import pack
from lann.cli.report.document import style_sheet, whole_page
from lann.cli.report.markup import Html, element, head, table

if TYPE_CHECKING:
    from lann.cli.embed_summary import Summary
    from lann.cli.embedded import Embedded

SCRIPTS = ("unpack", "colors", "paint", "view", "details", "key", "table", "hands", "start")
READING = (
    (
        "Places",
        "Rows are near each other that the learned metrics find alike: the nearest training rows of each, as "
        "these measure, are kept near it. Directions, and how far apart far groups are, mean nothing.",
    ),
    (
        "Prediction",
        "The nearest training rows vote for their labels, the more the nearer they are; each measures in its "
        "own way. A training row is predicted by the others, without itself. The confidence is the "
        "prediction's share of the vote. Lines go to those that voted, thick where a vote counted much.",
    ),
    (
        "In the picture",
        "What the five nearest training rows in the picture are, again without the row itself: where this "
        "differs from the prediction, the plane had no room for the truth.",
    ),
    (
        "Relevance",
        "The share of the vote that changes, around the row, when this column's value is another's. For a "
        "text column it is summed over its values.",
    ),
    (
        "Keys",
        "With the picture in focus: arrows go from point to point, n and p through all that are shown, with "
        "Shift arrows move the picture, + and - zoom, 0 shows all, Escape lets go.",
    ),
)


def write_page(
    path: Path, embedded: Embedded, summary: Summary, *, title: str, notes: list[str], n_columns: int
) -> list[str]:
    """Write the page, whole or not at all; returns sentences about what it leaves out."""
    page, left_out = make_page(embedded, summary, title=title, notes=notes, n_columns=n_columns)
    write_atomically(path, page.encode())
    return left_out


def make_page(
    embedded: Embedded, summary: Summary, *, title: str, notes: list[str], n_columns: int
) -> tuple[str, list[str]]:
    """The page as text, and sentences about what it leaves out.

    title : what the page is about
    notes : sentences that the reader should know
    n_columns : how many columns are told for each point
    """
    packed = pack(embedded, n_columns)
    unseen = summary.whole.unseen is not None
    notes = [*notes, *packed.left_out, *([] if unseen else [FLATTERS])]
    placed = f", {embedded.n_new:,} more rows placed among them" if embedded.n_new else ""
    page = whole_page(
        f"{title}: embedded by lann",
        element(
            "header",
            element("h1", title),
            element(
                "p",
                f"{embedded.n_train:,} training rows{placed}: near each other is what the learned metrics "
                "find alike.",
                class_="lead",
            ),
        ),
        element(
            "main",
            element("noscript", element("p", "The picture needs a script, which is switched off here.")),
            element("div", tools(embedded), stage(), beside(embedded), class_="desk"),
            _list(),
            in_numbers(embedded, summary),
            *[element("p", f"Note: {text}", class_="note") for text in notes],
            _how_to_read(),
        ),
        element("footer", element("p", "Made by lann. Row numbers count from 0, below the header.")),
        Html(f'<script type="application/json" id="data">{packed.text}</script>'),
        styles=[style_sheet(), _read("style.css")],
        script=_script(),
    )
    return page, packed.left_out


def _list() -> Html:
    header = [head(name) for name in ("row", "", "label", "predicted")]
    header += [head("confidence", number=True), head("most relevant columns")]
    whole = table("Points that are shown, the least sure first", header, [])
    whole = Html(whole.replace("<tbody>", '<tbody id="rows">'))
    more = element("button", "Show more", id="more", type="button", hidden=True)
    summary = element("summary", "The points as a table, the least sure first")
    return element("details", summary, whole, more, id="list", class_="card")


def _how_to_read() -> Html:
    terms = [part for term, text in READING for part in (element("dt", term), element("dd", text))]
    return element(
        "details", element("summary", "How to read this"), element("dl", *terms), class_="help card"
    )


def _script() -> str:
    parts = "\n".join(_read(f"{name}.js") for name in SCRIPTS)
    return f"'use strict';(() => {{\n{parts}}})();"


def _read(name: str) -> str:
    return files("lann.cli.embedding_page").joinpath(name).read_text("utf-8")
