"""Labels, names and weights of the rows of a table, and which rows are training rows of a model."""

from __future__ import annotations

import re
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from lann._support.types import Floats, Indices
from lann.columns.notation import NumberNotation, find_number_notation
from lann.columns.schema import value_as_text
from lann.columns.text import (
    Cells,
    Column,
    TableWarning,
    check_has_columns,
    column_texts,
    infer_columns,
    with_text_names,
)

if TYPE_CHECKING:
    from lann.tables._table_model import TableModel


def labels_of(texts: NDArray[Any]) -> NDArray[Any]:
    """Return labels as integers if all are, so that 10 comes after 9; otherwise as text."""
    text = texts.astype(str)
    try:
        numbers = text.astype(np.int64)
    except (ValueError, OverflowError):
        return text
    # "007" is a name.
    return numbers if np.array_equal(numbers.astype(str), text) else text


def check_labels(labels: NDArray[Any], target: str) -> None:
    """Raise ValueError unless the labels are those of several classes with several rows each."""
    classes = np.unique(labels)
    if len(classes) < 2:
        raise ValueError(
            f"The target {target!r} has one class only, {str(classes[0])!r}; at least two are needed."
        )
    if len(classes) > max(2, len(labels) / 2):
        raise ValueError(
            f"The target {target!r} has {len(classes)} different values in {len(labels)} rows; its values "
            "must be classes with several rows each."
        )


def known_labels(texts: NDArray[Any], classes: NDArray[Any]) -> NDArray[Any]:
    """Return labels of a table as the classes of a model: "1" and "1.0" are the class 1.

    Parameters
    ----------
    texts : ndarray of shape (n_rows,)
        Text, or None where a label is missing.
    classes : ndarray of shape (n_classes,)

    Returns
    -------
    labels : ndarray of shape (n_rows,)
        Of the type of the classes if all are known; otherwise objects, text for a label that is not among
        the classes, and None for a missing one.
    """
    by_text = {_plain_text(value_as_text(label)): label for label in classes.tolist()}
    known = {text: by_text.get(_plain_text(text), text) for text in set(texts) if text is not None}
    labels = np.array([None, *(known.get(text) for text in texts)], dtype=object)[1:]
    is_known = len(labels) > 0 and set(labels.tolist()) <= set(classes.tolist())
    return labels.astype(classes.dtype) if is_known else labels


def _plain_text(text: str) -> str:
    """Return the text of an integer without decimals: files write 1 as 1.0 where other cells are missing."""
    return re.sub(r"^(-?\d+)\.0+$", r"\1", text)


def row_names(frame: pd.DataFrame, name: str, table: str) -> NDArray[np.str_]:
    """Return the names of the rows, "" where missing: (n_rows,)."""
    check_has_columns(frame, [name], table, "id")
    return np.array([text or "" for text in column_texts(frame[name])], dtype=str)


def numbers_in(frame: pd.DataFrame, rows: Indices, name: str, table: str) -> Floats:
    """Return the numbers in some rows of a column, NaN where there are none; ValueError for others."""
    cells = Cells.from_column(frame[name].iloc[rows], rows)
    notation = None
    if cells.kind == "text":
        notation, _ = find_number_notation(cells.values.dropna().to_list(), frame.attrs.get("decimal"))
    column = Column(name, "number", "it has numbers", notation or NumberNotation())
    if cells.kind == "bool":
        cells = Cells("number", cells.values.astype("float64"), cells.index)
    return column.convert(cells, table).to_numpy(dtype=np.float64)


def row_weights(frame: pd.DataFrame, rows: Indices, name: str, table: str) -> Floats:
    """Return the weights of some rows; raise ValueError unless they are numbers, at least 0 and not all 0."""
    check_has_columns(frame, [name], table, "sample_weight")
    weights = numbers_in(frame, rows, name, table)
    invalid = np.flatnonzero(~(weights >= 0))
    if len(invalid):
        shown = "none" if np.isnan(weights[invalid[0]]) else value_as_text(weights[invalid[0]])
        raise ValueError(
            f"The weights in column {name!r} of {table} must be numbers of at least 0; row "
            f"{rows[invalid[0]]} has {shown}."
        )
    if not weights.any():
        raise ValueError(f"The weights in column {name!r} of {table} are zero in every row with a label.")
    return weights


# The class index of a row without a label.
NO_LABEL = -1


@dataclass(frozen=True, eq=False, repr=False)
class NewRows:
    """Rows as numbers, with what is known about them; `TableModel.new_rows` returns it.

    Attributes
    ----------
    X : ndarray of shape (n_rows, n_features)
        Categories as codes, gaps as NaN.
    row_numbers : ndarray of shape (n_rows,)
        Positions in the table that was given.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows.
    labels : ndarray of shape (n_rows,) or None
        Classes of the model, text for a label that no training row has, None for a missing one.
    training_rows : ndarray of shape (n_rows,)
        The training row that each row is, -1 for none.
    """

    X: Floats
    row_numbers: Indices
    ids: NDArray[Any] | None
    labels: NDArray[Any] | None
    training_rows: Indices

    def __getitem__(self, rows: Any) -> NewRows:
        """Return some of the rows."""
        parts: list[Any] = [None if part is None else part[rows] for part in vars(self).values()]
        return NewRows(*parts)

    def class_indices(self, classes: list[str]) -> tuple[list[str], Indices]:
        """Return classes as text, with those that only these rows have, and the class index of each row.

        It is -1 for a row without a label.
        """
        known = np.full(len(self.X), None) if self.labels is None else self.labels
        names = [None if label is None else value_as_text(label) for label in known.tolist()]
        both = classes + sorted({text for text in names if text is not None} - set(classes))
        indices = {text: index for index, text in enumerate(both)}
        return both, np.array([NO_LABEL if text is None else indices[text] for text in names], np.int64)


def new_rows(
    model: TableModel,
    frame: pd.DataFrame,
    rows: Sequence[int] | Indices | None = None,
    *,
    target: str | None = None,
    id: str | None = None,
    name: str = "the table",
) -> NewRows:
    """Return rows of a table as numbers, with their labels and names.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
        With the columns of the training table, in any order; others are ignored.
    rows : sequence of int or None, default=None
        Positions of the rows; None is all rows.
    target : str or None, default=None
        Name of the column with the labels. None is `target` of the model, if `frame` has such a column.
    id : str or None, default=None
        Name of a column that names the rows. None is that of the model, if `frame` has it.
    name : str, default="the table"
        Name of the table in messages.

    Returns
    -------
    new : NewRows

    Raises
    ------
    ValueError
        If there is no such row or column, or a cell is not what its column must have.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> new = TableModel.fit(frame[::2], "target").new_rows(frame, [1, 3])
    >>> new.X.shape, new.row_numbers.tolist(), new.labels.tolist()
    ((2, 4), [1, 3], [0, 0])
    """
    read = model._read(frame, rows, name=name)
    chosen, id = frame.iloc[read.index], model._id_of(frame, id)
    return NewRows(
        model._as_numbers(read),
        read.index.to_numpy(),
        None if id is None else row_names(chosen, id, name),
        model.labels_in(chosen, target, name=name),
        same_training_rows(model, frame, read, id, name),
    )


# Rows of a table that are compared with the training rows, at most.
MOST_COMPARED = 1000


def same_training_rows(
    model: TableModel, frame: pd.DataFrame, values: pd.DataFrame, id: str | None, name: str
) -> Indices:
    """Return the training row that each of some rows of a table is, -1 for none.

    In the training table itself, rows go by their row numbers. In another table, a row is a training row if
    it has the same values and the same name; without names, if it has the values of exactly one training row.

    Parameters
    ----------
    model : TableModel
    frame : DataFrame
        The table.
    values : DataFrame of shape (n_queries, n_features)
        Rows of it, as the model reads them; the index has the row numbers.
    id : str or None
        The column of the table that names its rows; None is that of the training table.
    name : str
        Name of the table in messages.

    Returns
    -------
    training_rows : ndarray of shape (n_queries,)
        Positions of training rows.
    """
    from lann.explain import find_training_rows

    id, names, training_names = model._id_of(frame, id), None, None
    if _is_training_table(model, frame):
        names, training_names = values.index.to_numpy(), model.row_numbers
    elif id is not None and id == model.id_column and model.ids is not None:
        names, training_names = row_names(frame.iloc[values.index], id, name), model.ids.astype(str)
    return find_training_rows(
        model.classifier.model_, model._as_numbers(values), names=names, training_names=training_names
    )


def _is_training_table(model: TableModel, frame: pd.DataFrame) -> bool:
    """Return whether a table has the training rows at their row numbers; a thousand are compared."""
    numbers = model.row_numbers
    if len(frame) <= numbers[-1]:
        return False
    compared = np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_COMPARED)).astype(np.int64)
    try:
        rows = model._as_numbers(model._read(frame, numbers[compared], new={}))
    except ValueError:  # cells that no training row has
        return False
    return np.array_equal(rows, model.classifier.model_.X[compared], equal_nan=True)


@dataclass(frozen=True, eq=False, repr=False)
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
    frame, has_names = with_text_names(frame, name), hasattr(model.classifier, "feature_names_in_")
    target = model.target if target is None else target
    if target is None:
        raise ValueError("The model does not know the name of its target; name the column of the labels.")
    labeled, label_column = _with_column(frame, target, "labels", name)
    labels = model.labels_in(labeled, label_column, name=name)
    if labels is None:
        what = f"the target {label_column!r} is" if labeled is frame else "the labels are"
        raise ValueError(f"There is no row with a label in {name}: {what} empty in every row.")
    rows, weights = np.flatnonzero(pd.notna(labels)), None
    if sample_weight is None and model.record is not None and model.record.sample_weight_column in frame:
        sample_weight = model.record.sample_weight_column
    if sample_weight is not None:
        weighted, column = _with_column(frame, sample_weight, "weights", name)
        weights = row_weights(weighted, rows, column, name)
        rows, weights = rows[weights > 0], weights[weights > 0]
    id = model._id_of(frame, id)
    # A model without column names takes exactly its columns.
    features = frame if has_names or labeled is not frame else frame.drop(columns=label_column)
    read = model._read(features, rows, name=name)
    given = [column for column in (target, sample_weight) if isinstance(column, str)]
    named = {id, *model.feature_names, *given}
    others = [column for column in frame if column not in named] if has_names else []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TableWarning)
        columns, values = infer_columns(frame[others].iloc[rows], table=name, row_numbers=rows)
    known, classes = labels[rows], np.empty(0, np.float64)
    if not model.has_values:
        classes = model.classifier.classes_
    is_known = model.has_values or set(known.tolist()) <= set(classes.tolist())
    return LabeledRows(
        row_numbers=rows,
        X=model._as_fitted(read),
        values=pd.concat([read, values], axis=1),
        columns=(*model.columns, *(column for column in columns if column.is_used)),
        labels=known.astype(classes.dtype) if is_known else known,
        weights=weights,
        ids=None if id is None else row_names(frame, id, name)[rows],
        n_left_out=len(frame) - len(rows),
    )


def _with_column(
    frame: pd.DataFrame, values: str | ArrayLike, what: str, name: str
) -> tuple[pd.DataFrame, str]:
    """Return the table and the name of a column: one of `frame`, or a value for each of its rows."""
    if isinstance(values, str):
        return frame, values
    given = pd.Series(np.asarray(values), name=what).to_frame()
    if len(given) != len(frame):
        raise ValueError(f"There are {len(given)} {what} for the {len(frame)} rows of {name}.")
    return given, what
