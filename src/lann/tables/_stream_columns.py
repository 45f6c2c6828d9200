"""What the columns of a stream have, as its first rows show it, and how its rows become numbers."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from lann._support.sizes import LARGEST_VALUE
from lann._support.types import Floats
from lann.columns.notation import MISSING, NumberNotation
from lann.columns.text import (
    Cells,
    Column,
    ColumnRequests,
    TableWarning,
    check_columns_present,
    check_named_column,
    read_columns,
)
from lann.tables._stream_source import Batch

# The most frequent categories of the first rows have an axis each; all others share one.
MOST_CATEGORIES = 50
# So that two different categories are as far apart as two numbers with a difference of 1.
ONE_HOT = float(np.sqrt(0.5))
SECONDS_PER_DAY = 86_400.0
_MISSING = frozenset(MISSING)


@dataclass(frozen=True)
class StreamColumns:
    """The columns of a stream, and how its rows become numbers.

    Numbers are as they are, bools are 0 and 1, dates are days. A category has an axis for each value of the
    first rows and one for all other values. Missing values are NaN.

    Attributes
    ----------
    target : str
        The column with the labels.
    columns : tuple of Column
        The columns that are used.
    categories : dict of str to tuple of str
        The values of each category that have an axis.

    Examples
    --------
    >>> from lann.tables import StreamColumns
    >>> rows = {"size": ["1.5", "2"], "city": ["Ulm", "Bonn"], "label": ["a", "b"]}
    >>> columns = StreamColumns.from_rows(rows, "label")
    >>> columns.feature_names
    ['size', 'city: Bonn', 'city: Ulm', 'city: other']
    >>> columns.rows({"size": ["?"], "city": ["Kiel"]}, 2).round(2)
    array([[ nan, 0.  , 0.  , 0.71]])
    """

    target: str
    columns: tuple[Column, ...]
    categories: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_rows(
        cls,
        batch: Batch,
        target: str,
        *,
        drop: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        decimal: str | None = None,
        table: str = "the stream",
    ) -> StreamColumns:
        """Decide what the columns have from the first rows; their labels are not used.

        Parameters
        ----------
        batch : mapping
            The first rows.
        target : str
            The column with the labels.
        drop : sequence of str, default=()
            Columns not to use.
        kinds : mapping of str to str or None, default=None
            What columns have, if it is not to be inferred: "category", "number", "date", or a format of
            dates.
        decimal : {".", ","} or None, default=None
            The decimal separator.
        table : str, default="the stream"
            Its name in messages.

        Returns
        -------
        columns : StreamColumns

        Raises
        ------
        ValueError
            If there is no such column, or none to learn from.

        Warns
        -----
        TableWarning
            If a column is ignored.
        """
        frame = as_frame(batch)
        if frame.empty:
            raise ValueError(f"{table} has no rows.")
        check_named_column(frame, target, "the target", table)
        features = frame.drop(columns=target)
        requests = ColumnRequests.from_kinds(kinds or {}, drop=drop, decimal=decimal, keeps_constant=True)
        found, _ = read_columns(features, requests, table)
        columns = tuple(column for column in found if column.is_used)
        if not columns:
            raise ValueError(f"{table} has no column to learn from beside the target {target!r}.")
        categories = {
            column.name: _frequent(column, features[column.name], table)
            for column in columns
            if column.kind == "category"
        }
        return cls(target, columns, categories)

    @property
    def feature_names(self) -> list[str]:
        """The names of the numbers of a row: those of columns, and "city: Ulm" for a category."""
        names: list[str] = []
        for column in self.columns:
            if column.kind == "category":
                names += [f"{column.name}: {value}" for value in self.categories[column.name]]
                names.append(f"{column.name}: other")
            else:
                names.append(column.name)
        return names

    def rows(self, batch: Batch, first_row: int, table: str = "the stream") -> Floats:
        """Return the rows of a batch as numbers.

        Parameters
        ----------
        batch : mapping
        first_row : int
            Number of its first row, for messages.
        table : str, default="the stream"

        Returns
        -------
        X : ndarray of shape (n_rows, n_numbers)

        Raises
        ------
        ValueError
            If a cell is not what its column must have.
        """
        check_columns_present(pd.DataFrame(columns=list(batch)), [c.name for c in self.columns], table)
        axes = [self._axes(column, batch[column.name], first_row, table) for column in self.columns]
        return np.ascontiguousarray(np.column_stack(axes), dtype=np.float64)

    def labels(self, batch: Batch, table: str = "the stream") -> np.ndarray[Any, Any]:
        """Return the labels of a batch.

        Parameters
        ----------
        batch : mapping
        table : str, default="the stream"

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Text, None where a label is missing.
        """
        check_columns_present(pd.DataFrame(columns=list(batch)), [self.target], table)
        texts = Cells.from_column(_series(batch[self.target])).as_texts()
        return np.array([*(text if isinstance(text, str) else None for text in texts), None], object)[:-1]

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as JSON has them.

        Returns
        -------
        state : dict
        """
        return {
            "target": self.target,
            "columns": [column.to_dict() for column in self.columns],
            "categories": {name: list(values) for name, values in self.categories.items()},
        }

    @classmethod
    def from_dict(cls, state: Any) -> StreamColumns:
        """Return the columns of which `to_dict` has made the state.

        Parameters
        ----------
        state : dict

        Returns
        -------
        columns : StreamColumns

        Raises
        ------
        ValueError
            If the dict is something else.
        """
        is_valid = (
            isinstance(state, dict)
            and set(state) == {"target", "columns", "categories"}
            and isinstance(state["target"], str)
            and isinstance(state["columns"], list)
            and isinstance(state["categories"], dict)
        )
        if not is_valid:
            raise ValueError("This does not describe the columns of a stream.")
        columns = tuple(Column.from_dict(column) for column in state["columns"])
        categories = state["categories"]
        named = {column.name for column in columns if column.kind == "category"}
        are_texts = all(
            isinstance(values, list) and all(isinstance(value, str) for value in values)
            for values in categories.values()
        )
        if set(categories) != named or not are_texts or not columns:
            raise ValueError("This does not describe the columns of a stream.")
        return cls(state["target"], columns, {name: tuple(values) for name, values in categories.items()})

    def _axes(self, column: Column, cells: Sequence[str] | pd.Series, first_row: int, table: str) -> Floats:
        numbers = _plain_numbers(column, cells)
        if numbers is not None:
            return numbers
        rows = np.arange(first_row, first_row + len(cells))
        values = column.convert(Cells.from_column(_series(cells), rows), table)
        if column.kind == "category":
            return _one_hot(values, self.categories[column.name])
        if column.kind == "date":
            moments = values.dt.tz_localize(None) if values.dt.tz is not None else values
            return ((moments - pd.Timestamp(0)).dt.total_seconds() / SECONDS_PER_DAY).to_numpy(np.float64)
        return values.astype("float64").to_numpy(dtype=np.float64, na_value=np.nan)


def as_frame(batch: Batch) -> pd.DataFrame:
    """Return a batch as a table."""
    return pd.DataFrame({name: _series(cells) for name, cells in batch.items()})


def _series(cells: Sequence[str] | pd.Series) -> pd.Series:
    if isinstance(cells, pd.Series):
        return cells.reset_index(drop=True)
    return pd.Series([None if cell.strip() in _MISSING else cell for cell in cells], dtype=object)


def _plain_numbers(column: Column, cells: Sequence[str] | pd.Series) -> Floats | None:
    """Return numbers as Python writes them, 50 times as fast; None if it is not sure what the cells are."""
    is_plain = isinstance(column.notation, NumberNotation) and column.notation.is_plain
    if column.kind != "number" or not is_plain or isinstance(cells, pd.Series):
        return None
    texts = ["nan" if cell in _MISSING else cell for cell in cells]
    try:
        numbers = np.array(texts, dtype=np.float64)
    except ValueError:
        return None
    is_certain = not np.any(np.abs(numbers) > LARGEST_VALUE) and "_" not in "".join(texts)
    return numbers if is_certain else None


def _frequent(column: Column, cells: pd.Series, table: str) -> tuple[str, ...]:
    counts = column.convert(cells, table).value_counts()
    if len(counts) > MOST_CATEGORIES:
        warnings.warn(
            f"Column {column.name!r} has {len(counts)} different values in the first rows; the "
            f"{MOST_CATEGORIES} most frequent are distinguished.",
            TableWarning,
            stacklevel=4,
        )
    # Of equally frequent ones, the first in the alphabet.
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    return tuple(sorted(order[:MOST_CATEGORIES]))


def _one_hot(values: pd.Series, categories: tuple[str, ...]) -> Floats:
    positions = {value: i for i, value in enumerate(categories)}
    found = np.zeros((len(values), len(categories) + 1))
    for row, value in enumerate(values.tolist()):
        if isinstance(value, str):
            found[row, positions.get(value, len(categories))] = ONE_HOT
        else:
            found[row] = np.nan
    return found
