"""The schema of a table: what kind each feature is of, and how its values become numbers and back."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices

FEATURE_KINDS = ("number", "bool", "date", "ordered", "category", "empty")
# The code of a category that the training data do not have.
UNSEEN = -1.0
# How it is shown where its name is unknown.
UNSEEN_TEXT = "(unseen)"
SECONDS_PER_DAY = 86_400.0


@dataclass(frozen=True)
class Feature:
    """A feature of a table.

    Attributes
    ----------
    name : str
    kind : {"number", "bool", "date", "ordered", "category", "empty"}
        A bool is the number 0 or 1, a date the number of days or seconds since 1970, an ordered category the
        number of categories below it. An empty feature has no value in the training data; it is 0 in every
        row, whatever its value.
    categories : tuple of str
        The categories of the training data, or all ordered ones in their order.
    unit : {"", "D", "s"}
        Of a date: days, or seconds where there are times of day.
    """

    name: str
    kind: str = "number"
    categories: tuple[str, ...] = ()
    unit: str = ""

    def value(self, number: float) -> Any:
        """Return a number as the user's value.

        Parameters
        ----------
        number : float

        Returns
        -------
        value : object
            None for a gap; a date as text.
        """
        if np.isnan(number) or self.kind == "empty":
            return None
        if self.kind == "number":
            return float(number)
        if self.kind == "bool":
            return bool(number)
        if self.kind == "date":
            return _date_text(number, self.unit)
        return self.categories[int(number)] if number != UNSEEN else UNSEEN_TEXT


@dataclass(frozen=True)
class TableSchema:
    """The features of a table, and how rows of such tables become numbers.

    Attributes
    ----------
    features : tuple of Feature
    has_names : bool
        Whether the table has column names; otherwise features go by their position.
    """

    features: tuple[Feature, ...]
    has_names: bool = False

    @classmethod
    def numeric(cls, names: Sequence[str], *, has_names: bool) -> TableSchema:
        """Return the schema of a table of numbers.

        Parameters
        ----------
        names : sequence of str
            Names of the features.
        has_names : bool
            Whether these are the names of columns.

        Returns
        -------
        schema : TableSchema
        """
        return cls(tuple(Feature(str(name)) for name in names), has_names)

    @cached_property
    def is_numeric(self) -> bool:
        """Whether all features are numbers."""
        return all(feature.kind == "number" for feature in self.features)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the features."""
        return tuple(feature.name for feature in self.features)

    @property
    def n_categories(self) -> tuple[int, ...]:
        """Number of categories of each feature, 0 for numbers and ordered categories."""
        return tuple(
            len(feature.categories) if feature.kind == "category" else 0 for feature in self.features
        )

    def values(self, X: Floats) -> NDArray[Any]:
        """Return rows given as numbers in the user's values.

        Parameters
        ----------
        X : ndarray of shape (..., n_features)

        Returns
        -------
        values : ndarray of the same shape
            Objects.
        """
        out = np.empty(X.shape, object)
        for number, feature in enumerate(self.features):
            column = X[..., number]
            distinct, position = np.unique(column, return_inverse=True)
            shown = np.empty(len(distinct), object)
            shown[:] = [feature.value(value) for value in distinct]
            out[..., number] = shown[position.reshape(column.shape)]
        return out

    def unseen(self, X: Floats) -> NDArray[np.bool_]:
        """Return which values are categories that the training data do not have.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Rows given as numbers.

        Returns
        -------
        unseen : ndarray of shape (n_rows, n_features)
        """
        return (X == UNSEEN) & (np.array(self.n_categories) > 0)

    def to_table(self, X: Floats) -> Any:
        """Return rows given as numbers as a table in the user's values, or as an array without names.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        table : DataFrame or ndarray of shape (n_rows, n_features)
        """
        values = self.values(X)
        if not self.has_names:
            return X if self.is_numeric else values
        import pandas as pd

        columns = {f.name: values[:, number] for number, f in enumerate(self.features)}
        for number, feature in enumerate(self.features):
            if feature.kind == "number":
                columns[feature.name] = X[:, number]
        return pd.DataFrame(columns)

    def without_empty(self, X: Floats) -> tuple[TableSchema, Floats]:
        """Return the schema in which features without any value are empty, and the rows with 0 there.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
            Training rows.

        Returns
        -------
        schema : TableSchema
        rows : ndarray of shape (n_rows, n_features)

        Warns
        -----
        UserWarning
            If a feature has no value.

        Raises
        ------
        ValueError
            If no feature has a value.
        """
        is_empty = np.isnan(X).all(axis=0) | np.array([feature.kind == "empty" for feature in self.features])
        if not is_empty.any():
            return self, X
        if is_empty.all():
            raise ValueError("X has no value in any row: all of them are missing.")
        features = list(self.features)
        for number in np.flatnonzero(is_empty):
            features[number] = Feature(features[number].name, "empty")
        names = ", ".join(repr(features[number].name) for number in np.flatnonzero(is_empty))
        warnings.warn(f"Features without any value in the training rows are ignored: {names}.", stacklevel=2)
        return replace(self, features=tuple(features)), np.where(is_empty, 0.0, X).astype(X.dtype)

    def without_unused(self, X: Floats) -> tuple[TableSchema, Floats]:
        """Return the schema without categories that no row has, and the rows with codes in the new order.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        schema : TableSchema
        rows : ndarray of shape (n_rows, n_features)
        """
        features, rows = list(self.features), X
        for number, feature in enumerate(self.features):
            if feature.kind != "category":
                continue
            codes = X[:, number]
            used = np.unique(codes[~np.isnan(codes)]).astype(np.int64)
            if len(used) == len(feature.categories):
                continue
            features[number] = replace(feature, categories=tuple(feature.categories[c] for c in used))
            rows = rows.copy() if rows is X else rows
            rows[:, number] = np.where(np.isnan(codes), np.nan, np.searchsorted(used, codes))
        return replace(self, features=tuple(features)), rows


@dataclass(frozen=True)
class TableValues:
    """Rows in the user's values, which are looked up when they are needed.

    Attributes
    ----------
    schema : TableSchema
    X : ndarray of shape (n_rows, n_features)
    """

    schema: TableSchema
    X: Floats

    def __getitem__(self, rows: Any) -> NDArray[Any]:
        return self.shown(self.X[rows])

    def shown(self, X: Floats) -> NDArray[Any]:
        """Return rows of numbers in the user's values: (..., n_features)."""
        return self.schema.values(X)

    def cells(self, rows: Indices) -> NDArray[Any]:
        """Return the value of each feature in a row of its own.

        Parameters
        ----------
        rows : ndarray of shape (n, n_features)
            Positions in `X`.

        Returns
        -------
        values : ndarray of shape (n, n_features)
        """
        return self.shown(np.take_along_axis(self.X, rows, axis=0))


def _date_text(number: float, unit: str) -> str:
    if unit == "D":
        return str(np.datetime64(round(number), "D"))
    return str(np.datetime64(round(number), "s")).replace("T", " ")
