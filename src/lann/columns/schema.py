"""The schema of a table: what kind each feature is of, and how its values become numbers and back."""

from __future__ import annotations

import datetime
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import cached_property
from typing import Any

import narwhals as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann._support.validation import shown

FEATURE_KINDS = ("number", "bool", "date", "ordered", "category", "empty")
# The code of a category that the training data do not have.
UNSEEN = -1.0
# How it is shown where its name is unknown.
UNSEEN_TEXT = "(unseen)"
SECONDS_PER_DAY = 86_400.0
# Larger integers are not exact in float64.
LARGEST_INTEGER = 2.0**53
FROM_DTYPE = "from_dtype"
# Text that is a date whatever the country: the year comes first.
ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
BOOLS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


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
            unit: Any = self.unit
            return str(np.datetime64(round(number), unit)).replace("T", " ")
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
        columns = {
            feature.name: (X if feature.kind == "number" else values)[:, number]
            for number, feature in enumerate(self.features)
        }
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

        Raises
        ------
        ValueError
            If no feature has a value.

        Warns
        -----
        UserWarning
            If a feature has no value.
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


def as_table(X: Any) -> nw.DataFrame[Any] | None:
    """Return a table of pandas, polars or pyarrow as narwhals has it; None if X is something else.

    Columns whose names are not all different texts are called x0, x1, …; sparse columns become dense.
    """
    shape = getattr(X, "shape", None)
    if isinstance(X, np.ndarray | list | tuple) or not isinstance(shape, tuple) or len(shape) != 2:
        return None
    if hasattr(X, "iloc"):
        X = _with_plain_columns(X)
    table = nw.from_native(X, eager_only=True, pass_through=True)
    return table if isinstance(table, nw.DataFrame) else None


def _with_plain_columns(frame: Any) -> Any:
    """Return a table of pandas with dense columns whose names are different texts."""
    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        frame = frame.set_axis([f"x{f}" for f in range(len(names))], axis=1)
    sparse = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.SparseDtype)]
    return frame.assign(**{name: frame[name].sparse.to_dense() for name in sparse})


def array_as_table(X: Any) -> nw.DataFrame[Any]:
    """Return an array as a table with the columns x0, x1, …, each with the type of its values."""
    frame = pd.DataFrame(X)
    if frame.shape[1] > 0:
        frame = frame.infer_objects()
    return nw.from_native(frame.set_axis([f"x{f}" for f in range(frame.shape[1])], axis=1), eager_only=True)


def infer_schema(table: nw.DataFrame[Any], categorical_features: Any, *, has_names: bool) -> TableSchema:
    """Return the schema of a table.

    Parameters
    ----------
    table : DataFrame of narwhals
    categorical_features : "from_dtype", None, or array-like
        "from_dtype" takes the columns of text and of categories; a mask, positions or names name the features
        that are categories; None is no others.
    has_names : bool
        Whether the columns have names of the user's.

    Raises
    ------
    ValueError
        If `categorical_features` do not fit, or a column has values that cannot be measured.
    """
    names, features = list(table.columns), []
    is_category = category_mask(categorical_features, names, has_names=has_names)
    for name, given in zip(names, is_category.tolist(), strict=True):
        feature = _infer_feature(table[name], name, given)
        if feature.kind == "category" and not (given or _is_from_dtype(categorical_features)):
            raise ValueError(
                f"Feature {name!r} has text; name it in categorical_features, or let these be 'from_dtype'."
            )
        features.append(feature)
    return TableSchema(tuple(features), has_names)


def _is_from_dtype(categorical_features: Any) -> bool:
    return isinstance(categorical_features, str) and categorical_features == FROM_DTYPE


def names_none(categorical_features: Any) -> bool:
    """Return whether no features are named as categories, so that their types decide."""
    return categorical_features is None or _is_from_dtype(categorical_features)


def category_mask(categorical_features: Any, names: Sequence[str], *, has_names: bool) -> NDArray[np.bool_]:
    """Return which features are named as categories: (n_features,)."""
    mask = np.zeros(len(names), bool)
    if names_none(categorical_features):
        return mask
    given = np.asarray(categorical_features)
    kind = given.dtype.kind
    is_valid = given.ndim == 1 and (
        given.size == 0
        or (kind == "b" and len(given) == len(names))
        or (kind in "iu" and given.min() >= 0 and given.max() < len(names))
        or (kind in "UOT" and has_names)
    )
    if not is_valid:
        raise ValueError(
            "categorical_features must be 'from_dtype', None, or a list of names or positions of features, "
            f"or a mask of all {len(names)}; got {shown(categorical_features)}."
        )
    if kind not in "UOT":
        mask[given.astype(bool if kind == "b" else np.int64)] = True
        return mask
    for name in given:
        if name not in names:
            raise ValueError(f"categorical_features has {str(name)!r}, which is not a column of the table.")
        mask[names.index(name)] = True
    return mask


def _infer_feature(column: nw.Series[Any], name: str, is_category: bool) -> Feature:
    """Return the feature of a column: of the kind of its type, unless it is named as a category."""
    dtype, values = column.dtype, None
    is_category = is_category or dtype in (nw.String, nw.Categorical)
    if dtype == nw.Object or is_category:
        values = _distinct(column, name)
        if not values:
            return Feature(name, "empty")
    elif column.is_null().all() or (dtype.is_float() and column.is_nan().all()):
        return Feature(name, "empty")
    if isinstance(dtype, nw.Enum) and not is_category:
        return Feature(name, "ordered", tuple(map(value_as_text, dtype.categories)))
    kind = None if is_category else _kind_of(dtype, values)
    if kind == "date":
        seconds = _read_dates(column, Feature(name, "date", unit="s"))
        days = seconds[~np.isnan(seconds)] % SECONDS_PER_DAY == 0
        return Feature(name, "date", unit="D" if days.all() else "s")
    if kind is not None:
        return Feature(name, kind)
    if values is None:
        raise _not_measurable(name, getattr(column.to_native(), "dtype", dtype))
    return Feature(name, "category", tuple(sorted({value_as_text(value) for value in values})))


def _not_measurable(name: str, kind: Any) -> ValueError:
    return ValueError(f"Feature {name!r} has values of type {kind}, which cannot be measured; leave it out.")


def _kind_of(dtype: Any, values: list[Any] | None) -> str | None:
    """Return the kind of a column without categories, None if it has none."""
    if dtype == nw.Boolean:
        return "bool"
    if dtype.is_numeric() or dtype == nw.Duration:
        return "number"
    if dtype in (nw.Date, nw.Datetime):
        return "date"
    if values is not None:
        if all(isinstance(value, bool | np.bool_) for value in values):
            return "bool"
        if all(isinstance(value, int | float | np.number | Decimal) for value in values):
            return "number"
        if all(isinstance(value, datetime.date | np.datetime64) for value in values):
            return "date"
    return None


def extend_schema(schema: TableSchema, table: nw.DataFrame[Any]) -> TableSchema:
    """Return the schema with the categories that a table has in addition, at the end.

    Parameters
    ----------
    schema : TableSchema
    table : DataFrame of narwhals
        Columns in the order of the features.
    """
    features = []
    for feature, name in zip(schema.features, table.columns, strict=True):
        if feature.kind == "category":
            found = {value_as_text(value) for value in _distinct(table[name], feature.name)}
            new = sorted(found - set(feature.categories))
            feature = replace(feature, categories=feature.categories + tuple(new))
        features.append(feature)
    return replace(schema, features=tuple(features))


def read(table: nw.DataFrame[Any], schema: TableSchema) -> Floats:
    """Return the rows of a table as numbers.

    Parameters
    ----------
    table : DataFrame of narwhals
        Columns in the order of the features.
    schema : TableSchema

    Returns
    -------
    X : ndarray of shape (n_rows, n_features)
        Categories as codes, -1 for unseen ones; gaps as NaN.

    Raises
    ------
    ValueError
        If a column has values that do not fit its feature.
    """
    X = np.empty((len(table), len(schema.features)))
    for number, (feature, name) in enumerate(zip(schema.features, table.columns, strict=True)):
        X[:, number] = _READERS[feature.kind](table[name], feature)
    return X


def _read_numbers(column: nw.Series[Any], feature: Feature) -> Floats:
    if column.dtype == nw.Duration:
        return column.dt.total_microseconds().cast(nw.Float64).to_numpy() / 1e6
    if column.dtype == nw.Decimal:
        numbers = np.array([np.nan if value is None else float(value) for value in column.to_list()])
    elif column.dtype.is_numeric():
        numbers = column.cast(nw.Float64).to_numpy()
    else:
        numbers = _mapped(column, lambda value: _number(value, feature), feature)
    infinite = np.flatnonzero(np.isinf(numbers))
    if len(infinite):
        raise ValueError(
            f"Feature {feature.name!r} has an infinite value, in row {infinite[0]}; give finite numbers, or "
            "a missing value."
        )
    return numbers


def _number(value: Any, feature: Feature) -> float:
    try:
        return float(value)
    except OverflowError:  # an integer that is too large
        return np.inf
    except (TypeError, ValueError):
        raise _does_not_fit(value, feature, "numbers") from None


def _read_bools(column: nw.Series[Any], feature: Feature) -> Floats:
    def as_number(value: Any) -> float:
        number = BOOLS.get(value_as_text(value).lower())
        if number is None:
            raise _does_not_fit(value, feature, "true and false")
        return number

    return _mapped(column, as_number, feature)


def _read_dates(column: nw.Series[Any], feature: Feature) -> Floats:
    if column.dtype in (nw.Date, nw.Datetime):
        seconds = _seconds(column)
    else:
        seconds = _mapped(column, lambda value: _date(value, feature), feature)
    return np.floor(seconds / SECONDS_PER_DAY) if feature.unit == "D" else seconds


def _date(value: Any, feature: Feature) -> float:
    is_text = isinstance(value, str)
    if isinstance(value, int | float | np.number) or (is_text and not ISO_DATE.match(value)):
        raise _does_not_fit(value, feature, "dates")
    try:
        moment = pd.Timestamp(value)
    except (TypeError, ValueError, OverflowError):
        raise _does_not_fit(value, feature, "dates") from None
    return float(moment.tz_localize(None).timestamp())  # the time that the table shows


def _read_categories(column: nw.Series[Any], feature: Feature) -> Floats:
    codes = {category: float(code) for code, category in enumerate(feature.categories)}
    return _mapped(column, lambda value: codes.get(value_as_text(value), UNSEEN), feature)


def _read_ordered(column: nw.Series[Any], feature: Feature) -> Floats:
    codes = _read_categories(column, feature)
    unseen = np.flatnonzero(codes == UNSEEN)
    if len(unseen):
        raise ValueError(
            f"Feature {feature.name!r} has {value_as_text(column.to_list()[unseen[0]])!r}, which is not one "
            f"of its ordered categories {list(feature.categories)}."
        )
    return codes


_READERS: dict[str, Callable[[Any, Feature], Floats]] = {
    "number": _read_numbers,
    "bool": _read_bools,
    "date": _read_dates,
    "category": _read_categories,
    "ordered": _read_ordered,
    "empty": lambda column, feature: np.zeros(len(column)),
}


def _does_not_fit(value: Any, feature: Feature, expected: str) -> ValueError:
    return ValueError(f"Feature {feature.name!r} has {expected} in the training data; got {str(value)!r}.")


def value_as_text(value: Any) -> str:
    """Return a value as text, the same for 1, 1.0 and "1".

    >>> value_as_text(1.0), value_as_text(2.5), value_as_text("red"), value_as_text(True)
    ('1', '2.5', 'red', 'True')
    """
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < LARGEST_INTEGER else repr(number)
    return str(value)


def _distinct(column: nw.Series[Any], name: str) -> list[Any]:
    """Return the distinct values of a column, without gaps."""
    try:
        return [value for value in column.drop_nulls().unique().to_list() if value == value]
    except TypeError:  # values that cannot be compared
        raise _not_measurable(name, type(column.drop_nulls().to_list()[0]).__name__) from None


def _mapped(column: nw.Series[Any], as_number: Callable[[Any], float], feature: Feature) -> Floats:
    """Return a number for each value of a column, NaN for gaps; each distinct value is converted once."""
    numbers = {value: as_number(value) for value in _distinct(column, feature.name)}
    if column.implementation.is_pandas_like():
        return column.to_native().map(numbers).astype("float64").to_numpy()
    if not numbers:
        return np.full(len(column), np.nan)
    found = column.replace_strict(
        list(numbers), list(numbers.values()), return_dtype=nw.Float64, default=None
    )
    return found.to_numpy().astype(np.float64)


def _seconds(column: nw.Series[Any]) -> Floats:
    """Return dates as seconds since 1970, NaN for gaps."""
    if column.dtype == nw.Date:
        column = column.cast(nw.Datetime("us"))
    elif getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.replace_time_zone(None)  # the time that the table shows
    return column.dt.timestamp("us").cast(nw.Float64).to_numpy() / 1e6
