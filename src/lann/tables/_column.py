"""The description of a column: what its values are, and how text becomes a value."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd

from lann._format import is_missing, value_text
from lann._sizes import LARGEST_VALUE
from lann._types import Indices
from lann.tables._cells import LARGEST_INTEGER, Cells, value_as_text
from lann.tables._dates import DTYPE, DateNotation, date_notation_from_dict
from lann.tables._missing import PLACEHOLDERS
from lann.tables._names import check_columns_present, with_text_names
from lann.tables._numbers import NumberNotation, number_notation_from_dict

ColumnKind = Literal["number", "category", "bool", "date", "ignored"]
KINDS: tuple[str, ...] = get_args(ColumnKind)
BOOLS = {"true": True, "false": False}
Notation = NumberNotation | DateNotation


@dataclass(frozen=True)
class Column:
    """What a column of a table has, and how its text becomes values.

    `infer_columns` decides it from a table, `apply_columns` uses it on later ones.

    Attributes
    ----------
    name : str
    kind : {"number", "category", "bool", "date", "ignored"}
    reason : str
        Why it is this kind.
    notation : NumberNotation, DateNotation or None
        How numbers or dates are written. That of a category is a number notation if all its values are
        numbers, so that 1 and 1.0 are the same category.
    words : tuple of str
        How a bool column writes true and false.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import infer_columns
    >>> price, = infer_columns(pd.DataFrame({"price": ["$1,200.50", "$7.25", "$3.00"]}))
    >>> price.kind, price.reason, price.format(1500.5)
    ('number', 'it has numbers with commas between thousands and the unit $', '$1,500.50')
    """

    name: str
    kind: ColumnKind
    reason: str
    notation: Notation | None = None
    words: tuple[str, str] = ("True", "False")

    @property
    def is_used(self) -> bool:
        """Whether the column is not ignored."""
        return self.kind != "ignored"

    def format(self, value: Any) -> str:
        """Return a value as text, as the column writes it.

        Parameters
        ----------
        value : object
            A number, text, bool or date; None, NaN and NaT are "missing".

        Returns
        -------
        text : str
        """
        if value is pd.NA or is_missing(value):
            return value_text(None)
        if self.kind == "number" and isinstance(self.notation, NumberNotation):
            return self.notation.format(value)
        if self.kind == "date" and isinstance(self.notation, DateNotation):
            return self.notation.format_date(value)
        if self.kind == "bool":
            return self.words[0] if value else self.words[1]
        return value_as_text(value)

    def convert(self, column: pd.Series, table: str) -> pd.Series:
        """Return the values of a column: float64, str as objects, bool, or datetime64.

        Parameters
        ----------
        column : Series
            Of any type; text is read as the description says.
        table : str
            Name of the table in messages.

        Returns
        -------
        values : Series
            A bool column with missing cells has the type "boolean".

        Raises
        ------
        ValueError
            If a cell is not what the column must have.
        """
        return self._convert(Cells.from_column(column), table)

    def _convert(self, cells: Cells, table: str) -> pd.Series:
        if cells.kind == "other":
            raise ValueError(
                f"Column {self.name!r} of {table} must have single values, not lists or objects."
            )
        convert = {
            "number": self._numbers, "date": self._dates, "bool": self._bools, "category": self._categories,
        }  # fmt: skip
        return convert[self.kind](cells, table).rename(self.name)

    def to_dict(self) -> dict[str, Any]:
        """Return the description as a dict of JSON values.

        Returns
        -------
        state : dict
        """
        return asdict(self) | {"words": list(self.words)}

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> Column:
        """Return the description that `to_dict` has made.

        Parameters
        ----------
        state : dict

        Returns
        -------
        column : Column

        Raises
        ------
        ValueError
            If the dict does not describe a column.
        """
        is_valid = (
            isinstance(state, dict)
            and set(state) == {"name", "kind", "reason", "notation", "words"}
            and isinstance(state["name"], str)
            and isinstance(state["reason"], str)
            and state["kind"] in KINDS
            and isinstance(state["words"], list | tuple)
            and [type(word) for word in state["words"]] == [str, str]
            and [word.lower() for word in state["words"]] == list(BOOLS)
        )
        if not is_valid:
            raise ValueError(f"{state!r} does not describe a column.")
        notation: Notation | None = None
        if state["kind"] == "date":
            notation = date_notation_from_dict(_as_dict(state["notation"]))
        elif state["kind"] == "number" or (state["kind"] == "category" and state["notation"] is not None):
            notation = number_notation_from_dict(_as_dict(state["notation"]))
        elif state["notation"] is not None:
            raise ValueError(f"Column {state['name']!r} is {state['kind']}; it cannot have a notation.")
        return cls(state["name"], state["kind"], state["reason"], notation, tuple(state["words"]))

    def _numbers(self, cells: Cells, table: str) -> pd.Series:
        assert isinstance(self.notation, NumberNotation)
        words = self.notation.describe()
        must = f"must have numbers{f' with {words}' if words else ''}"
        if cells.kind == "number":
            numbers = cells.values
        elif cells.kind == "text":
            texts = without_placeholders(cells.values)
            is_present = texts.notna()
            numbers = pd.Series(np.nan, index=texts.index)
            numbers[is_present] = self.notation.parse(texts[is_present].to_list())
            self._check(numbers.notna() | ~is_present, cells, must, table)
        else:
            self._check(cells.values.isna(), cells, must, table)
            numbers = pd.Series(np.nan, index=cells.values.index)
        self._check(~np.isinf(numbers), cells, "must have finite numbers", table)
        largest = f"must have numbers of at most {LARGEST_VALUE:g}, whose squares are finite"
        self._check(~(numbers.abs() > LARGEST_VALUE), cells, largest, table)
        return numbers.astype("float64")

    def _dates(self, cells: Cells, table: str) -> pd.Series:
        notation = self.notation
        assert isinstance(notation, DateNotation)
        example = notation.format_date(pd.Timestamp(2024, 5, 31))
        must = f"must have dates like {example}"
        if cells.kind == "date":
            zone = "with" if notation.has_zone else "without"
            fits = pd.Series(cells.has_zone == notation.has_zone, index=cells.values.index)
            self._check(fits | cells.values.isna(), cells, f"must have dates {zone} a time zone", table)
            return cells.values
        texts = cells.as_texts() if cells.kind == "number" else cells.values
        if cells.kind != "bool":
            texts = without_placeholders(texts)
            dates = notation.parse(texts.dropna()).reindex(texts.index)
        else:
            dates = pd.Series(pd.NaT, index=texts.index)
        self._check(dates.notna() | texts.isna(), cells, must, table)
        return dates.astype(DTYPE)

    def _bools(self, cells: Cells, table: str) -> pd.Series:
        values = cells.values
        if cells.kind == "text":
            values = values.map(str.lower, na_action="ignore").map(BOOLS).where(values.notna(), None)
        elif cells.kind != "bool":
            values = pd.Series(None, index=values.index, dtype=object)
        self._check(values.notna() | cells.values.isna(), cells, "must have true or false", table)
        return values.astype("boolean" if values.isna().any() else "bool")

    def _categories(self, cells: Cells, table: str) -> pd.Series:
        texts = cells.as_texts()
        if cells.kind == "text" and isinstance(self.notation, NumberNotation):
            texts = same_text_for_equal_numbers(texts, self.notation)
        return texts.where(texts.notna(), np.nan).astype(object)

    def _check(self, fits: pd.Series, cells: Cells, must: str, table: str) -> None:
        """Raise ValueError that names the first row that does not fit."""
        invalid = np.flatnonzero(~fits.to_numpy(dtype=bool))
        if len(invalid):
            value = cells.as_texts().iloc[invalid[0]]
            row = cells.values.index[invalid[0]]
            raise ValueError(f"Column {self.name!r} of {table} {must}; row {row} has {value!r}.")


def apply_columns(
    frame: pd.DataFrame,
    columns: Sequence[Column],
    table: str = "the table",
    *,
    row_numbers: Indices | None = None,
) -> pd.DataFrame:
    """Return the columns of a table that are used, with the values that the descriptions say.

    The same rules as in the table from which they were inferred are used, so that text that was a number
    there is a number here.

    Parameters
    ----------
    frame : DataFrame
        Other columns are left out.
    columns : sequence of Column
        Of `infer_columns`.
    table : str, default="the table"
        Name of the table in messages.
    row_numbers : ndarray of shape (n_rows,) or None, default=None
        Numbers of the rows in messages and in the result; None counts them from 0.

    Returns
    -------
    values : DataFrame
        Numbers are float64, categories are str as objects, bools are bool or, if cells are missing, boolean,
        and dates are datetime64, in UTC if they have a time zone. The index has the numbers of the rows.

    Raises
    ------
    ValueError
        If a column is missing or a cell does not fit; the sentence names the column, the row and the value.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import apply_columns, infer_columns
    >>> columns = infer_columns(pd.DataFrame({"age": ["51", "48"], "size": ["1,5", "1,25"]}))
    >>> apply_columns(pd.DataFrame({"size": ["1,75", None], "age": ["18", "?"]}), columns)
        age  size
    0  18.0  1.75
    1   NaN   NaN
    >>> apply_columns(pd.DataFrame({"age": ["young"], "size": ["1,5"]}), columns, "new.csv")
    Traceback (most recent call last):
    ValueError: Column 'age' of new.csv must have numbers; row 0 has 'young'.
    """
    frame = with_text_names(frame, table)
    used = [column for column in columns if column.is_used]
    check_columns_present(frame, [column.name for column in used], table)
    cells = {column.name: Cells.from_column(frame[column.name], row_numbers) for column in used}
    values = {column.name: column._convert(cells[column.name], table) for column in used}
    return pd.DataFrame(values, index=pd.RangeIndex(len(frame)) if row_numbers is None else row_numbers)


def without_placeholders(texts: pd.Series) -> pd.Series:
    """Return texts of a column of numbers or dates, None for "-" and other signs of a missing value."""
    return texts.where(~texts.isin(PLACEHOLDERS), None)


def same_text_for_equal_numbers(texts: pd.Series, notation: NumberNotation) -> pd.Series:
    """Return the same text for equal numbers: "1" for "1.0"; other texts as they are."""
    present = texts.dropna()
    numbers = notation.parse(present.to_list())
    same = [
        value_as_text(number) if abs(number) < LARGEST_INTEGER else text
        for text, number in zip(present, numbers, strict=True)
    ]
    return pd.Series(same, index=present.index, dtype=object).reindex(texts.index)


def _as_dict(state: Any) -> dict[str, Any]:
    if not isinstance(state, dict):
        raise ValueError(f"{state!r} does not describe how values are written.")
    return state
