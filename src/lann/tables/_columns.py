"""The columns of a table: which are numeric, which are text, and which are not used."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._types import Floats, Indices
from lann.tables._names import check_columns_present, check_named_column
from lann.tables._numbers import find_notation

# A text column with more different values than this, and in most rows, identifies the rows.
MOST_IDENTIFIERS = 20


@dataclass(frozen=True)
class ColumnTypes:
    """How each column of a table is used.

    Attributes
    ----------
    numeric : list of str
        Columns of numbers.
    text : list of str
        Columns whose values are categories.
    ignored : dict of str to str
        Columns that are not used, with the reason.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import ColumnTypes
    >>> frame = pd.DataFrame({"age": ["51", "48", None], "city": ["Ulm", "Bonn", "Ulm"], "unit": ["cm"] * 3})
    >>> types = ColumnTypes.from_frame(frame)
    >>> types.numeric, types.text, types.ignored
    (['age'], ['city'], {'unit': 'it has the same value in every row'})
    """

    numeric: list[str] = field(default_factory=list)
    text: list[str] = field(default_factory=list)
    ignored: dict[str, str] = field(default_factory=dict)

    @property
    def used(self) -> list[str]:
        """The numeric columns and the text columns."""
        return [*self.numeric, *self.text]

    @classmethod
    def from_frame(cls, frame: pd.DataFrame) -> ColumnTypes:
        """Decide from the values of a table how each column is used.

        Parameters
        ----------
        frame : DataFrame

        Returns
        -------
        types : ColumnTypes
        """
        types = cls()
        for name in frame.columns:
            n_values = frame[name].nunique(dropna=True)
            if n_values == 0:
                types.ignored[name] = "it is empty"
            elif n_values == 1:
                types.ignored[name] = "it has the same value in every row"
            elif is_numeric(frame[name]):
                types.numeric.append(name)
            elif n_values > max(MOST_IDENTIFIERS, len(frame) / 2):
                types.ignored[name] = f"it is text with a different value in most rows ({n_values} values)"
            else:
                types.text.append(name)
        return types


def is_numeric(column: pd.Series) -> bool:
    """Return whether every cell that is not missing is a number; bools are not."""
    if pd.api.types.is_bool_dtype(column) or pd.api.types.is_datetime64_any_dtype(column):
        return False
    return bool((as_numbers(column).notna() | column.isna()).all())


def as_numbers(column: pd.Series) -> pd.Series:
    """Return the cells as floats, NaN where there is no number; those of a file may have decimal commas."""
    if isinstance(column.dtype, pd.CategoricalDtype):
        column = column.astype(object)
    if column.attrs.get("decimal") == "," and pd.api.types.is_string_dtype(column):  # of `read_table`
        present = column.dropna()
        texts = [text.strip() for text in present]
        found = find_notation(texts, ",").notation
        if found is not None and not (found.prefix or found.suffix):
            return pd.Series(found.parse(texts), index=present.index).reindex(column.index)
    return pd.to_numeric(column, errors="coerce").astype("float64")


def as_text(column: pd.Series) -> pd.Series:
    """Return the cells as text, NaN where missing; 1.0 is "1", as in a CSV file."""
    if pd.api.types.is_float_dtype(column):
        present = column.dropna()
        if ((present == present.round()) & (present.abs() < 2**53)).all():
            column = column.astype("Int64")
    missing = column.isna()
    return column.astype(object).map(str).where(~missing, np.nan).astype(object)


def convert_columns(frame: pd.DataFrame, numeric: list[str], text: list[str], table: str) -> pd.DataFrame:
    """Return some columns as floats and as text.

    Parameters
    ----------
    frame : DataFrame
    numeric, text : list of str
    table : str
        Name of the table in messages.

    Raises
    ------
    ValueError
        If a column is missing, or a numeric one has a cell that is not a finite number.
    """
    check_columns_present(frame, [*numeric, *text], table)
    converted: dict[str, Any] = {}
    for name in numeric:
        numbers = as_numbers(frame[name])
        invalid = np.flatnonzero((numbers.isna() & frame[name].notna()) | np.isinf(numbers))
        if len(invalid):
            value = frame[name].iloc[invalid[0]]
            raise ValueError(
                f"Column {name!r} of {table} must have finite numbers; row {invalid[0]} has {str(value)!r}."
            )
        converted[name] = numbers
    converted |= {name: as_text(frame[name]) for name in text}
    return pd.DataFrame(converted)


def id_column(frame: pd.DataFrame, name: str, table: str) -> NDArray[Any]:
    """Return the names of the rows as text, "" where missing."""
    check_named_column(frame, name, "id", table)
    return as_text(frame[name]).fillna("").to_numpy(dtype=str)


def weight_column(frame: pd.DataFrame, rows: Indices, name: str, table: str) -> Floats:
    """Return the weights of some rows; raise ValueError unless they are numbers, at least 0 and not all 0."""
    column = frame[name].iloc[rows]
    weights = as_numbers(column).to_numpy()
    invalid = np.flatnonzero(~((weights >= 0) & (weights < np.inf)))
    if len(invalid):
        value = column.iloc[invalid[0]]
        shown = "none" if pd.isna(value) else repr(str(value))
        raise ValueError(
            f"The weights in column {name!r} of {table} must be finite numbers of at least 0; "
            f"row {rows[invalid[0]]} has {shown}."
        )
    if not weights.any():
        raise ValueError(f"The weights in column {name!r} of {table} are zero in every row with a label.")
    return weights
