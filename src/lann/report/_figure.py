"""An embedding as a figure in a file."""

from __future__ import annotations

import io
import os
from pathlib import Path

from lann._support.files import check_writable, write_atomically
from lann._support.format import counted
from lann.tables import EmbeddedTable, EmbeddingSummary

FIGURE_SUFFIXES = (".png", ".svg", ".pdf")
DOTS_PER_INCH = 200


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
    write_atomically(path, _draw(embedded, title, path.suffix[1:].lower()))


def _draw(embedded: EmbeddedTable, title: str, format: str) -> bytes:
    """Return the content of the file."""
    import matplotlib.pyplot as plt

    from lann.plot import EmbeddingDisplay

    n_train, classes = embedded.n_train, embedded.shown_classes
    display = EmbeddingDisplay(
        embedded.coordinates[:n_train],
        classes[:n_train],
        new_coordinates=embedded.coordinates[n_train:] if embedded.n_new else None,
        new_labels=classes[n_train:] if embedded.n_new else None,
        class_names=embedded.classes,
        notes=[_accuracies(embedded.summarize())],
        title=f"{title}\n{_rows(embedded)}",
    ).plot()
    buffer = io.BytesIO()
    try:
        display.figure_.savefig(buffer, format=format, dpi=DOTS_PER_INCH, bbox_inches="tight")
    finally:
        plt.close(display.figure_)
    return buffer.getvalue()


def _rows(embedded: EmbeddedTable) -> str:
    """Return the number of rows."""
    training = counted(embedded.n_train, "training row")
    return f"{counted(embedded.n_new, 'new row')} among {training}" if embedded.n_new else training


def _accuracies(summary: EmbeddingSummary) -> str:
    """Return the accuracies in the embedding."""
    training, held_out = summary.overall.training, summary.overall.held_out
    text = f"leave-one-out accuracy {training.in_embedding:.3f}"
    return text if held_out is None else f"{text}, held-out accuracy {held_out.in_embedding:.3f}"
