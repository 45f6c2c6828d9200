"""The columns of a model: what the features of a classifier have, and values as a table writes them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.format import ShownNumber, is_missing
from lann._support.inputs import get_feature_names
from lann._support.types import Floats, Indices
from lann.columns.notation import DateNotation, NumberNotation
from lann.columns.schema import Feature, TableSchema, TableValues
from lann.columns.text import Column
from lann.persist import TableRecord

DATE_FORMATS = {"D": "%Y-%m-%d", "s": "%Y-%m-%d %H:%M:%S"}


def columns_of_record(record: TableRecord, classifier: Any) -> tuple[Column, ...]:
    """Return the columns of a record; raise ValueError if they are not the features of the classifier."""
    columns = tuple(map(Column.from_dict, record.columns))
    expected = [(column.name, column.kind) for column in columns_of_classifier(classifier)]
    if [(column.name, column.kind) for column in columns] != expected:
        raise ValueError("The columns of the table in the model file are not the features of the model.")
    is_ascending = bool(np.all(np.diff(record.row_numbers) > 0))
    if len(record.row_numbers) != len(classifier.model_.X) or not is_ascending:
        raise ValueError("The row numbers in the model file are not those of the training rows.")
    return columns


def columns_of_classifier(classifier: Any) -> tuple[Column, ...]:
    """Return columns that have what the features of a classifier have, written in the plainest way."""
    return tuple(map(_plain_column, schema_of(classifier).features))


def schema_of(classifier: Any) -> TableSchema:
    """Return what the features of a classifier have; numbers if it does not take tables."""
    schema: TableSchema | None = getattr(classifier, "schema_", None)
    return schema or TableSchema.numeric(list(get_feature_names(classifier)), has_names=True)


def _plain_column(feature: Feature) -> Column:
    reason = "it is a feature of the model"
    if feature.kind == "number":
        return Column(feature.name, "number", reason, NumberNotation())
    if feature.kind == "bool":
        return Column(feature.name, "bool", reason)
    if feature.kind == "date":
        return Column(feature.name, "date", reason, DateNotation(shown=DATE_FORMATS[feature.unit]))
    return Column(feature.name, "category", reason)


@dataclass(frozen=True)
class TrainingValues(TableValues):
    """Training rows by their row numbers, as the columns write their values.

    Attributes
    ----------
    columns : tuple of Column
    row_numbers : ndarray of shape (n_rows,)
        Ascending.
    """

    columns: tuple[Column, ...]
    row_numbers: Indices

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self.shown(self.X[np.searchsorted(self.row_numbers, rows)])

    def shown(self, X: Floats) -> NDArray[Any]:
        values = self.schema.values(X)  # (..., n_features)
        return shown_values(self.columns, values.reshape(-1, len(self.columns))).reshape(values.shape)


def shown_values(columns: Sequence[Column], values: NDArray[Any]) -> NDArray[Any]:
    """Return values as the columns write them: text, or numbers that are shown so; None where missing.

    Parameters
    ----------
    columns : sequence of Column
    values : ndarray of shape (n_rows, n_features)
        Objects: numbers, text, bools and dates.

    Returns
    -------
    shown : ndarray of shape (n_rows, n_features)
    """
    shown = np.full(values.shape, None, dtype=object)
    for j, column in enumerate(columns):
        codes, distinct = pd.factorize(values[:, j])  # each value is formatted once
        known = np.array([None] * (len(distinct) + 1), dtype=object)  # the last one is that of missing values
        known[:-1] = [_shown(column, value) for value in distinct]
        shown[:, j] = known[codes]
    return shown


def _shown(column: Column, value: Any) -> Any:
    if is_missing(value):
        return None
    text = column.format(value)
    return ShownNumber(value, text) if column.kind == "number" else text
