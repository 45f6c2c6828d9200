"""The page of an embedding."""

from __future__ import annotations

import os
import warnings
from collections.abc import Sequence

from lann import _texts
from lann._format import counted
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
from lann._validation import Integer, validate
from lann.report._embedding.accuracies import accuracies
from lann.report._embedding.controls import figure, sidebar, toolbar
from lann.report._embedding.data import page_data
from lann.tables import EmbeddedTable, TableWarning

PACKAGE = "lann.report._embedding"
SCRIPTS = (
    "data",
    "text",
    "elements",
    "state",
    "colors",
    "raster",
    "view",
    "draw",
    "overlay",
    "details",
    "tooltip",
    "legend",
    "search",
    "table",
    "interaction",
    "main",
)
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
    >>> from lann.tables import embed_table
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> page = embedding_page(embed_table(frame, "target", held_out=0.3, embedding=layout), title="Wine")
    >>> page[:15], "<h1>Wine</h1>" in page
    ('<!doctype html>', True)
    """
    text, left_out = _page(embedded, title, n_features, notes)
    for sentence in left_out:
        warnings.warn(sentence, TableWarning, stacklevel=2)
    return text


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
    >>> from lann.tables import embed_table
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = embed_table(load_wine(as_frame=True).frame, "target", embedding=layout)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding_page(os.path.join(folder, "wine.html"), embedded)
    ...     os.listdir(folder)
    ['wine.html']
    """
    text, left_out = _page(embedded, title, n_features, notes)
    for sentence in left_out:
        warnings.warn(sentence, TableWarning, stacklevel=2)
    save_page(path, text)


def _page(
    embedded: EmbeddedTable, title: str, n_features: int, notes: Sequence[str]
) -> tuple[str, list[str]]:
    """Return the page, and sentences about what it leaves out."""
    validate("n_features", n_features, Integer(1))
    data, left_out = page_data(embedded, n_features)
    summary = embedded.summarize()
    optimistic = [] if summary.has_held_out else [_texts.OPTIMISTIC]
    new = f", with {counted(embedded.n_new, 'new row')} among them" if embedded.n_new else ""
    subtitle = f"{counted(embedded.n_train, 'training row')}{new}: similar rows are near each other."
    text = page(
        f"{title}: embedded by lann",
        element("header", element("h1", title), element("p", subtitle, class_="subtitle")),
        element(
            "main",
            element("noscript", element("p", "The figure needs JavaScript, which is disabled.")),
            element("div", toolbar(embedded), figure(), sidebar(embedded), class_="workspace"),
            _row_table(),
            accuracies(embedded, summary),
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
        script=_script(),
    )
    return text, left_out


def _row_table() -> Html:
    """Return the table of the rows, which the script fills when it is opened."""
    header = [header_cell(name) for name in ("row", "", "label", "predicted")]
    header += [header_cell("confidence", number=True), header_cell("most relevant columns")]
    caption = "The rows as a table, the least confident first"
    more = element("button", "Show more", id="more", type="button", hidden=True)
    rows = table(caption, header, [], body_id="rows")
    return element("details", element("summary", caption), rows, more, id="row-table", class_="card")


def _script() -> str:
    parts = "\n".join(read_resource(PACKAGE, f"{name}.js") for name in SCRIPTS)
    return f"'use strict';(() => {{\n{parts}}})();"
