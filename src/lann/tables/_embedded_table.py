"""An embedding in the rows and columns of the user's tables."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels
from lann.tables._embedding_summary import EmbeddingSummary, summarize

NO_LABEL, NO_NEIGHBOR = -1, -1
# Smaller relevances are rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class EmbeddedTable:
    """The rows of an embedding, training rows first, then new rows, with their predictions and relevances.

    `TableModel.embed` and `embed_table` return it.

    Attributes
    ----------
    n_train : int
        Number of training rows.
    is_held_out : ndarray of shape (n_rows,)
        Whether no part of the training has seen the row.
    row_numbers : ndarray of shape (n_rows,)
        Positions in the table that each row is from.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows.
    coordinates : ndarray of shape (n_rows, 2)
    classes : list of str
        Labels as text; labels that no training row has come last.
    labels : ndarray of shape (n_rows,)
        Class indices, -1 for a row without a label.
    predictions : ndarray of shape (n_rows,)
        Class indices of the predictions; a training row does not vote on itself.
    confidences : ndarray of shape (n_rows,)
        Probabilities of the predictions.
    embedding_predictions : ndarray of shape (n_rows,)
        Class indices of the majority of the 5 nearest training rows in the embedding; a training row is not
        its own neighbor.
    neighbors : ndarray of shape (n_rows, k)
        The training rows that voted, as positions in these arrays; -1 where there are fewer.
    vote_shares : ndarray of shape (n_rows, k)
        Share of the vote of each; 0 where there are fewer.
    feature_names : list of str
    relevances : ndarray of shape (n_rows, n_features)
    values : DataFrame of shape (n_rows, n_features) or None
        Values of the rows as their columns write them; None if they are unknown.

    See Also
    --------
    lann.report.save_embedding_page : An interactive page of the embedding.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.tables import embed_table
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = embed_table(frame, "target", held_out=0.3, embedding=layout)
    >>> len(embedded), embedded.n_train, embedded.coordinates.shape
    (178, 125, (178, 2))
    >>> embedded.to_frame(1).columns.tolist()
    ['row', 'x', 'y', 'label', 'prediction', 'confidence', 'held_out', 'feature_1', 'relevance_1']
    """

    n_train: int
    is_held_out: NDArray[np.bool_]
    row_numbers: Indices
    ids: NDArray[Any] | None
    coordinates: Floats
    classes: list[str]
    labels: Labels
    predictions: Labels
    confidences: Floats
    embedding_predictions: Labels
    neighbors: Indices
    vote_shares: Floats
    feature_names: list[str]
    relevances: Floats
    values: pd.DataFrame | None

    def __len__(self) -> int:
        return len(self.coordinates)

    def __repr__(self) -> str:
        return f"<EmbeddedTable of {self.n_train} training rows and {self.n_new} new rows>"

    @property
    def n_new(self) -> int:
        """Number of new rows."""
        return len(self) - self.n_train

    @property
    def has_label(self) -> NDArray[np.bool_]:
        """Whether the label of each row is known: (n_rows,)."""
        return self.labels != NO_LABEL

    @property
    def shown_classes(self) -> Labels:
        """Class indices of the labels, or of the predictions where there is no label: (n_rows,)."""
        return np.where(self.has_label, self.labels, self.predictions)

    def most_relevant(self, n_features: int) -> Indices:
        """Return the most relevant features of each row.

        Parameters
        ----------
        n_features : int
            Number of features.

        Returns
        -------
        features : ndarray of shape (n_rows, n_features)
            Positions in `feature_names`, the most relevant first.
        """
        return np.argsort(-self.relevances, axis=1, kind="stable")[:, :n_features]

    def summarize(self) -> EmbeddingSummary:
        """Return how well the classes are separated, by class and by pair of classes.

        Returns
        -------
        summary : EmbeddingSummary
        """
        return summarize(self)

    def to_frame(self, n_features: int = 5) -> pd.DataFrame:
        """Return a table with a row per row of the embedding.

        Parameters
        ----------
        n_features : int, default=5
            Number of features to return for each row, the most relevant first.

        Returns
        -------
        frame : DataFrame
            With the columns ``row``, ``id`` (if there are ids), ``x``, ``y``, ``label``, ``prediction``,
            ``confidence``, ``held_out``, and ``feature_1``, ``relevance_1`` and so on.
        """
        labels = np.array([*self.classes, None], dtype=object)  # the last one is NO_LABEL
        table: dict[str, Any] = {"row": self.row_numbers}
        if self.ids is not None:
            table["id"] = self.ids
        table |= {
            "x": self.coordinates[:, 0],
            "y": self.coordinates[:, 1],
            "label": labels[self.labels],
            "prediction": labels[self.predictions],
            "confidence": self.confidences,
            "held_out": self.is_held_out,
        }
        names = np.array(self.feature_names, dtype=object)
        for rank, features in enumerate(self.most_relevant(n_features).T, start=1):
            relevances = self.relevances[np.arange(len(self)), features]
            counts = relevances >= ROUNDING
            table[f"feature_{rank}"] = np.where(counts, names[features], None)
            table[f"relevance_{rank}"] = np.where(counts, relevances, np.nan)
        return pd.DataFrame(table)
