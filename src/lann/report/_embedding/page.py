"""The page of an embedding: an interactive figure, the rows as a table, and accuracies by class."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

import numpy as np

from lann._markup import (
    Html,
    definitions,
    element,
    footer,
    header_cell,
    note,
    page,
    read_resource,
    save_page,
    table,
)
from lann._markup import texts as _texts
from lann._support.format import N_COLORS, counted, percent
from lann._support.validation import Integer, validate
from lann.report._embedding.data import SHAPES, page_data
from lann.tables import Accuracy, ClassAccuracy, EmbeddedTable, EmbeddingSummary, TableWarning

PACKAGE = "lann.report._embedding"
SCRIPTS = (
    "data", "text", "elements", "state", "colors", "raster", "view", "draw", "overlay", "details", "tooltip",
    "legend", "search", "table", "interaction", "main",
)  # fmt: skip
MAX_CLASSES = 200
COLORINGS = {
    "class": "class",
    "prediction": "predicted class",
    "errors": "errors",
    "confidence": "confidence",
    "column": "most relevant column",
}
SUBSETS = {"all": "all rows", "training": "training rows", "new": "new rows"}
HOW_TO_READ = (
    (
        "Position",
        "Rows are near each other if they are similar under the learned metrics: the nearest training rows "
        "of each row stay near it. Directions, and distances between separate groups, have no meaning.",
    ),
    (
        "Prediction",
        f"{_texts.VOTES} A training row does not vote on itself. The confidence is the probability of "
        "the prediction. Lines lead to the training rows that voted; a thicker line is a larger share of the "
        "vote.",
    ),
    (
        "In the embedding",
        "The majority of the five nearest training rows in the figure, without the row itself. Where it "
        "differs from the prediction, the two dimensions do not show all that the model has learned.",
    ),
    ("Relevance", _texts.RELEVANCE),
    (
        "Keyboard",
        "When the figure has the focus, arrow keys select the next row in a direction, n and p the next and "
        "the previous row, Shift and an arrow key move the figure, + and - zoom, 0 shows all rows, and "
        "Escape ends the selection.",
    ),
)


def embedding_page(
    embedded: EmbeddedTable,
    *,
    title: str = "Embedded rows",
    n_features: int = 5,
    notes: Sequence[str] = (),
) -> str:
    """Return an interactive page of an embedding, which loads nothing.

    Pointing at a row shows its label, its prediction, the training rows that voted and the columns that the
    vote depends on. Rows can be colored, filtered, searched and read as a table.

    Parameters
    ----------
    embedded : EmbeddedTable
    title : str, default="Embedded rows"
    n_features : int, default=5
        Number of features to list for each row, the most relevant first.
    notes : sequence of str, default=()
        Notes to the reader, a sentence each.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If `n_features` is less than 1.

    Warns
    -----
    TableWarning
        If the page leaves something out because there are many rows.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.report import embedding_page
    >>> from lann.tables import TableModel
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> page = embedding_page(TableModel.fit(frame, "target").embed(embedding=layout), title="Wine")
    >>> page[:15], "<h1>Wine</h1>" in page
    ('<!doctype html>', True)
    """
    return _page(embedded, title, n_features, notes)


def save_embedding_page(
    path: str | os.PathLike[str],
    embedded: EmbeddedTable,
    *,
    title: str = "Embedded rows",
    n_features: int = 5,
    notes: Sequence[str] = (),
) -> None:
    """Save an interactive page of an embedding, which loads nothing.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    embedded : EmbeddedTable
    title : str, default="Embedded rows"
    n_features : int, default=5
        As in `embedding_page`.
    notes : sequence of str, default=()
        As in `embedding_page`.

    Raises
    ------
    ValueError
        If `n_features` is less than 1.
    OSError
        If the file cannot be written.

    Warns
    -----
    TableWarning
        If the page leaves something out because there are many rows.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.report import save_embedding_page
    >>> from lann.tables import TableModel
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = TableModel.fit(load_wine(as_frame=True).frame, "target").embed(embedding=layout)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding_page(os.path.join(folder, "wine.html"), embedded)
    ...     os.listdir(folder)
    ['wine.html']
    """
    save_page(path, _page(embedded, title, n_features, notes))


def _page(embedded: EmbeddedTable, title: str, n_features: int, notes: Sequence[str]) -> str:
    """Return the page; warn about what it leaves out."""
    validate("n_features", n_features, Integer(1))
    data, left_out = page_data(embedded, n_features)
    for sentence in left_out:
        warnings.warn(sentence, TableWarning, stacklevel=3)
    summary = embedded.summarize()
    optimistic = [] if summary.has_held_out else [_texts.OPTIMISTIC]
    new = f", with {counted(embedded.n_new, 'new row')} among them" if embedded.n_new else ""
    subtitle = f"{counted(embedded.n_train, 'training row')}{new}: similar rows are near each other."
    scripts = "\n".join(read_resource(PACKAGE, f"{name}.js") for name in SCRIPTS)
    return page(
        f"{title}: embedded by lann",
        element("header", element("h1", title), element("p", subtitle, class_="subtitle")),
        element(
            "main",
            element("noscript", element("p", "The figure needs JavaScript, which is disabled.")),
            element("div", _toolbar(embedded), _figure(), _sidebar(embedded), class_="workspace"),
            _row_table(),
            _accuracies(embedded, summary),
            *[note(sentence) for sentence in (*notes, *left_out, *optimistic)],
            element(
                "details",
                element("summary", "How to read this page"),
                definitions(HOW_TO_READ),
                class_="help card",
            ),
        ),
        footer(),
        Html(f'<script type="application/json" id="data">{data}</script>'),
        styles=[read_resource(PACKAGE, "style.css")],
        script=f"'use strict';(() => {{\n{scripts}}})();",
    )


def _row_table() -> Html:
    """Return the table of the rows, which the script fills when it is opened."""
    header = [header_cell(name) for name in ("row", "", "label", "predicted")]
    header += [header_cell("confidence", number=True), header_cell("most relevant columns")]
    caption = "The rows as a table, the least confident first"
    more = element("button", "Show more", id="more", type="button", hidden=True)
    rows = table(caption, header, [], body_id="rows")
    return element("details", element("summary", caption), rows, more, id="row-table", class_="card")


def _toolbar(embedded: EmbeddedTable) -> Html:
    """Return the controls above the figure."""
    by_column = element("optgroup", id="by-column", label="relevance of a column")
    coloring = element("select", *_options(COLORINGS), by_column, id="coloring")
    subset = element("select", *_options(SUBSETS), id="subset")
    search = element(
        "input",
        id="search",
        type="search",
        placeholder="name or row",
        autocomplete="off",
        spellcheck="false",
    )
    return element(
        "div",
        _labeled("Color by", coloring),
        *([_labeled("Show", subset)] if embedded.n_new else []),
        _checkbox("errors-only", "Only errors"),
        _checkbox("class-names", "Class names"),
        _labeled("Find", search),
        element("span", id="search-result", class_="soft", role="status"),
        element("span", id="count", class_="soft", role="status"),
        class_="toolbar",
    )


def _figure() -> Html:
    """Return the figure: a canvas for the rows, and one above it for the selected row."""
    zoom = [("zoom-in", "+", "Zoom in"), ("zoom-out", "−", "Zoom out"), ("zoom-all", "⤢", "Show all rows")]
    return element(
        "div",
        element(
            "div",
            element("canvas", id="points"),
            element("canvas", id="overlay"),
            element("div", id="tooltip", hidden=True, aria_hidden="true"),
            id="figure",
            tabindex="0",
            role="application",
            aria_label="Figure of the rows. Arrow keys select a row, plus and minus zoom, 0 shows all rows. "
            "The same rows are in a table below.",
        ),
        element("div", *_buttons(zoom), class_="zoom", role="group", aria_label="Zoom"),
        element("p", id="announcement", class_="visually-hidden", aria_live="polite"),
        class_="frame",
    )


def _sidebar(embedded: EmbeddedTable) -> Html:
    """Return the legend, and the details of a row."""
    steps = [("previous", "‹", "Previous row"), ("next", "›", "Next row")]
    new = "New rows have an outline, and the color of their label or, without one, of their prediction."
    ends = [element("span", id=id) for id in ("scale-low", "scale-unit", "scale-high")]
    return element(
        "aside",
        element(
            "section",
            element("h2", "Colors"),
            element("ul", id="groups"),
            element(
                "div",
                element("div", id="color-ramp", aria_hidden="true"),
                element("div", *ends, class_="scale-ends"),
                id="scale",
            ),
            id="colors",
            aria_label="Colors",
            hidden=True,
        ),
        element(
            "section",
            element(
                "div",
                element("h2", "Classes"),
                element("button", "all", id="show-all", type="button", class_="link"),
                element("button", "none", id="show-none", type="button", class_="link"),
                class_="title",
            ),
            element("ul", id="classes"),
            *([element("p", new, class_="soft")] if embedded.n_new else []),
            aria_label="Classes",
        ),
        element(
            "section",
            element("div", element("h2", "No row selected", id="row-name"), *_buttons(steps), class_="title"),
            element("p", "Point at a row to see it; click to select it.", id="hint", class_="soft"),
            element("div", id="details", hidden=True),
            aria_label="Selected row",
        ),
    )


def _options(choices: dict[str, str]) -> list[Html]:
    return [element("option", text, value=value) for value, text in choices.items()]


def _buttons(buttons: list[tuple[str, str, str]]) -> list[Html]:
    return [
        element("button", sign, id=id, type="button", title=text, aria_label=text)
        for id, sign, text in buttons
    ]


def _labeled(text: str, control: Html) -> Html:
    return element("label", element("span", text), control)


def _checkbox(id: str, text: str) -> Html:
    control = element("input", id=id, type="checkbox")
    return element("label", control, element("span", text), class_="checkbox")


def _accuracies(embedded: EmbeddedTable, summary: EmbeddingSummary) -> Html:
    """Return the section about the accuracies by class, and the classes that are confused."""
    shown = summary.by_class[:MAX_CLASSES]
    header = [header_cell("class")]
    for kind in ("training rows", "held-out rows")[: 1 + summary.has_held_out]:
        header += [header_cell(text, number=True) for text in (kind, "by vote", "in embedding")]
    lines = [_line(embedded, line) for line in [*shown, summary.overall]]
    parts = [
        element("h2", "How well the classes are separated", id="accuracies"),
        element("p", f"The share of the rows whose class is predicted correctly. {_texts.ACCURACIES}"),
        table("Accuracies by class", header, lines),
    ]
    if n_more := len(summary.by_class) - len(shown):
        parts.append(element("p", f"And {n_more} more classes."))
    if summary.pairs:
        parts += _confused_pairs(embedded, summary)
    return element("section", *parts, aria_labelledby="accuracies")


def _line(embedded: EmbeddedTable, line: ClassAccuracy) -> Html:
    index = line.class_index
    name = "all" if index is None else _class_mark(embedded.classes[index], index)
    cells = _cells(line.training) + ([] if line.held_out is None else _cells(line.held_out))
    return element(
        "tr",
        element("th", name, scope="row"),
        *[element("td", cell, class_="number") for cell in cells],
        class_="overall" if index is None else None,
    )


def _cells(accuracy: Accuracy) -> list[str]:
    shares = (accuracy.by_vote, accuracy.in_embedding)
    return [f"{accuracy.n_rows:,}", *("" if np.isnan(share) else percent(share, 1) for share in shares)]


def _confused_pairs(embedded: EmbeddedTable, summary: EmbeddingSummary) -> list[Html]:
    kind = "held-out rows" if summary.has_held_out else "training rows, each without itself"
    items = [
        element(
            "li",
            _class_mark(embedded.classes[pair.first], pair.first),
            " and ",
            _class_mark(embedded.classes[pair.second], pair.second),
            f": {pair.n_confused:,} of {pair.n_rows:,} rows ({percent(pair.n_confused / pair.n_rows, 1)})",
        )
        for pair in summary.pairs
    ]
    heading = element("h3", f"Classes that are confused most often in the embedding, by their {kind}")
    return [heading, element("ul", *items, class_="pairs")]


def _class_mark(name: str, class_index: int) -> Html:
    """Return the name of a class with its color and shape."""
    path = element("path", d=SHAPES[class_index % len(SHAPES)])
    icon = element("svg", path, viewBox="-1.4 -1.4 2.8 2.8", class_="mark", aria_hidden="true")
    return element("span", icon, element("span", name), class_=f"class c{class_index % N_COLORS}")
