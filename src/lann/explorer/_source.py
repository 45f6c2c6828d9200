"""The rows that a page shows: the rows of the model, and new rows beside them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lann._base import ModelClassifier, NeighborClassifier
from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import join_ids, read_queries, row_ids
from lann.columns.schema import TableSchema, value_as_text
from lann.columns.text import Column
from lann.explain import find_training_rows
from lann.model import NeighborModel
from lann.tables import NewRows, TableModel


@dataclass(frozen=True, eq=False)
class Source:
    """The rows of a page: those of the model first, then new rows.

    Attributes
    ----------
    classifier : estimator
    schema : TableSchema
        What the numbers in the rows mean.
    columns : tuple of Column
        How values are written.
    target : str or None
        Name of the column with the labels.
    classes : list of str
        Labels as text; those that no training row has come last.
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices, -1 for a row without a label.
    row_numbers : (n_rows,)
        Positions in the tables that the rows are from.
    ids : (n_rows,) or None
        Names of the rows.
    """

    classifier: Any
    schema: TableSchema
    columns: tuple[Column, ...]
    target: str | None
    classes: list[str]
    X: Floats
    labels: Labels
    row_numbers: Indices
    ids: NDArray[Any] | None

    @property
    def model(self) -> NeighborModel:
        model: NeighborModel = self.classifier.model_
        return model

    @property
    def n_rows(self) -> int:
        return len(self.X)

    @property
    def n_training(self) -> int:
        """Number of rows of the model, which come first."""
        return self.model.n_rows

    @property
    def names(self) -> NDArray[Any]:
        """Names of the features."""
        return np.array([column.name for column in self.columns], dtype=object)


def check_model(model: Any) -> None:
    """Raise an error unless a model is fitted and has neighbors."""
    if isinstance(model, TableModel):
        model.check_labels("The explorer")
        return
    check_is_fitted(model)
    if not isinstance(model, ModelClassifier):
        raise ValueError(
            f"{type(model).__name__} has no neighbors to show; give a fitted LANNClassifier, a baseline, or "
            "the last step of a pipeline and rows transformed by the others."
        )


def source_of(model: Any, new: NewRows | None, ids: NDArray[Any] | None = None) -> Source:
    """Return the rows of a page.

    Parameters
    ----------
    model : TableModel or estimator
        A classifier must be fitted, and have a model of neighbors.
    new : NewRows or None
        Other rows. If most of them are training rows, these are not shown twice; a few may have the values of
        training rows by chance.
    ids : (n_rows of the model,) or None
        Names of the rows of the model; None is those that the model knows.
    """
    if isinstance(model, NeighborClassifier):
        model = TableModel(model)
    table = isinstance(model, TableModel)
    classifier = model.classifier if table else model
    schema = model.schema if table else TableSchema.numeric(list(get_feature_names(model)), has_names=True)
    fitted = classifier.model_
    classes = [value_as_text(label) for label in classifier.classes_]
    numbers = model.row_numbers if table else np.arange(fitted.n_rows)
    names = model.ids if table and ids is None else ids
    X, labels = fitted.X, np.asarray(fitted.labels)
    if new is not None and (new.training_rows >= 0).mean() > 0.5:
        new = new[new.training_rows < 0]
    if new is not None and len(new.X):
        classes, known = new.class_indices(classes)
        X, labels = np.concatenate([X, new.X]), np.concatenate([labels, known])
        if names is not None or new.ids is not None:
            first = np.full(fitted.n_rows, "") if names is None else names
            names = join_ids(first, np.full(len(new.X), "") if new.ids is None else new.ids)
        numbers = np.concatenate([numbers, new.row_numbers])
    columns = model.columns if table else tuple(map(Column.from_feature, schema.features))
    target = model.target if table else None
    return Source(classifier, schema, columns, target, classes, X, labels, numbers, names)


def read_given_rows(
    model: Any, X: Any, y: ArrayLike | None, ids: ArrayLike | None
) -> tuple[NewRows | None, NDArray[Any] | None]:
    """Return the new ones among rows as a classifier takes them, and the names that training rows are given.

    Parameters
    ----------
    model : TableModel or estimator
    X : array-like or table of shape (n_rows, n_features), or None
        None is the training rows.
    y, ids : array-like of shape (n_rows,) or None
        Labels and names of the rows.
    """
    classifier = model.classifier if isinstance(model, TableModel) else model
    fitted = classifier.model_
    if X is None:
        return None, None if ids is None else _names(ids, fitted.n_rows)
    queries = read_queries(classifier, X)
    names = row_ids(X) if ids is None else _names(ids, len(queries))
    labels = None if y is None else np.asarray(y)
    if labels is not None and labels.shape != (len(queries),):
        raise ValueError(
            f"y must have a label for each of the {len(queries)} rows; got shape {labels.shape}."
        )
    same = _training_rows_among(classifier, X, queries)
    new, given = NewRows(queries, np.arange(len(queries)), names, labels, same), None
    if ids is not None and names is not None and (same >= 0).any():
        given = np.full(fitted.n_rows, "", dtype=object)
        given[same[same >= 0]] = names[same >= 0]
        given = given.astype(names.dtype if "" not in given else str)
    return new, given


def _training_rows_among(classifier: Any, X: Any, queries: Floats) -> Indices:
    """Return the training row that each of some rows is, -1 for none."""
    model = classifier.model_
    if not model.has_training_rows:
        return np.full(len(queries), -1)
    if np.array_equal(queries, model.X, equal_nan=True):
        return np.arange(len(queries))
    return find_training_rows(
        model, queries, names=row_ids(X), training_names=getattr(classifier, "ids_", None)
    )


def _names(ids: ArrayLike, n_rows: int) -> NDArray[Any]:
    names = np.asarray(ids)
    if names.shape != (n_rows,):
        raise ValueError(f"ids must have a name for each of the {n_rows} rows; got shape {names.shape}.")
    return names if names.dtype.kind in "iuU" else names.astype(str)
