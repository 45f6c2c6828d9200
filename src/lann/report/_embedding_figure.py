"""An embedding in a file, as a figure."""

from __future__ import annotations

import io
import os
from pathlib import Path

from lann._support.files import check_writable, write_atomically
from lann._support.format import counted, printable
from lann.tables import EmbeddedTable

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
