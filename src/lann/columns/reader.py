"""The reading of tables: what kind each column is of, and its values as numbers."""

from __future__ import annotations

import datetime
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from decimal import Decimal
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats
from lann._support.validation import shown
from lann.columns.schema import SECONDS_PER_DAY, UNSEEN, Feature, TableSchema

if TYPE_CHECKING:
    import narwhals as nw

FROM_DTYPE = "from_dtype"
# Text that is a date whatever the country: the year comes first.
ISO_DATE = re.compile(r"\s*\d{4}-\d{2}-\d{2}")
BOOLS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


def as_table(X: Any) -> nw.DataFrame[Any] | None:
    """Return a table of pandas, polars or pyarrow as narwhals has it; None if X is something else.

    Columns whose names are not all different texts are called x0, x1, …; sparse columns become dense.
    """
    shape = getattr(X, "shape", None)
    if isinstance(X, np.ndarray | list | tuple) or not isinstance(shape, tuple) or len(shape) != 2:
        return None
    import narwhals as nw

    if hasattr(X, "iloc"):
        X = _with_plain_columns(X)
    table = nw.from_native(X, eager_only=True, pass_through=True)
    return table if isinstance(table, nw.DataFrame) else None


def _with_plain_columns(frame: Any) -> Any:
    """Return a table of pandas with dense columns whose names are different texts."""
    import pandas as pd

    names = list(frame.columns)
    if not all(isinstance(name, str) for name in names) or len(set(names)) < len(names):
        frame = frame.set_axis([f"x{f}" for f in range(len(names))], axis=1)
    sparse = [name for name, dtype in frame.dtypes.items() if isinstance(dtype, pd.SparseDtype)]
    half = [name for name, dtype in frame.dtypes.items() if dtype == np.float16]  # pandas cannot map these
    plain = {name: frame[name].sparse.to_dense() for name in sparse}
    plain |= {name: frame[name].astype(np.float32) for name in half}
    return frame.assign(**plain) if plain else frame


def array_as_table(X: Any) -> nw.DataFrame[Any]:
    """Return an array as a table with the columns x0, x1, …, each with the type of its values."""
    import narwhals as nw
    import pandas as pd

    try:
        frame = pd.DataFrame(X)
    except (pd.errors.OutOfBoundsDatetime, pd.errors.OutOfBoundsTimedelta):
        raise ValueError(
            "X has times that are too long ago, too far ahead, or too long to be read."
        ) from None
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
    names = list(table.columns)
    is_category = category_mask(categorical_features, names, has_names=has_names)
    features = tuple(
        _infer_feature(table[name], name, bool(category))
        for name, category in zip(names, is_category, strict=True)
    )
    if not _is_from_dtype(categorical_features):
        for feature, given in zip(features, is_category, strict=True):
            if feature.kind == "category" and not given:
                raise ValueError(
                    f"Feature {feature.name!r} has text; name it in categorical_features, or let these be "
                    "'from_dtype'."
                )
    return TableSchema(features, has_names)


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
    wrong = (
        "categorical_features must be 'from_dtype', None, or a list of names or positions of features, or a "
        f"mask of all {len(names)}; got {shown(categorical_features)}."
    )
    if given.ndim != 1:
        raise ValueError(wrong)
    if given.size == 0:
        return mask
    if given.dtype.kind == "b":
        if len(given) != len(names):
            raise ValueError(wrong)
        return given.astype(bool)
    if given.dtype.kind in "iu":
        if given.min() < 0 or given.max() >= len(names):
            raise ValueError(wrong)
        mask[given] = True
        return mask
    if not has_names or given.dtype.kind not in "UOT":
        raise ValueError(wrong)
    known = {name: number for number, name in enumerate(names)}
    for name in given:
        if name not in known:
            raise ValueError(f"categorical_features has {str(name)!r}, which is not a column of the table.")
        mask[known[name]] = True
    return mask


def _infer_feature(column: nw.Series[Any], name: str, is_category: bool) -> Feature:
    """Return the feature of a column: of the kind of its type, unless it is named as a category."""
    import narwhals as nw

    dtype = column.dtype
    values = None
    if dtype == nw.Object or is_category or _is_text_dtype(dtype):
        values = _distinct(column, name)
        if not values:
            return Feature(name, "empty")
    elif column.is_null().all() or (dtype.is_float() and column.is_nan().all()):
        return Feature(name, "empty")
    if values is None or not (is_category or _is_text_dtype(dtype)):
        if isinstance(dtype, nw.Enum):
            return Feature(name, "ordered", tuple(map(_text, dtype.categories)))
        kind = _kind_of(dtype, values)
        if kind == "date":
            seconds = _read_dates(column, Feature(name, "date", unit="s"))
            days = seconds[~np.isnan(seconds)] % SECONDS_PER_DAY == 0
            return Feature(name, "date", unit="D" if days.all() else "s")
        if kind is not None:
            return Feature(name, kind)
    if values is None:
        raise _not_measurable(name, getattr(column.to_native(), "dtype", dtype))
    return Feature(name, "category", tuple(sorted({_text(value) for value in values})))


def _not_measurable(name: str, kind: Any) -> ValueError:
    return ValueError(f"Feature {name!r} has values of type {kind}, which cannot be measured; leave it out.")


def _is_text_dtype(dtype: Any) -> bool:
    import narwhals as nw

    return dtype in (nw.String, nw.Categorical)


def _kind_of(dtype: Any, values: list[Any] | None) -> str | None:
    """Return the kind of a column without categories, None if it has none."""
    import narwhals as nw

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
            found = {_text(value) for value in _distinct(table[name], feature.name)}
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


def _read_nothing(column: nw.Series[Any], feature: Feature) -> Floats:
    return np.zeros(len(column))


def _read_numbers(column: nw.Series[Any], feature: Feature) -> Floats:
    import narwhals as nw

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
        number = BOOLS.get(_text(value).lower())
        if number is None:
            raise _does_not_fit(value, feature, "true and false")
        return number

    return _mapped(column, as_number, feature)


def _read_dates(column: nw.Series[Any], feature: Feature) -> Floats:
    import narwhals as nw

    if column.dtype in (nw.Date, nw.Datetime):
        seconds = _seconds(column)
    else:
        seconds = _mapped(column, lambda value: _date(value, feature), feature)
    return np.floor(seconds / SECONDS_PER_DAY) if feature.unit == "D" else seconds


def _date(value: Any, feature: Feature) -> float:
    import pandas as pd

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
    return _mapped(column, lambda value: codes.get(_text(value), UNSEEN), feature)


def _read_ordered(column: nw.Series[Any], feature: Feature) -> Floats:
    codes = {category: float(code) for code, category in enumerate(feature.categories)}

    def as_number(value: Any) -> float:
        if _text(value) not in codes:
            raise ValueError(
                f"Feature {feature.name!r} has {_text(value)!r}, which is not one of its ordered categories "
                f"{list(feature.categories)}."
            )
        return codes[_text(value)]

    return _mapped(column, as_number, feature)


_READERS: dict[str, Callable[[Any, Feature], Floats]] = {
    "number": _read_numbers,
    "bool": _read_bools,
    "date": _read_dates,
    "category": _read_categories,
    "ordered": _read_ordered,
    "empty": _read_nothing,
}


def _does_not_fit(value: Any, feature: Feature, expected: str) -> ValueError:
    return ValueError(f"Feature {feature.name!r} has {expected} in the training data; got {str(value)!r}.")


def _text(value: Any) -> str:
    """Return a category as text, the same for 1, 1.0 and "1"."""
    if isinstance(value, float | np.floating) and float(value).is_integer() and abs(float(value)) < 2**53:
        return str(int(value))
    return str(value)


def _distinct(column: nw.Series[Any], name: str) -> list[Any]:
    """Return the distinct values of a column, without gaps."""
    try:
        values = [value for value in column.drop_nulls().unique().to_list() if value == value]
        for value in values:
            if isinstance(value, str) and not value.isascii():
                value.encode()
        return values
    except OverflowError:  # pandas before 3 converts integers beyond 64 bits
        raise ValueError(f"Feature {name!r} has an integer that is too large for float64.") from None
    except UnicodeEncodeError:
        raise ValueError(
            f"Feature {name!r} has text with half of a character (a surrogate), which is no Unicode text."
        ) from None
    except TypeError:  # values that cannot be compared
        raise _not_measurable(name, type(column.drop_nulls().to_list()[0]).__name__) from None


def _mapped(column: nw.Series[Any], as_number: Callable[[Any], float], feature: Feature) -> Floats:
    """Return a number for each value of a column, NaN for gaps; each distinct value is converted once."""
    import narwhals as nw

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
    import narwhals as nw

    if column.dtype == nw.Date:
        column = column.cast(nw.Datetime("us"))
    elif getattr(column.dtype, "time_zone", None) is not None:
        column = column.dt.replace_time_zone(None)  # the time that the table shows
    return column.dt.timestamp("us").cast(nw.Float64).to_numpy() / 1e6
