"""An embedding in a file: an interactive page, or a figure."""

from __future__ import annotations

import io
import os
import warnings
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lann._markup import Html, footer, page, read_resource, render, save_page
from lann._support.files import check_writable, write_atomically
from lann._support.format import counted, printable
from lann._support.validation import Integer, validate
from lann.report._embedding_data import SHAPES, page_data
from lann.tables import EmbeddedTable, TableWarning

SCRIPTS = (
    "data", "text", "elements", "state", "colors", "raster", "view", "draw", "overlay", "details", "tooltip",
    "legend", "search", "table", "interaction", "main",
)  # fmt: skip
FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 200


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
    validate("n_features", n_features, Integer(1))
    data, left_out = page_data(embedded, n_features)
    for sentence in left_out:
        warnings.warn(sentence, TableWarning, stacklevel=2)
    body = render(
        "lann.report",
        "embedding.html",
        title=title,
        embedded=embedded,
        notes=[*notes, *left_out],
        shapes=SHAPES,
    )
    scripts = "\n".join(read_resource("lann.report", f"templates/embedding/{name}.js") for name in SCRIPTS)
    return page(
        f"{title}: embedded by lann",
        body,
        footer(),
        Html('<script type="application/json" id="data">{}</script>').format(data),
        styles=[read_resource("lann.report", "templates/embedding/style.css")],
        script=f"'use strict';(() => {{\n{scripts}}})();",
    )


def save_embedding_page(path: str | os.PathLike[str], embedded: EmbeddedTable, **options: Any) -> None:
    """Save an interactive page of an embedding, which loads nothing.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    embedded : EmbeddedTable
    **options : dict
        The keyword arguments of `embedding_page`: title, n_features and notes.

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
    save_page(path, embedding_page(embedded, **options))


def save_embedding_figure(
    path: str | os.PathLike[str], embedded: EmbeddedTable, *, title: str = "Embedded rows"
) -> None:
    """Save an embedding as a figure; new rows without a label have the color of their prediction.

    The figure names the classes and the number of rows; images have 200 dots per inch.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.png``, ``.svg`` or ``.pdf``; an existing one is replaced.
    embedded : EmbeddedTable
    title : str, default="Embedded rows"
        The first line of the title, such as the name of the data.

    Raises
    ------
    ValueError
        If the file name has another ending.
    OSError
        If the file cannot be written.
    ImportError
        If matplotlib is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.report import save_embedding_figure
    >>> from lann.tables import TableModel
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = TableModel.fit(load_wine(as_frame=True).frame, "target").embed(embedding=layout)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_embedding_figure(os.path.join(folder, "wine.svg"), embedded)
    ...     os.listdir(folder)
    ['wine.svg']
    """
    path = Path(path)
    if path.suffix.lower() not in FIGURE_SUFFIXES:
        raise ValueError(f"{path} has an unknown format; give a file name that ends in .png, .svg or .pdf.")
    check_writable(path)
    import matplotlib.pyplot as plt

    from lann.plot import EmbeddingDisplay

    n_train, classes, overall = embedded.n_train, embedded.shown_classes, embedded.summarize()["overall"]
    note = f"leave-one-out accuracy {overall['training']['in_embedding']:.3f}"
    if overall["held_out"] is not None:
        note += f", held-out accuracy {overall['held_out']['in_embedding']:.3f}"
    rows = counted(n_train, "training row")
    if embedded.n_new:
        rows = f"{counted(embedded.n_new, 'new row')} among {rows}"
    display = EmbeddingDisplay(
        embedded.coordinates[:n_train],
        classes[:n_train],
        new_coordinates=embedded.coordinates[n_train:] if embedded.n_new else None,
        new_labels=classes[n_train:] if embedded.n_new else None,
        class_names=[printable(name) for name in embedded.classes],
        notes=[note],
        title=f"{printable(title)}\n{rows}",
    ).plot()
    buffer = io.BytesIO()
    file_format = path.suffix[1:].lower()
    display.figure_.savefig(buffer, format=file_format, dpi=DOTS_PER_INCH, bbox_inches="tight")
    plt.close(display.figure_)
    write_atomically(path, buffer.getvalue())
