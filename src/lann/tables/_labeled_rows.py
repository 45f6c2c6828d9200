"""Rows with labels, on which a model is evaluated."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lann._support.types import Floats, Indices
from lann.columns.text import Column, TableWarning, check_named_column, infer_columns, with_text_names
from lann.tables._rows import row_names, row_weights

if TYPE_CHECKING:
    from lann.tables._table_model import TableModel


@dataclass(frozen=True, eq=False)
class LabeledRows:
    """Rows of a table that have labels; `TableModel.labeled_rows` returns it.

    Attributes
    ----------
    row_numbers : ndarray of shape (n_rows,)
        Positions in the table that was given.
    X : DataFrame or ndarray of shape (n_rows, n_features)
        As the classifier takes them.
    values : DataFrame of shape (n_rows, n_columns)
        The columns that the model uses, and after them the others of the table.
    columns : tuple of Column
        What these columns have.
    labels : ndarray of shape (n_rows,)
        Classes of the model; text for a label that no training row has.
    weights : ndarray of shape (n_rows,) or None
        Sample weights; None is 1 for all.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows.
    n_left_out : int
        Number of rows without a label or with the weight 0.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> rows = TableModel.fit(frame[::2], "target").labeled_rows(frame[1::2])
    >>> len(rows.labels), rows.labels[:3].tolist(), rows.columns[0].name, rows.n_left_out
    (75, [0, 0, 0], 'sepal length (cm)', 0)
    """

    row_numbers: Indices
    X: Any
    values: pd.DataFrame
    columns: tuple[Column, ...]
    labels: NDArray[Any]
    weights: Floats | None
    ids: NDArray[Any] | None
    n_left_out: int

    def __repr__(self) -> str:
        return f"<LabeledRows: {len(self.labels)} rows, {self.n_left_out} left out>"


def labeled_rows(
    model: TableModel,
    frame: pd.DataFrame,
    target: str | ArrayLike | None = None,
    *,
    sample_weight: str | ArrayLike | None = None,
    id: str | None = None,
    name: str = "the table",
) -> LabeledRows:
    """Return the rows of a table that have labels, as the model takes them.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
        With the columns of the training table, in any order.
    target : str, array-like of shape (n_rows,) or None, default=None
        Name of the column with the labels, or the labels. None is the target of the training table.
    sample_weight : str, array-like of shape (n_rows,) or None, default=None
        Sample weights, or the name of their column. None is that of the training table, if `frame` has it.
    id : str or None, default=None
        Name of a column that names the rows. None is that of the training table, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    rows : LabeledRows

    Raises
    ------
    ValueError
        If a column is missing, a cell is not what its column must have, or no row has a label.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame[::2], "target")
    >>> model.labeled_rows(frame[1:4].assign(target=[0, None, 7])).labels.tolist()
    [0, '7']
    """
    has_names, target_name = hasattr(model.classifier, "feature_names_in_"), None
    if target is None and model.target is None:
        raise ValueError("The model does not know the name of its target; name the column of the labels.")
    if target is None or isinstance(target, str):
        target_name = target or model.target
        labels = model.labels_in(frame, target_name, name=name)
    else:
        given = pd.Series(np.asarray(target, dtype=object), name="labels")
        if len(given) != len(frame):
            raise ValueError(f"There are {len(given)} labels for the {len(frame)} rows of {name}.")
        labels = model.labels_in(given.to_frame(), "labels", name=name)
    if labels is None:
        what = "the labels are" if target_name is None else f"the target {target_name!r} is"
        raise ValueError(f"There is no row with a label in {name}: {what} empty in every row.")
    frame, rows = with_text_names(frame, name), np.flatnonzero(pd.notna(labels))
    weights, weight_name = _weights(model, frame, rows, sample_weight, name)
    if weights is not None:
        rows, weights = rows[weights > 0], weights[weights > 0]
    features = frame if has_names else frame.drop(columns=[target_name] if target_name else [])
    read, _ = model._read(features, rows, name=name)
    id = model._id_of(frame, id)
    named = {target_name, weight_name, id, *model.feature_names}
    others = frame.drop(columns=[column for column in frame.columns if column in named]).iloc[rows]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        columns, values = infer_columns(others if has_names else others[[]], table=name, row_numbers=rows)
    known, classes = labels[rows], model.classifier.classes_
    return LabeledRows(
        row_numbers=rows,
        X=model._as_fitted(read),
        values=pd.concat([read, values], axis=1),
        columns=(*model.columns, *(column for column in columns if column.is_used)),
        labels=known.astype(classes.dtype) if set(known.tolist()) <= set(classes.tolist()) else known,
        weights=weights,
        ids=None if id is None else row_names(frame, id, name)[rows],
        n_left_out=len(frame) - len(rows),
    )


def _weights(
    model: TableModel, frame: pd.DataFrame, rows: Indices, sample_weight: str | ArrayLike | None, name: str
) -> tuple[Floats | None, str | None]:
    """Return the weights of some rows, None if all count the same, and the name of their column."""
    column: str | None = None
    if isinstance(sample_weight, str):
        check_named_column(frame, sample_weight, "sample_weight", name)
        column = sample_weight
    elif sample_weight is not None:
        given = pd.DataFrame({"sample_weight": np.asarray(sample_weight)})
        if len(given) != len(frame):
            raise ValueError(f"There are {len(given)} weights for the {len(frame)} rows of {name}.")
        return row_weights(given, rows, "sample_weight", name), None
    elif model.record is not None and model.record.sample_weight_column in frame:
        column = model.record.sample_weight_column
    return (None if column is None else row_weights(frame, rows, column, name)), column
