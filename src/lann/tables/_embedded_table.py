"""An embedding in the rows and columns of the user's tables, and how well it separates the classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Floats, Indices, Labels

MOST_PAIRS = 5


@dataclass(frozen=True)
class Accuracy:
    """Share of some rows whose class is predicted correctly; NaN if there are none.

    Attributes
    ----------
    n_rows : int
    by_vote : float
        By the vote of the model.
    in_embedding : float
        By the nearest training rows in the embedding.

    """

    n_rows: int
    by_vote: float
    in_embedding: float


@dataclass(frozen=True)
class ClassAccuracy:
    """Accuracies on the rows of a class.

    Attributes
    ----------
    class_index : int or None
        None is all classes.
    training : Accuracy
        On training rows, each without itself.
    held_out : Accuracy or None
        On held-out rows; None if no held-out row has a label.

    """

    class_index: int | None
    training: Accuracy
    held_out: Accuracy | None


@dataclass(frozen=True)
class ConfusedPair:
    """Two classes that are confused in the embedding.

    Attributes
    ----------
    first, second : int
        Class indices.
    n_confused : int
        Number of their rows for which the embedding predicts the other class.
    n_rows : int
        Number of their rows.

    """

    first: int
    second: int
    n_confused: int
    n_rows: int


@dataclass(frozen=True)
class EmbeddingSummary:
    """How well an embedding separates the classes; `EmbeddedTable.summarize` returns it.

    Attributes
    ----------
    by_class : list of ClassAccuracy
    overall : ClassAccuracy
        On all rows.
    pairs : list of ConfusedPair
        Up to 5 pairs of classes, the most confused first; on held-out rows if some have labels, otherwise on
        training rows, each without itself.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann import LANNEmbedding
    >>> from lann.tables import TableModel
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> summary = TableModel.fit(frame[::2], "target").embed(frame[1::2], embedding=layout).summarize()
    >>> summary.overall.training.n_rows, summary.overall.held_out.n_rows, summary.has_held_out
    (89, 89, True)
    """

    by_class: list[ClassAccuracy]
    overall: ClassAccuracy
    pairs: list[ConfusedPair]

    @property
    def has_held_out(self) -> bool:
        """Whether there are held-out rows with labels."""
        return self.overall.held_out is not None


def summarize(embedded: EmbeddedTable) -> EmbeddingSummary:
    """Return how well the classes of an embedding are separated."""
    training = np.arange(len(embedded)) < embedded.n_train
    held_out = embedded.is_held_out & embedded.has_label

    def accuracies(class_index: int | None) -> ClassAccuracy:
        own = np.full(len(embedded), True) if class_index is None else embedded.labels == class_index
        return ClassAccuracy(
            class_index,
            _accuracy(embedded, own & training),
            _accuracy(embedded, own & held_out) if held_out.any() else None,
        )

    return EmbeddingSummary(
        by_class=[accuracies(class_index) for class_index in range(len(embedded.classes))],
        overall=accuracies(None),
        pairs=_confused_pairs(embedded, held_out if held_out.any() else training),
    )


def _confused_pairs(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> list[ConfusedPair]:
    """Return the pairs of classes that are confused most often among some rows."""
    n_classes = len(embedded.classes)
    labels, predictions = embedded.labels[rows], embedded.embedding_predictions[rows]
    sizes = np.bincount(labels, minlength=n_classes)
    wrong = labels != predictions
    pairs = np.minimum(labels, predictions)[wrong] * n_classes + np.maximum(labels, predictions)[wrong]
    pairs, counts = np.unique(pairs, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    first, second = np.divmod(pairs[order], n_classes)
    return [
        ConfusedPair(int(i), int(j), int(count), int(sizes[i] + sizes[j]))
        for i, j, count in zip(first, second, counts[order], strict=True)
    ]


def _accuracy(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> Accuracy:
    labels = embedded.labels[rows]
    if len(labels) == 0:
        return Accuracy(0, float("nan"), float("nan"))
    return Accuracy(
        len(labels),
        float(np.mean(embedded.predictions[rows] == labels)),
        float(np.mean(embedded.embedding_predictions[rows] == labels)),
    )


NO_LABEL, NO_NEIGHBOR = -1, -1
# Smaller relevances are rounding errors.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class EmbeddedTable:
    """The rows of an embedding, training rows first, then new rows, with their predictions and relevances.

    `TableModel.embed` returns it.

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
    >>> from lann.tables import TableModel
    >>> frame = load_wine(as_frame=True).frame
    >>> layout = LANNEmbedding(max_iter=50, random_state=0)
    >>> embedded = TableModel.fit(frame[::2], "target").embed(frame[1::2], embedding=layout)
    >>> len(embedded), embedded.n_train, embedded.coordinates.shape
    (178, 89, (178, 2))
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
