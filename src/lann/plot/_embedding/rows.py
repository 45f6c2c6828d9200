"""The rows of a fitted embedding with their coordinates, and the votes of its classifier."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from lann._inputs import check_columns
from lann._table_inputs import as_fitted
from lann._types import Floats, Labels
from lann._validation import Integer, validate
from lann.plot._embedding.validation import check_two_dimensions
from lann.plot._estimators import NeighborVotes, last_step, neighbor_votes, training_rows
from lann.plot._rows import Rows, select_rows


@dataclass(frozen=True)
class EmbeddedRows:
    """Training rows of an embedding, and new rows that are drawn over them.

    Attributes
    ----------
    training_coordinates : ndarray of shape (n_train, 2)
    training_labels : ndarray of shape (n_train,) or None
        The class indices; None if they are unknown.
    new_coordinates : ndarray of shape (n_new, 2) or None
        None if the training rows themselves are shown.
    new_labels : ndarray of shape (n_new,) or None
    classes : ndarray of shape (n_classes,) or None
    rows : Rows or None
        The rows that are shown, as the classifier of the embedding sees them; None without a classifier.
    labels_are_given : bool
        Whether the labels of the rows that are shown were given, not predicted.
    """

    training_coordinates: Floats
    training_labels: Labels | None
    new_coordinates: Floats | None
    new_labels: Labels | None
    classes: NDArray[Any] | None
    rows: Rows | None
    labels_are_given: bool

    @property
    def coordinates(self) -> Floats:
        """The coordinates of the rows that are shown, (n_shown, 2)."""
        return self.training_coordinates if self.new_coordinates is None else self.new_coordinates

    def classifier_rows(self, parameter: str) -> Rows:
        """Return the rows as the classifier sees them; raise ValueError if there is no classifier."""
        if self.rows is None:
            raise ValueError(f"{parameter} needs the classifier of a LANNEmbedding; this embedding has none.")
        return self.rows

    def votes(self, parameter: str) -> NeighborVotes:
        """Return the vote on every row that is shown; a training row does not vote on itself."""
        rows = self.classifier_rows(parameter)
        return neighbor_votes(rows.model, None if self.new_coordinates is None else rows.X)

    def neighbor_lines(self, wanted: ArrayLike) -> tuple[Floats, Floats]:
        """Return lines from some of the rows to their neighbors.

        Parameters
        ----------
        wanted : int or array-like of shape (n_wanted,)
            Positions among the rows that are shown.

        Returns
        -------
        lines : ndarray of shape (n_lines, 2, 2)
            The start and the end of each line.
        shares : ndarray of shape (n_lines,)
            The vote shares of the neighbors.
        """
        votes = self.votes("lines_from")
        for row in np.atleast_1d(np.asarray(wanted)).tolist():
            validate("lines_from", row, Integer(0, len(self.coordinates) - 1))
        rows = np.atleast_1d(np.asarray(wanted, dtype=np.int64))
        ends = self.training_coordinates[votes.neighbors[rows]]  # (n_wanted, k, 2)
        starts = np.broadcast_to(self.coordinates[rows][:, None], ends.shape)
        return np.stack([starts, ends], axis=2).reshape(-1, 2, 2), votes.shares[rows].ravel()


def embedded_rows(estimator: Any, X: ArrayLike | None, y: ArrayLike | None) -> EmbeddedRows:
    """Return the training rows of an embedding and the given rows, with their coordinates.

    Parameters
    ----------
    estimator : estimator
        A fitted LANNEmbedding or NeighborEmbedding, or a pipeline that ends in one.
    X : array-like of shape (n_samples, n_features) or None
        New rows; None to show the training rows.
    y : array-like of shape (n_samples,) or None
        Their labels.

    Raises
    ------
    ValueError
        If the estimator is not an embedding in two dimensions, or X and y do not fit it.
    """
    embedding = last_step(estimator)
    if not hasattr(embedding, "embedding_"):
        raise ValueError(
            f"The estimator must be a LANNEmbedding or NeighborEmbedding; got {type(embedding).__name__}."
        )
    check_two_dimensions(embedding.embedding_)
    if hasattr(embedding, "classifier_"):
        return _with_classifier(estimator, embedding, X, y)
    return _without_classifier(estimator, embedding.embedding_, X, y)


def _with_classifier(
    estimator: Any, embedding: Any, X: ArrayLike | None, y: ArrayLike | None
) -> EmbeddedRows:
    _check_same_rows(embedding)
    rows = select_rows(_classifier_pipeline(estimator, embedding), X, y)
    _, training_labels = training_rows(embedding.classifier_)
    return EmbeddedRows(
        training_coordinates=embedding.embedding_,
        training_labels=training_labels,
        new_coordinates=None if X is None else embedding.transform(as_fitted(rows.model, rows.X)),
        new_labels=None if X is None else rows.labels,
        classes=rows.model.classes_,
        rows=rows,
        labels_are_given=X is None or y is not None,
    )


def _without_classifier(
    estimator: Any, training_coordinates: Floats, X: ArrayLike | None, y: ArrayLike | None
) -> EmbeddedRows:
    new_coordinates = None
    if X is not None:
        check_columns(estimator, X)
        new_coordinates = np.asarray(estimator.transform(X))
    n_rows = len(training_coordinates if new_coordinates is None else new_coordinates)
    classes, labels = (None, None) if y is None else np.unique(y, return_inverse=True)
    if labels is not None and len(labels) != n_rows:
        raise ValueError(f"y must have {n_rows} labels, one per row; got {len(labels)}.")
    return EmbeddedRows(
        training_coordinates=training_coordinates,
        training_labels=labels if X is None else None,
        new_coordinates=new_coordinates,
        new_labels=None if X is None else labels,
        classes=classes,
        rows=None,
        labels_are_given=y is not None,
    )


def _check_same_rows(embedding: Any) -> None:
    """Raise ValueError if the classifier was trained with other rows after the fit of the embedding."""
    embedded, _ = training_rows(embedding)
    trained, _ = training_rows(embedding.classifier_)
    if not np.array_equal(embedded, trained, equal_nan=True):
        raise ValueError(
            f"The classifier of the embedding was trained with other rows ({len(trained)}) after the "
            f"embedding was fitted ({len(embedded)} rows); fit the embedding again."
        )


def _classifier_pipeline(estimator: Any, embedding: Any) -> Any:
    """Return the classifier of the embedding, after the other steps of the pipeline if there is one."""
    if embedding is estimator:
        return embedding.classifier_
    from sklearn.pipeline import Pipeline

    return Pipeline([*estimator.steps[:-1], ("classifier", embedding.classifier_)])
