"""Rows of tables that are training rows of a model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.inputs import differ
from lann._support.types import Floats, Indices
from lann.columns.inputs import read_rows

if TYPE_CHECKING:
    from lann.tables._table_model import TableModel

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

    fitted = model.classifier.model_
    queries = as_numbers(model, model._as_fitted(table.iloc[rows]))
    if len(fitted.X) > 1 and is_training_table(model, table):
        found = np.searchsorted(model.row_numbers, rows)
        found = np.minimum(found, len(model.row_numbers) - 1)
        is_other = differ(queries, fitted.X[found]).any(axis=1)
        return np.where((model.row_numbers[found] == rows) & ~is_other, found, -1)
    ids = None if model.ids is None else model.ids.astype(str)
    return find_training_rows(
        fitted, queries, names=None if names is None else names.astype(str), training_names=ids
    )


def is_training_table(model: TableModel, table: pd.DataFrame) -> bool:
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
