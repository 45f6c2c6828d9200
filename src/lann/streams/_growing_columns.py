"""Rows that come as dictionaries, as rows of numbers: features can appear and vanish at any time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterator, Mapping, Sequence
from copy import deepcopy
from decimal import Decimal
from numbers import Real
from typing import Any

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd

from lann._support.sizes import LARGEST_VALUE, too_large
from lann._support.types import Floats

# The values of a row that are not missing: numbers, and text for categories.
Values = Mapping[Hashable, float | str]
# Two rows of different categories differ by this in two columns: their squared distance is 1.
CATEGORY = math.sqrt(0.5)


class GrowingColumns:
    """The columns of all features so far; `with_values` returns others, and changes nothing.

    A feature with numbers has a column, and one with text a column for each category. Columns do not depend
    on the order of the features within a row.

    Parameters
    ----------
    max_categories : int
        Number of categories of a feature that have a column of their own; all others share one.

    Attributes
    ----------
    names : list of str
        Name of each column: that of its feature, with the category if there is one.
    """

    def __init__(self, max_categories: int) -> None:
        self.max_categories = max_categories
        self.names: list[str] = []
        self._numbers: dict[Hashable, int] = {}
        # By feature, the column of each category; None stands for all further categories.
        self._categories: dict[Hashable, dict[str | None, int]] = {}

    def row(self, values: Values) -> Floats:
        """Return a row, (n_columns,); values without a column are left out, others are missing."""
        row = np.full(len(self.names), np.nan)
        for feature, value in values.items():
            if isinstance(value, str) and feature in self._categories:
                row[list(self._categories[feature].values())] = 0.0
            column = self._column_of(feature, value)
            if column is not None:
                row[column] = CATEGORY if isinstance(value, str) else value
        return row

    def with_values(self, values: Values) -> tuple[GrowingColumns, list[int | None]]:
        """Return columns that the values of a row have all.

        Returns
        -------
        columns : GrowingColumns
        new : list of int or None
            For each column that is added at the end, the column of another category of its feature, or None:
            see `earlier_values`.
        """
        unknown = [feature for feature, value in values.items() if self._column_of(feature, value) is None]
        if not unknown:
            return self, []
        columns = deepcopy(self)
        by_name = sorted(unknown, key=lambda feature: (type(feature).__name__, str(feature)))
        return columns, [columns._add(feature, values[feature]) for feature in by_name]

    def _column_of(self, feature: Hashable, value: float | str) -> int | None:
        if not isinstance(value, str):
            return self._numbers.get(feature)
        columns = self._categories.get(feature, {})
        return columns.get(value, columns.get(None))

    def _add(self, feature: Hashable, value: float | str) -> int | None:
        column = len(self.names)
        if not isinstance(value, str):
            self._numbers[feature] = column
            self.names.append(str(feature))
            return None
        categories = self._categories.setdefault(feature, {})
        other = next(iter(categories.values()), None)
        category = value if len(categories) < self.max_categories else None
        categories[category] = column
        self.names.append(f"{feature}={'other' if category is None else category}")
        return other


def with_earlier_values(rows: Floats, new: Sequence[int | None]) -> Floats:
    """Return rows with new columns: 0 where a row has another category of the feature, else missing."""
    earlier = [np.full(len(rows), np.nan) if other is None else rows[:, other] * 0.0 for other in new]
    return np.column_stack([rows, *earlier])


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or what pandas has in their place."""
    return pd.isna(value) is True  # an array for a list


def read_values(x: Mapping[Any, Any]) -> Values:
    """Return the values of a row that are not missing.

    Raises
    ------
    ValueError
        If a value is infinite, too large, or neither a number nor text.
    """
    values: dict[Hashable, float | str] = {}
    for feature, value in x.items():
        if isinstance(value, str):
            values[feature] = value
        elif type(value) is float or isinstance(value, Real | Decimal | np.bool_):
            number = float(value)
            if math.isinf(number):
                raise ValueError(f"Feature {feature!r} is infinite; give None for a missing value.")
            if abs(number) > LARGEST_VALUE:
                raise ValueError(too_large(feature))
            if not math.isnan(number):
                values[feature] = number
        elif not is_missing(value):
            raise ValueError(
                f"Feature {feature!r} has a value of type {type(value).__name__}; give numbers, text or None."
            )
    return values


def table_rows(X: Any) -> Iterator[dict[Any, Any]]:
    """Return the rows of a table of pandas, polars or pyarrow as dictionaries."""
    frame = nw.from_native(X, eager_only=True)
    if len(set(frame.columns)) < len(frame.columns):
        raise ValueError("The columns of the table must have different names.")
    return iter(frame.iter_rows(named=True))
