"""Embed the training rows of a model, and new rows among them."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

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
from lann.columns.schema import value_as_text
from lann.columns.text import TableWarning, check_named_column, column_texts, shown_values
from lann.tables._embedded_table import NO_LABEL, NO_NEIGHBOR, EmbeddedTable
from lann.tables._rows import as_numbers, labels_of, row_names

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
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame[::2], "target")
    >>> embedded = model.embed(frame[1::2], embedding=LANNEmbedding(max_iter=50, random_state=0))
    >>> embedded
    <EmbeddedTable of 75 training rows and 75 new rows>
    """
    if frame is None and (rows is not None or target is not None or id is not None):
        raise ValueError("rows, target and id are those of a table of new rows, and no table is given.")
    from lann.embedding import LANNEmbedding
    from lann.explain import query_relevances

    layout = LANNEmbedding(random_state=0) if embedding is None else clone(embedding)
    validate("n_components", layout.n_components, Integer(2, 2))
    classifier, n_train = model.classifier, len(model.row_numbers)
    fitted = classifier.model_
    layout.set_params(classifier=FrozenEstimator(classifier))
    layout.fit(as_fitted(classifier, fitted.X))
    neighbors, squared = fitted.voters(fitted.X, exclude=np.arange(n_train), n_jobs=classifier.n_jobs)
    votes = [(neighbors, *fitted.vote(neighbors, squared))]
    relevances, coordinates = [query_relevances(classifier, None)], [layout.embedding_]
    row_numbers, ids, values = model.row_numbers, model.ids, model._training_values()[model.row_numbers]
    classes = [value_as_text(label) for label in classifier.classes_]
    labels: Labels = fitted.labels
    # The row whose votes and relevances each row has: itself, or the training row that it is.
    source = np.arange(n_train)
    if frame is not None:
        read, _ = model._read(frame, rows, name=name)
        X, new_numbers = model._as_fitted(read), read.index.to_numpy()
        queries, n_new = as_numbers(model, X), len(read)
        neighbors, squared = fitted.voters(queries, n_jobs=classifier.n_jobs)
        votes.append((neighbors, *fitted.vote(neighbors, squared)))
        relevances.append(query_relevances(classifier, X))
        coordinates.append(layout.transform(X))
        id = model._id_of(frame, id)
        new_ids = None if id is None else row_names(frame, id, name)[new_numbers]
        if ids is not None or new_ids is not None:
            parts = ((ids, n_train), (new_ids, n_new))
            ids = np.concatenate([np.full(n, "") if part is None else part.astype(str) for part, n in parts])
        row_numbers = np.concatenate([row_numbers, new_numbers])
        values = np.concatenate([values, shown_values(model.columns, read.to_numpy(dtype=object))])
        same = _same_training_rows(model, queries)
        source = np.concatenate([source, np.where(same >= 0, same, n_train + np.arange(n_new))])
        labels = np.concatenate([labels, _new_labels(model, frame, target, name, classes)[new_numbers]])
    # With very few training rows, these have one neighbor less.
    k = max(part[0].shape[1] for part in votes)
    padded = [[_padded(part[0], k, NO_NEIGHBOR), _padded(part[1], k, 0), part[2]] for part in votes]
    neighbors, shares, probabilities = (np.concatenate(parts)[source] for parts in zip(*padded, strict=True))
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
        neighbors=neighbors,
        vote_shares=shares,
        feature_names=model.feature_names,
        relevances=np.concatenate(relevances)[source],
        values=_values_frame(model, values),
    )


def _padded(part: NDArray[Any], k: int, fill: int) -> NDArray[Any]:
    return np.pad(part, ((0, 0), (0, k - part.shape[1])), constant_values=fill)


def _new_labels(
    model: TableModel, frame: pd.DataFrame, target: str | None, name: str, classes: list[str]
) -> Labels:
    """Return the class indices of the labels of a table; new labels are appended to the classes."""
    if target is not None:
        check_named_column(frame, target, "target", name)
    elif model.target in frame:
        target = model.target
    else:
        return np.full(len(frame), NO_LABEL)
    texts = column_texts(frame[target])
    is_known = pd.notna(texts)
    names = labels_of(texts[is_known]).astype(str)
    classes += sorted(set(names.tolist()) - set(classes))
    indices = np.full(len(frame), NO_LABEL)
    indices[is_known] = [classes.index(label) for label in names]
    return indices


def _same_training_rows(model: TableModel, queries: Floats) -> Indices:
    """Return the training row that each new row is, or -1; only if most of them are training rows.

    A few new rows may have the values of training rows by chance, and count as held-out rows.
    """
    from lann.explain import find_training_rows

    same = find_training_rows(model.classifier.model_, queries)
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
        stacklevel=3,
    )
    return same if are_training_rows else np.full(len(same), -1)


def _values_frame(model: TableModel, values: NDArray[Any]) -> pd.DataFrame:
    """Return values as a table: numbers as such if their columns write them plainly, otherwise text."""
    frame = pd.DataFrame(values, columns=model.feature_names)
    for column in model.columns:
        if isinstance(column.notation, NumberNotation) and not column.notation.is_plain:
            frame[column.name] = frame[column.name].map(value_text, na_action="ignore")
        elif column.kind == "number":
            frame[column.name] = frame[column.name].astype("float64")
    return frame


def _embedding_predictions(coordinates: list[Floats], labels: Labels) -> Labels:
    """Return the majority of the nearest training rows in the embedding: (n_rows,)."""
    from lann.embedding import held_out_predictions, leave_one_out_predictions

    k = min(N_NEIGHBORS, len(labels) - 1)
    training, *new = coordinates
    parts = [leave_one_out_predictions(training, labels, n_neighbors=k)]
    parts += [held_out_predictions(training, labels, part, n_neighbors=k) for part in new]
    return np.concatenate(parts)
