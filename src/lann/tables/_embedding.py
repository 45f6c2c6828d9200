"""Embeddings of training rows and new rows among them, and how well they separate the classes."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from lann._support.format import counted, percent
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.columns.inputs import as_fitted
from lann.columns.schema import value_as_text
from lann.columns.text import TableWarning
from lann.tables._rows import NO_LABEL

# What computes is imported on first use.
if TYPE_CHECKING:
    from lann.embedding import LANNEmbedding
    from lann.tables._table_model import TableModel

# Training rows nearest in the embedding that predict the class of a row.
N_NEIGHBORS = 5


def embed(
    model: TableModel,
    frame: pd.DataFrame | None = None,
    rows: Sequence[int] | Indices | None = None,
    *,
    embedding: LANNEmbedding | None = None,
    target: str | None = None,
    id: str | None = None,
    name: str = "the table",
) -> EmbeddedTable:
    """Embed the training rows under the learned metrics, and new rows among them.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame or None, default=None
        A table of new rows; None embeds the training rows alone.
    rows : sequence of int or None, default=None
        Positions of the new rows in `frame`; None is all rows.
    embedding : LANNEmbedding or None, default=None
        The layout, with two components; its classifier is replaced. None is
        ``LANNEmbedding(random_state=0)``.
    target : str or None, default=None
        Name of the column of `frame` with the labels. None is `target` of the model, if `frame` has such a
        column.
    id : str or None, default=None
        Name of a column of `frame` that names the rows. None is that of the model, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    embedded : EmbeddedTable
        New rows are held-out rows, unless most of them are training rows; a `TableWarning` says so.

    Raises
    ------
    ValueError
        If there is no such row or column, or a parameter is invalid.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNEmbedding
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame[::2], "target")
    >>> embedded = model.embed(frame[1::2], embedding=LANNEmbedding(max_iter=50, random_state=0))
    >>> embedded
    <EmbeddedTable of 75 training rows and 75 new rows>
    """
    if frame is None and (rows is not None or target is not None or id is not None):
        raise ValueError("rows, target and id are those of a table of new rows, and no table is given.")
    layout = _fit_layout(model, embedding)
    fitted, n_train = model.classifier.model_, len(model.row_numbers)
    votes, coordinates = [_votes(model, fitted.X, None, np.arange(n_train))], [layout.embedding_]
    row_numbers, ids = model.row_numbers, model.ids
    classes = [value_as_text(label) for label in model.classifier.classes_]
    labels: Labels = fitted.labels
    # The row whose votes and relevances each row has: itself, or the training row that it is.
    source = np.arange(n_train)
    if frame is not None:
        new = model.new_rows(frame, rows, target=target, id=id, name=name)
        X, n_new = as_fitted(model.classifier, new.X), len(new.X)
        votes.append(_votes(model, new.X, X, None))
        coordinates.append(layout.transform(X))
        if ids is not None or new.ids is not None:
            parts = ((ids, n_train), (new.ids, n_new))
            ids = np.concatenate([np.full(n, "") if part is None else part.astype(str) for part, n in parts])
        row_numbers = np.concatenate([row_numbers, new.row_numbers])
        same = _same_training_rows(new.training_rows)
        source = np.concatenate([source, np.where(same >= 0, same, n_train + np.arange(n_new))])
        classes, found = new.class_indices(classes)
        labels = np.concatenate([labels, found])
    probabilities, relevances = (np.concatenate(parts)[source] for parts in zip(*votes, strict=True))
    return EmbeddedTable(
        n_train=n_train,
        is_held_out=source >= n_train,
        row_numbers=row_numbers,
        ids=ids,
        coordinates=np.concatenate(coordinates),
        classes=classes,
        labels=labels,
        predictions=probabilities.argmax(axis=1),
        confidences=probabilities.max(axis=1),
        embedding_predictions=_embedding_predictions(coordinates, fitted.labels)[source],
        feature_names=model.feature_names,
        relevances=relevances,
    )


def _fit_layout(model: TableModel, embedding: LANNEmbedding | None) -> LANNEmbedding:
    from sklearn.frozen import FrozenEstimator

    from lann.embedding import LANNEmbedding

    layout = LANNEmbedding(random_state=0) if embedding is None else clone(embedding)
    validate("n_components", layout.n_components, Integer(2, 2))
    layout.set_params(classifier=FrozenEstimator(model.classifier))
    return layout.fit(as_fitted(model.classifier, model.classifier.model_.X))


def _votes(model: TableModel, queries: Floats, X: Any, exclude: Indices | None) -> tuple[Floats, Floats]:
    """Return the probabilities of rows, and their relevances."""
    from lann.explain import query_relevances

    classifier = model.classifier
    found = classifier.model_.voters(queries, exclude=exclude, n_jobs=classifier.n_jobs)
    return classifier.model_.vote(*found).probabilities, query_relevances(classifier, X)


def _same_training_rows(same: Indices) -> Indices:
    """Return the training row that each new row is, or -1; only if most of them are training rows.

    A few new rows may have the values of training rows by chance, and count as held-out rows.
    """
    n_same = int((same >= 0).sum())
    if n_same == 0:
        return same
    are_training_rows = n_same > len(same) / 2
    effect = "do not" if are_training_rows else "still"
    ending = "" if are_training_rows else ", whose accuracies are then optimistic"
    warnings.warn(
        f"{n_same} of {counted(len(same), 'new row')} ({percent(n_same / len(same))}) have the values of "
        f"training rows; they {effect} count as held-out rows{ending}.",
        TableWarning,
        stacklevel=3,
    )
    return same if are_training_rows else np.full(len(same), -1)


def _embedding_predictions(coordinates: list[Floats], labels: Labels) -> Labels:
    """Return the majority of the nearest training rows in the embedding: (n_rows,)."""
    from lann.embedding import held_out_predictions, leave_one_out_predictions

    k = min(N_NEIGHBORS, len(labels) - 1)
    training, *new = coordinates
    parts = [leave_one_out_predictions(training, labels, n_neighbors=k)]
    parts += [held_out_predictions(training, labels, part, n_neighbors=k) for part in new]
    return np.concatenate(parts)


MOST_PAIRS = 5


def _accuracies(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> dict[str, Any]:
    """Return the number of rows, and the shares that vote and embedding predict correctly, NaN for none."""
    labels = embedded.labels[rows]
    shares = [
        float(np.mean(predictions[rows] == labels)) if len(labels) else float("nan")
        for predictions in (embedded.predictions, embedded.embedding_predictions)
    ]
    return {"n_rows": len(labels), "by_vote": shares[0], "in_embedding": shares[1]}


def _confused_pairs(embedded: EmbeddedTable, rows: NDArray[np.bool_]) -> list[dict[str, int]]:
    """Return the pairs of classes that are confused most often among some rows."""
    labels, predictions = embedded.labels[rows], embedded.embedding_predictions[rows]
    sizes = np.bincount(labels, minlength=len(embedded.classes)).tolist()
    both = np.sort(np.column_stack([labels, predictions])[labels != predictions], axis=1)
    pairs, counts = np.unique(both, axis=0, return_counts=True)
    order = np.argsort(-counts, kind="stable")[:MOST_PAIRS]
    return [
        {"first": i, "second": j, "n_confused": count, "n_rows": sizes[i] + sizes[j]}
        for (i, j), count in zip(pairs[order].tolist(), counts[order].tolist(), strict=True)
    ]


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
    feature_names : list of str
    relevances : ndarray of shape (n_rows, n_features)

    See Also
    --------
    lann.explore : A page in which the embedding and the model can be explored.

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
    feature_names: list[str]
    relevances: Floats

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

    def summarize(self) -> dict[str, Any]:
        """Return how well the classes are separated, by class and by pair of classes.

        Returns
        -------
        summary : dict
            ``by_class`` has, for each class, its ``class_index`` and the accuracies on ``training`` rows,
            each without itself, and on ``held_out`` rows (None if no held-out row has a label): ``n_rows``
            and the shares of them that are predicted correctly ``by_vote`` and ``in_embedding``. ``overall``
            is the same for all rows, ``has_held_out`` whether held-out rows have labels. ``pairs`` has up to
            5 pairs of classes (``first``, ``second``, ``n_confused`` and ``n_rows``), the most confused
            first; on held-out rows if some have labels.
        """
        training, held_out = np.arange(len(self)) < self.n_train, self.is_held_out & self.has_label
        has_held_out = bool(held_out.any())
        every = [(index, self.labels == index) for index in range(len(self.classes))]
        *by_class, overall = [
            {
                "class_index": index,
                "training": _accuracies(self, own & training),
                "held_out": _accuracies(self, own & held_out) if has_held_out else None,
            }
            for index, own in [*every, (None, np.full(len(self), True))]
        ]
        pairs = _confused_pairs(self, held_out if has_held_out else training)
        return {"by_class": by_class, "overall": overall, "pairs": pairs, "has_held_out": has_held_out}

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
        table: dict[str, Any] = {
            "row": self.row_numbers,
            "id": self.ids,
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
        return pd.DataFrame({name: values for name, values in table.items() if values is not None})
