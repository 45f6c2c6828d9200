"""Labels, names and weights of the rows of a table, and rows that are training rows of a model."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann.columns.inputs import read_rows
from lann.columns.notation import NumberNotation, find_number_notation
from lann.columns.schema import value_as_text
from lann.columns.text import Cells, Column, check_named_column, column_texts

if TYPE_CHECKING:
    from lann.tables._table_model import TableModel

_WHOLE = re.compile(r"(-?\d+)\.0+")


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
    if len(labels) and set(known) == set(texts) and all(text in by_text for text in map(_plain_text, known)):
        return labels.astype(classes.dtype)
    return labels


def _plain_text(text: str) -> str:
    """Return the text of an integer without decimals: files write 1 as 1.0 where other cells are missing."""
    match = _WHOLE.fullmatch(text)
    return text if match is None else match.group(1)


def row_names(frame: pd.DataFrame, name: str, table: str) -> NDArray[np.str_]:
    """Return the names of the rows, "" where missing: (n_rows,)."""
    check_named_column(frame, name, "id", table)
    return np.array([text or "" for text in column_texts(frame[name])], dtype=str)


def row_weights(frame: pd.DataFrame, rows: Indices, name: str, table: str) -> Floats:
    """Return the weights of some rows; raise ValueError unless they are numbers, at least 0 and not all 0."""
    cells = Cells.from_column(frame[name].iloc[rows], rows)
    notation = None
    if cells.kind == "text":
        notation, _ = find_number_notation(cells.values.dropna().to_list(), frame.attrs.get("decimal"))
    column = Column(name, "number", "it has weights", notation or NumberNotation())
    if cells.kind == "bool":
        cells = Cells("number", cells.values.astype("float64"), cells.index)
    weights = column.convert(cells, table).to_numpy()
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


# Rows of a table that are compared with the training rows, at most.
MOST_COMPARED = 1000


def as_numbers(model: TableModel, X: Any) -> Floats:
    """Return rows as the model has them: categories as codes, gaps as NaN."""
    schema = getattr(model.classifier, "schema_", None)
    return np.asarray(X, np.float64) if schema is None else read_rows(model.classifier, X, schema)


def same_training_rows(
    model: TableModel, table: pd.DataFrame, rows: Indices, names: NDArray[Any] | None
) -> Indices:
    """Return the training row that each of some rows of a table is, -1 for none.

    In the training table itself, rows go by their row numbers. In another table, a row is a training row if
    it has the same values and the same name; without names, if it has the values of exactly one training row.

    Parameters
    ----------
    model : TableModel
    table : DataFrame
        All rows, with the values that the columns of the model have.
    rows : ndarray of shape (n_queries,)
        Positions in the table.
    names : ndarray of shape (n_queries,) or None
        Their names in the column that names the training rows.

    Returns
    -------
    training_rows : ndarray of shape (n_queries,)
        Positions of training rows.
    """
    from lann.explain import find_training_rows

    fitted, numbers = model.classifier.model_, model.row_numbers
    queries = as_numbers(model, model._as_fitted(table.iloc[rows]))
    if len(fitted.X) > 1 and _is_training_table(model, table):
        found = np.minimum(np.searchsorted(numbers, rows), len(numbers) - 1)
        is_same = (numbers[found] == rows) & ~differ(queries, fitted.X[found]).any(axis=1)
        return np.where(is_same, found, -1)
    ids = None if model.ids is None else model.ids.astype(str)
    return find_training_rows(
        fitted, queries, names=None if names is None else names.astype(str), training_names=ids
    )


def _is_training_table(model: TableModel, table: pd.DataFrame) -> bool:
    """Return whether a table has the training rows at their row numbers; a thousand are compared."""
    numbers = model.row_numbers
    if len(table) <= numbers[-1]:
        return False
    compared = np.linspace(0, len(numbers) - 1, min(len(numbers), MOST_COMPARED)).astype(np.int64)
    try:
        rows = as_numbers(model, model._as_fitted(table.iloc[numbers[compared]]))
    except ValueError:  # cells that no training row has
        return False
    return np.array_equal(rows, model.classifier.model_.X[compared], equal_nan=True)
