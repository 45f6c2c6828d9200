"""Rows that come as dictionaries, as rows of numbers: features can appear and vanish at any time."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping
from copy import copy
from decimal import Decimal
from numbers import Real
from operator import itemgetter
from typing import Any, NamedTuple

import numpy as np

from lann._support.sizes import LARGEST_VALUE, find_too_large, too_large
from lann._support.types import Floats

# Two rows of different categories differ by this in two columns: their squared distance is 1.
CATEGORY = math.sqrt(0.5)
# Types that NumPy converts as it should; None becomes NaN. All others are looked at one by one.
_PLAIN = frozenset(
    {float, int, bool, type(None), np.float64, np.float32, np.int64, np.int32, np.uint8, np.bool_}
)
_MISSING = ("NAType", "NaTType")  # of pandas


class NewColumn(NamedTuple):
    """A column that is added behind the others, and what earlier rows have there.

    Attributes
    ----------
    category_of : int or None
        An earlier column of the same feature: rows with a value there have another category, that is 0 here.
        None if earlier rows have a missing value.
    """

    category_of: int | None

    def earlier_values(self, rows: Floats) -> Floats:
        """Return the values of earlier rows, (n_rows,)."""
        if self.category_of is None:
            return np.full(len(rows), np.nan)
        return rows[:, self.category_of] * 0.0


def with_columns(rows: Floats, new: Iterable[NewColumn]) -> Floats:
    """Return rows with new columns behind the others."""
    for column in new:
        rows = np.column_stack([rows, column.earlier_values(rows)])
    return rows


class FeatureColumns:
    """The columns of all features so far.

    A feature with numbers has a column, and one with text a column for each category. A feature that a row
    does not have, None and NaN are missing values. Columns do not depend on the order of the features within
    a row.

    Parameters
    ----------
    max_categories : int
        Number of categories of a feature that have a column of their own; all others share one.
    """

    def __init__(self, max_categories: int) -> None:
        self.max_categories = max_categories
        self.n_columns = 0
        self._numbers: dict[Hashable, int] = {}
        self._categories: dict[Hashable, dict[str, int]] = {}
        # The column of further categories, by feature.
        self._others: dict[Hashable, int] = {}
        self._getter: Any = None

    @property
    def names(self) -> list[str]:
        """Name of each column: that of its feature, with the category if there is one."""
        found = {column: str(feature) for feature, column in self._numbers.items()}
        for feature, categories in self._categories.items():
            found |= {column: f"{feature}={text}" for text, column in categories.items()}
        found |= {column: f"{feature}=other" for feature, column in self._others.items()}
        return [found[column] for column in range(self.n_columns)]

    def row(self, x: Mapping[Hashable, Any]) -> Floats:
        """Return a row, (n_columns,); what is not known yet is left out.

        Raises
        ------
        ValueError
            If a value is infinite, too large, or neither a number nor text.
        """
        row = self._plain_row(x)
        return self._fill(_values(x)) if row is None else row

    def learn(self, x: Mapping[Hashable, Any]) -> tuple[Floats, list[NewColumn]]:
        """Return a row and the columns that are new with it.

        Raises
        ------
        ValueError
            As `row`; no column is added then.
        """
        row = self._plain_row(x)
        if row is not None:
            return row, []
        values = _values(x)
        new = self._add_new(sorted(values.items(), key=_by_name))
        return self._fill(values), new

    def learn_numbers(self, names: list[Any], values: Floats) -> list[NewColumn]:
        """Add the columns of a table of numbers that are new in its first row; return them.

        Parameters
        ----------
        names : list of n_features
        values : (n_rows, n_features)

        Raises
        ------
        ValueError
            If a value is infinite or too large; no column is added then.
        """
        check_sizes(values, names)
        present = [name for name, value in zip(names, values[0].tolist(), strict=True) if value == value]
        return self._add_new([(name, 0.0) for name in sorted(present, key=_name_order)])

    def numbers(self, names: list[Any], values: Floats) -> Floats:
        """Return the rows of a table of numbers, (n_rows, n_columns); what is not known is left out.

        Parameters
        ----------
        names : list of n_features
        values : (n_rows, n_features)

        Raises
        ------
        ValueError
            If a value is infinite or too large.
        """
        check_sizes(values, names)
        rows = np.full((len(values), self.n_columns), np.nan)
        for feature, name in enumerate(names):
            if name in self._numbers:
                rows[:, self._numbers[name]] = values[:, feature]
        return rows

    def first_values(self, names: list[Any], values: Floats) -> list[int]:
        """Return, in order, the rows of a table of numbers in which features have their first value ever.

        Parameters
        ----------
        names : list of n_features
        values : (n_rows, n_features)
        """
        unknown = [feature for feature, name in enumerate(names) if name not in self._numbers]
        present = ~np.isnan(values[:, unknown])
        return sorted(set(present.argmax(axis=0)[present.any(axis=0)].tolist()))

    def _plain_row(self, x: Mapping[Hashable, Any]) -> Floats | None:
        """Return a row of known features that are all numbers, or None for any other."""
        if len(self._numbers) < self.n_columns:
            return None
        values: Any
        try:
            values = self._getter(x) if len(x) == self.n_columns > 1 else None
        except KeyError:
            return None
        if values is None:
            if not x.keys() <= self._numbers.keys():
                return None
            values = list(map(x.get, self._numbers))
        if not _PLAIN.issuperset(map(type, values)):
            return None
        try:
            row = np.array(values, np.float64)
        except OverflowError:
            return None
        # Scaled down, the squares do not overflow. A missing value fails, too.
        scaled = row * (1.0 / LARGEST_VALUE)
        if not scaled.dot(scaled) < 1.0:
            check_sizes(row[None], list(self._numbers))
        return row

    def _fill(self, values: Mapping[Hashable, float | str]) -> Floats:
        row = np.full(self.n_columns, np.nan)
        for feature, value in values.items():
            if not isinstance(value, str):
                if feature in self._numbers:
                    row[self._numbers[feature]] = value
            elif feature in self._categories:
                categories = self._categories[feature]
                row[list(categories.values())] = 0.0
                other = self._others.get(feature)
                if other is not None:
                    row[other] = 0.0
                column = categories.get(value, other)
                if column is not None:
                    row[column] = CATEGORY
        return row

    def _add_new(self, values: Iterable[tuple[Hashable, float | str]]) -> list[NewColumn]:
        """Add the columns of values that have none; return them.

        Attributes are replaced, not changed, so that they can be restored.
        """
        unknown = [(feature, value) for feature, value in values if not self._is_known(feature, value)]
        if not unknown:
            return []
        grown = copy(self)
        grown._numbers, grown._others = dict(self._numbers), dict(self._others)
        grown._categories = {feature: dict(found) for feature, found in self._categories.items()}
        new = [grown._add(feature, value) for feature, value in unknown]
        vars(self).update(vars(grown))
        return new

    def _is_known(self, feature: Hashable, value: float | str) -> bool:
        """Return whether a value has a column."""
        if not isinstance(value, str):
            return feature in self._numbers
        return feature in self._others or value in self._categories.get(feature, ())

    def _add(self, feature: Hashable, value: float | str) -> NewColumn:
        """Add the column of a value that has none."""
        column, like = self.n_columns, None
        if isinstance(value, str):
            categories = self._categories.setdefault(feature, {})
            like = next(iter(categories.values()), None)
            if len(categories) < self.max_categories:
                categories[value] = column
            else:
                self._others[feature] = column
        else:
            self._numbers[feature] = column
        self.n_columns += 1
        self._getter = itemgetter(*self._numbers) if self._numbers else None
        return NewColumn(like)


def _by_name(item: tuple[Hashable, Any]) -> tuple[str, str]:
    return _name_order(item[0])


def _name_order(feature: Hashable) -> tuple[str, str]:
    return type(feature).__name__, str(feature)


def _values(x: Mapping[Hashable, Any]) -> dict[Hashable, float | str]:
    """Return the values of a row that are not missing, as numbers and text."""
    found: dict[Hashable, float | str] = {}
    for feature, value in x.items():
        if value is None or type(value).__name__ in _MISSING:
            continue
        if isinstance(value, str):
            found[feature] = str(value)
            continue
        if type(value) is not float and not isinstance(value, Real | Decimal | np.bool_):
            raise ValueError(
                f"Feature {feature!r} has a value of type {type(value).__name__}; give numbers, text or None."
            )
        try:
            number = float(value)
        except OverflowError:
            number = math.inf
        if math.isnan(number):
            continue
        if abs(number) > LARGEST_VALUE:
            raise ValueError(_too_large(feature, value))
        found[feature] = number
    return found


def check_values(rows: Iterable[Mapping[Hashable, Any]]) -> None:
    """Raise ValueError if a value of a row is infinite, too large, or neither a number nor text."""
    for x in rows:
        _values(x)


def is_missing(value: Any) -> bool:
    """Return whether a value is None, NaN, or what pandas has in their place."""
    if value is None or type(value).__name__ in _MISSING:
        return True
    return isinstance(value, Real | Decimal) and math.isnan(value)


def check_sizes(values: Floats, names: list[Any]) -> None:
    """Raise ValueError if a value is too large to be squared; NaN is a missing value."""
    feature = find_too_large(values)
    if feature is not None:
        column = values[:, feature]
        raise ValueError(_too_large(names[feature], column[np.abs(column) > LARGEST_VALUE][0]))


def _too_large(feature: Hashable, value: Any) -> str:
    if isinstance(value, float) and math.isinf(value):
        return f"Feature {feature!r} is infinite; give None for a missing value."
    return too_large(feature)
