"""Embed the training rows of a model, and new rows among them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.frozen import FrozenEstimator

from lann._support.format import counted, percent, value_text
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Integer, validate
from lann.columns.inputs import as_fitted
from lann.columns.notation import NumberNotation
from lann.columns.text import TableWarning, check_named_column, column_texts
from lann.tables._embedded_table import NO_LABEL, NO_NEIGHBOR, EmbeddedTable
from lann.tables._feature_columns import shown_values
from lann.tables._labels import label_text, labels_of
from lann.tables._row_columns import row_names
from lann.tables._same_rows import as_numbers

# numba is imported with the modules that compute, on first use.
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
    >>> from lann.tables import fit_table
    >>> frame = load_iris(as_frame=True).frame
    >>> model = fit_table(frame[::2], "target")
    >>> embedded = model.embed(frame[1::2], embedding=LANNEmbedding(max_iter=50, random_state=0))
    >>> embedded
    <EmbeddedTable of 75 training rows and 75 new rows>
    """
    if frame is None and (rows is not None or target is not None or id is not None):
        raise ValueError("rows, target and id are those of a table of new rows, and no table is given.")
    layout = _fit_layout(model, embedding)
    new = None if frame is None else _new_rows(model, frame, rows, target, id, name)
    return _embedded_table(model, layout, new)


class _NewRows(NamedTuple):
    """New rows.

    row_numbers : (n_rows,) positions in their table
    X : (n_rows, n_features) as the classifier takes them
    numbers : (n_rows, n_features) as the model has them
    values : (n_rows, n_features) as they are shown
    labels : (n_rows,) text, or None where unknown
    ids : (n_rows,) or None
    training_rows : (n_rows,) the training row that each is, or -1
    """

    row_numbers: Indices
    X: Any
    numbers: Floats
    values: NDArray[Any]
    labels: list[str | None]
    ids: NDArray[Any] | None
    training_rows: Indices


class _Votes(NamedTuple):
    """The vote on some rows, and the relevances.

    neighbors, shares : (n_rows, k)
    probabilities : (n_rows, n_classes)
    relevances : (n_rows, n_features)
    """

    neighbors: Indices
    shares: Floats
    probabilities: Floats
    relevances: Floats


def _fit_layout(model: TableModel, embedding: LANNEmbedding | None) -> LANNEmbedding:
    from lann.embedding import LANNEmbedding

    layout = LANNEmbedding(random_state=0) if embedding is None else clone(embedding)
    validate("n_components", layout.n_components, Integer(2, 2))
    classifier = model.classifier
    layout.set_params(classifier=FrozenEstimator(classifier))
    return layout.fit(as_fitted(classifier, classifier.model_.X))


def _new_rows(
    model: TableModel,
    frame: pd.DataFrame,
    rows: Sequence[int] | Indices | None,
    target: str | None,
    id: str | None,
    name: str,
) -> _NewRows:
    if target is not None:
        check_named_column(frame, target, "target", name)
    elif model.target in frame:
        target = model.target
    read, _ = model._read(frame, rows, name=name)
    row_numbers, X = read.index.to_numpy(), model._as_fitted(read)
    id = model._id_of(frame, id)
    ids = None if id is None else row_names(frame, id, name)[row_numbers]
    labels: list[str | None] = [None] * len(row_numbers)
    if target is not None:
        texts = column_texts(frame[target])
        known = np.flatnonzero(pd.notna(texts[row_numbers]))
        for row, label in zip(known, labels_of(texts[row_numbers][known]), strict=True):
            labels[row] = str(label)
    numbers = as_numbers(model, X)
    values = shown_values(model.columns, read.to_numpy(dtype=object))
    return _NewRows(row_numbers, X, numbers, values, labels, ids, _same_training_rows(model, numbers))


def _same_training_rows(model: TableModel, queries: Floats) -> Indices:
    """Return the training row that each new row is, or -1; only if most of them are training rows.

    A few new rows may have the values of training rows by chance, and count as held-out rows.
    """
    known = {row.tobytes(): position for position, row in enumerate(_comparable(model.classifier.model_.X))}
    same = np.array([known.get(row.tobytes(), -1) for row in _comparable(queries)])
    n_same = int((same >= 0).sum())
    if n_same == 0:
        return same
    are_training_rows = n_same > len(same) / 2
    effect = "do not count as held-out rows"
    if not are_training_rows:
        effect = "still count as held-out rows, whose accuracies are then optimistic"
    warnings.warn(
        f"{n_same} of {counted(len(same), 'new row')} ({percent(n_same / len(same))}) have the values of "
        f"training rows; they {effect}.",
        TableWarning,
        stacklevel=4,
    )
    return same if are_training_rows else np.full(len(same), -1)


def _comparable(X: Floats) -> Floats:
    """Return rows whose bytes are equal if their values are: one kind of NaN, no negative zero."""
    return np.ascontiguousarray(np.where(np.isnan(X), np.nan, X) + 0.0)


def _embedded_table(model: TableModel, layout: LANNEmbedding, new: _NewRows | None) -> EmbeddedTable:
    """Put together the training rows and the new rows."""
    train_labels, n_train = model.classifier.model_.labels, len(model.row_numbers)
    parts, coordinates = [_votes(model)], [layout.embedding_]
    row_numbers, ids, values = model.row_numbers, model.ids, model._training_values()[model.row_numbers]
    classes = [label_text(label) for label in model.classifier.classes_]
    labels: Labels = train_labels
    # The row whose votes and relevances each row has: itself, or the training row that it is.
    source = np.arange(n_train)
    if new is not None:
        n_new = len(new.row_numbers)
        parts.append(_votes(model, new))
        coordinates.append(layout.transform(new.X))
        row_numbers = np.concatenate([row_numbers, new.row_numbers])
        ids = _joined_ids(ids, n_train, new.ids, n_new)
        values = np.concatenate([values, new.values])
        own = n_train + np.arange(n_new)
        source = np.concatenate([source, np.where(new.training_rows >= 0, new.training_rows, own)])
        labels = np.concatenate([labels, _class_indices(new.labels, classes)])
    probabilities = np.concatenate([part.probabilities for part in parts])[source]
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
        embedding_predictions=_embedding_predictions(coordinates, train_labels)[source],
        neighbors=_stacked([part.neighbors for part in parts], NO_NEIGHBOR)[source],
        vote_shares=_stacked([part.shares for part in parts], 0)[source],
        feature_names=model.feature_names,
        relevances=np.concatenate([part.relevances for part in parts])[source],
        values=_values_frame(model, values),
    )


def _values_frame(model: TableModel, values: NDArray[Any]) -> pd.DataFrame:
    """Return values as a table: numbers as such if their columns write them plainly, otherwise text."""
    frame = pd.DataFrame(values, columns=model.feature_names)
    for column in model.columns:
        if isinstance(column.notation, NumberNotation) and not column.notation.is_plain:
            frame[column.name] = frame[column.name].map(value_text, na_action="ignore")
        elif column.kind == "number":
            frame[column.name] = frame[column.name].astype("float64")
    return frame


def _votes(model: TableModel, new: _NewRows | None = None) -> _Votes:
    """Return the vote on new rows, or, without any, on each training row without itself."""
    from lann.explain import query_relevances

    classifier = model.classifier
    fitted = classifier.model_
    queries = fitted.X if new is None else new.numbers
    own = np.arange(len(queries)) if new is None else None
    neighbors, squared = fitted.voters(queries, exclude=own, n_jobs=classifier.n_jobs)
    shares, probabilities = fitted.vote(neighbors, squared)
    relevances = query_relevances(classifier, None if new is None else new.X)
    return _Votes(neighbors, shares, probabilities, relevances)


def _embedding_predictions(coordinates: list[Floats], labels: Labels) -> Labels:
    """Return the majority of the nearest training rows in the embedding: (n_rows,)."""
    from lann.embedding import held_out_predictions, leave_one_out_predictions

    k = min(N_NEIGHBORS, len(labels) - 1)
    training, *new = coordinates
    parts = [leave_one_out_predictions(training, labels, n_neighbors=k)]
    parts += [held_out_predictions(training, labels, part, n_neighbors=k) for part in new]
    return np.concatenate(parts)


def _class_indices(labels: list[str | None], classes: list[str]) -> Labels:
    """Return the class index of each label; labels that are not among the classes are appended there."""
    known = set(classes)
    classes += sorted({label for label in labels if label is not None and label not in known})
    indices: dict[str | None, int] = {label: index for index, label in enumerate(classes)}
    indices[None] = NO_LABEL
    return np.array([indices[label] for label in labels], dtype=np.int64)


def _stacked(parts: list[NDArray[Any]], fill: int) -> NDArray[Any]:
    """Concatenate arrays of shape (n_rows, k); with very few training rows these have one neighbor less."""
    k = max(part.shape[1] for part in parts)
    return np.concatenate(
        [np.pad(part, ((0, 0), (0, k - part.shape[1])), constant_values=fill) for part in parts]
    )


def _joined_ids(
    ids: NDArray[Any] | None, n_train: int, new_ids: NDArray[Any] | None, n_new: int
) -> NDArray[Any] | None:
    if ids is None and new_ids is None:
        return None
    parts = [
        np.full(n_rows, "") if part is None else np.asarray(part, dtype=str)
        for part, n_rows in ((ids, n_train), (new_ids, n_new))
    ]
    return np.concatenate(parts)
