"""The cells of a column, whatever its type: numbers, bools, dates or text."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from decimal import Decimal
from numbers import Real
from typing import Any, Literal

import numpy as np
import pandas as pd

from lann._types import Indices
from lann.tables._dates import typed_dates, typed_notation
from lann.tables._missing import MISSING

CellKind = Literal["number", "bool", "date", "text", "other"]
LARGEST_INTEGER = 2**53
_MISSING = frozenset(MISSING)


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column.

    Attributes
    ----------
    kind : {"number", "bool", "date", "text", "other"}
        "other" are lists and other objects that are not single values.
    values : Series
        Numbers are float64, bools are objects, dates are datetime64 in UTC, texts have no spaces around
        them. Missing cells are NaN or None.
    has_zone : bool
        Whether dates have a time zone.
    """

    kind: CellKind
    values: pd.Series
    has_zone: bool = False

    @classmethod
    def from_column(cls, column: pd.Series, row_numbers: Indices | None = None) -> Cells:
        """Return the cells of a column; its index is replaced by row numbers, from 0 if none are given."""
        column = column.set_axis(pd.RangeIndex(len(column)) if row_numbers is None else row_numbers)
        is_arrow = isinstance(column.dtype, pd.ArrowDtype) and column.dtype.kind not in "iufb"
        if isinstance(column.dtype, pd.CategoricalDtype) or is_arrow:
            column = column.astype(object)
        if pd.api.types.is_bool_dtype(column) and column.dtype != object:
            return cls("bool", column.astype(object).where(column.notna(), None))
        if pd.api.types.is_complex_dtype(column):
            return cls("other", column)
        if pd.api.types.is_numeric_dtype(column):
            return cls("number", _floats(column))
        dates = None
        if pd.api.types.is_datetime64_any_dtype(column) or column.dtype == object:
            dates = typed_dates(column)
        if dates is not None:
            return cls("date", dates[0], has_zone=dates[1])
        if pd.api.types.is_string_dtype(column) and column.dtype != object:
            return cls("text", _stripped(column.astype(object)))
        return cls._from_objects(column.astype(object))

    @classmethod
    def _from_objects(cls, column: pd.Series) -> Cells:
        column = column.where(column.notna(), None)
        present = column.dropna()
        types = set(map(type, present))
        if types <= {str}:
            return cls("text", _stripped(column))
        bools: set[type] = {bool, np.bool_}
        if types <= bools:
            return cls("bool", column)
        if not types & bools and all(issubclass(type_, Real | Decimal) for type_ in types):
            return cls("number", column.map(as_float, na_action="ignore").astype("float64"))
        if not all(isinstance(cell, Hashable) and not isinstance(cell, tuple | bytes) for cell in present):
            return cls("other", column)
        return cls("text", _stripped(column.map(value_as_text, na_action="ignore")))

    def as_texts(self) -> pd.Series:
        """Return the cells as text, as a CSV file has them; 1.0 is "1"."""
        if self.kind == "date":
            notation = typed_notation(self.values, has_zone=self.has_zone)
            texts = self.values.astype(object).map(notation.format_date, na_action="ignore")
        else:
            texts = self.values.astype(object).map(value_as_text, na_action="ignore")
        return texts.where(self.values.notna(), None)


def as_float(value: Any) -> float:
    """Return a number as a float; an integer that is too large is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def value_as_text(value: Any) -> str:
    """Return a value as text; 1.0 is "1".

    >>> value_as_text(1.0), value_as_text(2.5), value_as_text("red"), value_as_text(True)
    ('1', '2.5', 'red', 'True')
    """
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < LARGEST_INTEGER else repr(number)
    return str(value)


def _floats(column: pd.Series) -> pd.Series:
    return pd.Series(column.to_numpy(dtype="float64", na_value=np.nan), index=column.index)


def _stripped(column: pd.Series) -> pd.Series:
    """Return texts without spaces around them, None where missing."""
    texts = column.where(column.notna(), "").to_list()
    cells = [None if (text := cell.strip()) in _MISSING else text for cell in texts]
    return pd.Series(cells, index=column.index, dtype=object)
