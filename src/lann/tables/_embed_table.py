"""From a table to an embedding of its rows, in one call."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pandas as pd

from lann.tables._embedded_table import EmbeddedTable
from lann.tables._training_table import TrainingTable

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding


def embed_table(
    frame: pd.DataFrame,
    target: str,
    *,
    held_out: float | None = None,
    id: str | None = None,
    classifier: LANNClassifier | None = None,
    embedding: LANNEmbedding | None = None,
    random_state: int = 0,
) -> EmbeddedTable:
    """Fit a classifier to a table and embed the rows under the metrics that it has learned.

    Parameters
    ----------
    frame : DataFrame
    target : str
        Name of the column with the labels; rows without one are left out.
    held_out : float or None, default=None
        Share of the rows to hold out: they are embedded, but not learned from. See `TrainingTable.split`.
    id : str or None, default=None
        Name of a column that names the rows.
    classifier : LANNClassifier or None, default=None
        It is cloned; None is ``LANNClassifier(random_state=0)``.
    embedding : LANNEmbedding or None, default=None
        The layout, with two components; its classifier is replaced. None is
        ``LANNEmbedding(random_state=0)``.
    random_state : int, default=0
        Determines the rows that are held out.

    Returns
    -------
    embedded : EmbeddedTable

    Raises
    ------
    ValueError
        If the table cannot be learned from or split, or a parameter is invalid.

    See Also
    --------
    TableModel.embed : Embed rows with a fitted model; the new rows may come from another table.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.tables import embed_table
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = embed_table(frame, "target", held_out=0.3, embedding=layout)
    >>> int(embedded.is_held_out.sum()), embedded.summarize().overall.held_out.by_vote > 0.9
    (53, True)
    """
    table = TrainingTable.from_frame(frame, target, id=id)
    if held_out is None:
        return table.fit(classifier).embed(embedding=embedding)
    training, rows = table.split(held_out, random_state=random_state)
    return training.fit(classifier).embed(frame, rows, embedding=embedding, target=target, id=id)
