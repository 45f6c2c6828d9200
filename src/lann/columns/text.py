"""Columns of tables: decide what each column has, convert its cells to values, and show values."""

from __future__ import annotations

import difflib
import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.format import ShownNumber, is_missing, value_text
from lann._support.types import Indices
from lann.columns.notation import (
    DATE_DTYPE,
    MISSING,
    N_FIRST,
    PLACEHOLDERS,
    DateNotation,
    NumberNotation,
    find_date_notation,
    find_number_notation,
    looks_like_number,
    table_decimal,
)
from lann.columns.schema import LARGEST_INTEGER, Feature, value_as_text

ColumnKind = Literal["number", "category", "bool", "date", "ignored"]
BOOLS = {"true": True, "false": False}
Notation = NumberNotation | DateNotation
# Text with more different values than this, and in most rows, identifies the rows.
MOST_IDENTIFIERS = 20
# In smaller tables, numbers may count up by chance.
LEAST_COUNTED = 10
# Text of which as many cells are numbers, and all others one of a few texts, is likely to have numbers.
SHARE_OF_NUMBERS, MOST_ODD_TEXTS = 0.8, 5
# A column whose name says that it identifies the rows does so if as many values are different.
SHARE_OF_DIFFERENT = 0.95
MOST_LISTED = 20
_MISSING = frozenset(MISSING)
_IDENTIFIER = re.compile(
    r"unnamed: \d+|(.*[_\s-])?(id|ids|index|idx|nr|no|number|key|uuid|guid|row|rownames)|.*[a-z](Id|ID)"
)


class TableWarning(UserWarning):
    """A warning about a table or a model; the work continues.

    Examples
    --------
    >>> import warnings
    >>> import pandas as pd
    >>> from lann.tables import TableModel, TableWarning
    >>> frame = pd.DataFrame({"a": [1, 2, 3, 4], "b": [1, 1, 1, 1], "y": ["u", "v", "u", "v"]})
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     model = TableModel.fit(frame, "y")
    >>> print(caught[0].message)
    Column 'b' is ignored: it has the same value in every row.
    """


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a column, whatever its type.

    Attributes
    ----------
    kind : {"number", "bool", "date", "text", "other"}
        "other" are lists and other objects that are not single values.
    values : Series
        Numbers are float64, bools are objects, dates are datetime64 in UTC. Of text, the distinct cells
        without spaces around them. Missing cells are NaN or None.
    index : Index
        The numbers of the rows.
    codes : ndarray of shape (n_rows,) or None
        Of text, the position of each cell in `values`, -1 where missing.
    has_zone : bool
        Whether dates have a time zone.
    """

    kind: str
    values: pd.Series
    index: pd.Index
    codes: Indices | None = None
    has_zone: bool = False

    @classmethod
    def from_column(cls, column: pd.Series, row_numbers: Indices | None = None) -> Cells:
        """Return the cells of a column; its index is replaced by row numbers, from 0 if none are given."""
        index = pd.RangeIndex(len(column)) if row_numbers is None else pd.Index(row_numbers)
        column = column.set_axis(index)
        is_arrow = isinstance(column.dtype, pd.ArrowDtype) and column.dtype.kind not in "iufb"
        if isinstance(column.dtype, pd.CategoricalDtype) or is_arrow:
            column = column.astype(object)
        content = pd.api.types.infer_dtype(column, skipna=True)
        if content in ("string", "empty"):
            return cls.from_texts(column, index)
        if content == "boolean":
            return cls("bool", column.astype(object).where(column.notna(), None), index)
        if content in ("integer", "floating", "mixed-integer-float", "decimal"):
            column = column.where(column.notna(), np.nan) if column.dtype == object else column
            numbers = column.to_numpy(dtype="float64", na_value=np.nan)
            return cls("number", pd.Series(numbers, index=index), index)
        if content in ("datetime64", "datetime", "date"):
            is_zoned = [getattr(date, "tzinfo", None) is not None for date in column.dropna().head(1)]
            has_zone = isinstance(column.dtype, pd.DatetimeTZDtype) or any(is_zoned)
            with suppress(ValueError, TypeError):  # some of the dates have a time zone
                dates = pd.to_datetime(column, utc=has_zone)
                dates = dates.dt.tz_localize(None) if has_zone else dates
                return cls("date", dates.astype(DATE_DTYPE), index, has_zone=has_zone)
        if (
            content in ("complex", "bytes")
            or not column.map(pd.api.types.is_scalar, na_action="ignore").all()
        ):
            return cls("other", column, index)
        return cls.from_texts(column.map(value_as_text, na_action="ignore"), index)

    @classmethod
    def from_texts(cls, column: pd.Series, index: pd.Index) -> Cells:
        codes, distinct = pd.factorize(column)
        stripped = [None if (text := str(cell).strip()) in _MISSING else text for cell in distinct]
        again, texts = pd.factorize(np.array([*stripped, None], dtype=object))  # "a" and " a" are the same
        return cls("text", pd.Series(texts, dtype=object), index, again[codes])

    def spread(self, values: Any) -> pd.Series:
        """Return a value for each row, given one for each distinct text."""
        return pd.Series(values).reindex(self.codes).set_axis(self.index)

    def as_texts(self) -> pd.Series:
        """Return the cells as text, None where missing, as a CSV file has them; 1.0 is "1"."""
        if self.kind == "text":
            texts = np.array([*self.values, None], dtype=object)[self.codes]
            return pd.Series(texts, index=self.index, dtype=object)
        show = value_as_text
        if self.kind == "date":
            show = DateNotation.from_dates(self.values, has_zone=self.has_zone).format_date
        texts = self.values.astype(object).map(show, na_action="ignore")
        return texts.where(self.values.notna(), None)


def column_texts(column: pd.Series) -> np.ndarray[Any, Any]:
    """Return the cells of a column as text, None where missing: (n_rows,)."""
    texts = Cells.from_column(column).as_texts().to_numpy(dtype=object, copy=True)
    texts[pd.isna(texts)] = None
    return texts


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
    >>> from lann.columns.text import infer_columns
    >>> (price,), values = infer_columns(pd.DataFrame({"price": ["$1,200.50", "$7.25", "$3.00"]}))
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

    def convert(self, column: pd.Series | Cells, table: str) -> pd.Series:
        """Return the values of a column: float64, str as objects, bool, or datetime64.

        Parameters
        ----------
        column : Series or Cells
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
        cells = column if isinstance(column, Cells) else Cells.from_column(column)
        if cells.kind == "other":
            raise ValueError(
                f"Column {self.name!r} of {table} must have single values, not lists or objects."
            )
        if self.kind == "category":
            return self._categories(cells).rename(self.name)
        if self.kind == "date" and cells.kind == "number":
            cells = Cells.from_texts(cells.as_texts(), cells.index)
        if cells.kind == self.kind and getattr(self.notation, "has_zone", cells.has_zone) == cells.has_zone:
            values = cells.values
        else:
            values, is_missing = pd.Series(None, index=cells.index, dtype=object), cells.values.isna()
            if cells.kind == "text":
                texts = cells.values if self.kind == "bool" else without_placeholders(cells.values)
                values, is_missing = cells.spread(self._parsed(texts.dropna())), cells.spread(texts).isna()
            self._check(values.notna() | is_missing, cells, f"must have {self._content()}", table)
        if self.kind == "bool":
            return values.astype("boolean" if values.isna().any() else "bool").rename(self.name)
        if self.kind == "date":
            return values.astype(DATE_DTYPE).rename(self.name)
        numbers = values.astype("float64")
        self._check(~np.isinf(numbers), cells, "must have finite numbers", table)
        return numbers.rename(self.name)

    def _parsed(self, texts: pd.Series) -> pd.Series:
        """Return the values of different texts, missing where a text does not fit."""
        if isinstance(self.notation, NumberNotation):
            return pd.Series(self.notation.parse(texts.to_list()), index=texts.index, dtype="float64")
        if isinstance(self.notation, DateNotation):
            return self.notation.parse(texts)
        return texts.map(lambda text: BOOLS.get(text.lower())).astype(object)

    def _content(self) -> str:
        """Return what the cells have, in words."""
        if isinstance(self.notation, NumberNotation):
            words = self.notation.describe()
            return f"numbers{f' with {words}' if words else ''}"
        if isinstance(self.notation, DateNotation):
            zone = " and a time zone" if self.notation.has_zone else ""
            return f"dates like {self.notation.format_date(pd.Timestamp(2024, 5, 31))}{zone}"
        return "true or false"

    def _categories(self, cells: Cells) -> pd.Series:
        if cells.kind == "text" and isinstance(self.notation, NumberNotation):
            numbers = self.notation.parse(cells.values.to_list())
            same = [
                value_as_text(number) if abs(number) < LARGEST_INTEGER else text
                for text, number in zip(cells.values, numbers, strict=True)
            ]
            return cells.spread(pd.Series(same, dtype=object)).astype(object)
        texts = cells.as_texts()
        return texts.where(texts.notna(), np.nan).astype(object)

    def _check(self, fits: Any, cells: Cells, must: str, table: str) -> None:
        """Raise ValueError that names the first row that does not fit."""
        invalid = np.flatnonzero(~np.asarray(fits, dtype=bool))
        if len(invalid):
            value, row = cells.as_texts().iloc[invalid[0]], cells.index[invalid[0]]
            raise ValueError(f"Column {self.name!r} of {table} {must}; row {row} has {value!r}.")

    @classmethod
    def from_feature(cls, feature: Feature) -> Column:
        """Return a column for a feature of a model, written in the plainest way.

        Parameters
        ----------
        feature : Feature

        Returns
        -------
        column : Column
        """
        kind: Any = "category" if feature.kind in ("ordered", "empty") else feature.kind
        notation: Notation | None = None
        if kind == "number":
            notation = NumberNotation()
        elif kind == "date":
            notation = DateNotation(shown="%Y-%m-%d" if feature.unit == "D" else "%Y-%m-%d %H:%M:%S")
        return cls(feature.name, kind, "it is a feature of the model", notation)

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
            and state.keys() == {"name", "kind", "reason", "notation", "words"}
            and all(type(state[field]) is str for field in ("name", "reason"))
            and state["kind"] in get_args(ColumnKind)
            and [str(word).lower() for word in state["words"]] == list(BOOLS)
        )
        if not is_valid:
            raise ValueError(f"{state!r} does not describe a column.")
        notation = state["notation"]
        if notation is not None or state["kind"] in ("number", "date"):
            notation = (DateNotation if state["kind"] == "date" else NumberNotation).from_dict(notation)
        return cls(**state | {"notation": notation, "words": tuple(state["words"])})


def infer_columns(
    frame: pd.DataFrame,
    kinds: Mapping[str, str] | None = None,
    *,
    drop: Sequence[str] = (),
    keeps_constant: bool = False,
    table: str = "the table",
    row_numbers: Indices | None = None,
) -> tuple[tuple[Column, ...], pd.DataFrame]:
    """Decide what each column of a table has, and return the values of those that are used.

    A text column has numbers if every cell is one, in the same notation: with a decimal point or comma,
    separators between thousands, a percent sign or a currency. It has bools if the cells are true and false,
    and dates if all have one format in which the order of day and month is known. Everything else is a
    category. Columns that are empty or constant, and text with a different value in most rows, are ignored.

    Parameters
    ----------
    frame : DataFrame
        Of text, as read from a CSV file, or with types. ``frame.attrs["decimal"]`` is the decimal separator,
        which decides what "1,234" is; by default, it is what the other columns have.
    kinds : mapping of str to str or None, default=None
        What columns have, if it is not to be inferred: "category", "number", "date", or the format of dates,
        such as "%d/%m/%Y".
    drop : sequence of str, default=()
        Columns to ignore.
    keeps_constant : bool, default=False
        Whether constant columns are used, too.
    table : str, default="the table"
        Name of the table in messages.
    row_numbers : ndarray of shape (n_rows,) or None, default=None
        Numbers of the rows in messages and in the result; None counts them from 0.

    Returns
    -------
    columns : tuple of Column
        One for each column, in order.
    values : DataFrame
        As `apply_columns` returns it.

    Raises
    ------
    ValueError
        If there is no such column, or a named column does not have what it must have.

    Warns
    -----
    TableWarning
        If a column is ignored, seems to identify the rows, or is ambiguous.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.columns.text import infer_columns
    >>> frame = pd.DataFrame({"age": ["51", "-", "48"], "share": ["35 %", "7,5 %", "12 %"],
    ...                       "member": ["true", "false", ""], "day": ["31.05.2024", "01.06.2024", "?"],
    ...                       "city": ["Ulm", "Bonn", "Ulm"]})
    >>> for column in infer_columns(frame)[0]:
    ...     print(column.name, column.kind, column.reason)
    age number it has numbers
    share number it has numbers with decimal commas and the unit %
    member bool it has true and false
    day date it has dates like 31.05.2024
    city category it has text
    """
    frame, kinds = with_text_names(frame, table), kinds or {}
    check_has_columns(frame, list(kinds), table, "kinds")
    check_has_columns(frame, drop, table, "drop")
    for name, kind in kinds.items():
        if kind not in ("category", "number", "date") and "%" not in kind:
            raise ValueError(
                f"The kind of column {name!r} must be 'category', 'number', 'date' or a format of dates; got "
                f"{kind!r}."
            )
    decimal = frame.attrs.get("decimal") or table_decimal(frame)
    # Number of decimals of the columns that were read as numbers from text.
    decimals = frame.attrs.get("decimals", {})
    columns, used = [], {}
    for name in frame.columns:
        if name in drop:
            columns.append(Column(name, "ignored", "it is dropped"))
            continue
        cells = Cells.from_column(frame[name], row_numbers)
        kind = "category" if isinstance(frame[name].dtype, pd.CategoricalDtype) else kinds.get(name, "")
        column, ambiguous = _infer(name, cells, kind, decimals, decimal, table)
        hint = ""
        if column.is_used:
            values = column.convert(cells, table)
            is_named = kind == "category"
            column = if_useful(column, values, is_named=is_named, keeps_constant=keeps_constant)
            if values.nunique() > max(1, SHARE_OF_DIFFERENT * len(values)):
                hint = " If it names the rows, give it as id (--id)."
        if not column.is_used:
            _warn(f"Column {name!r} is ignored: {column.reason}.{hint}")
        else:
            used[name] = values
            if why := _identifies_rows(column, values):
                _warn(
                    f"Column {name!r} seems to identify the rows, as {why}; leave it out with drop (--drop), "
                    "or let it name the rows with id (--id)."
                )
        if ambiguous:
            _warn(f"Column {name!r} is read as text, because {ambiguous}.")
        columns.append(column)
    index = pd.RangeIndex(len(frame)) if row_numbers is None else pd.Index(row_numbers)
    return tuple(columns), pd.DataFrame(used, index=index)


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
    >>> from lann.columns.text import apply_columns, infer_columns
    >>> columns, _ = infer_columns(pd.DataFrame({"age": ["51", "48"], "size": ["1,5", "1,25"]}))
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
    check_has_columns(frame, [column.name for column in used], table)
    values = {
        column.name: column.convert(Cells.from_column(frame[column.name], row_numbers), table)
        for column in used
    }
    return pd.DataFrame(values, index=pd.RangeIndex(len(frame)) if row_numbers is None else row_numbers)


def without_placeholders(texts: pd.Series) -> pd.Series:
    """Return texts of a column of numbers or dates, None for "-" and other signs of a missing value."""
    return texts.where(~texts.isin(PLACEHOLDERS), None)


def if_useful(
    column: Column, values: pd.Series, *, is_named: bool = True, keeps_constant: bool = False
) -> Column:
    """Return the column, or an ignored one if there is nothing to learn from its values.

    Text that identifies the rows is ignored unless the user has named the column.
    """
    if column.kind == "category":
        n_values = values.nunique()
    else:
        present = values.dropna().to_numpy()
        n_values = min(len(present), 1) + bool(len(present) and (present != present[0]).any())
    reason = ""
    if n_values == 0:
        reason = "it is empty"
    elif n_values == 1 and not keeps_constant:
        reason = "it has the same value in every row"
    elif column.kind == "category" and not is_named and n_values > max(MOST_IDENTIFIERS, len(values) / 2):
        reason = f"it is text with a different value in most rows ({n_values} values)"
    return Column(column.name, "ignored", reason) if reason else column


def _infer(
    name: str, cells: Cells, kind: str, decimals: dict[str, int | None], decimal: str | None, table: str
) -> tuple[Column, str]:
    """Return the description of a column, and what is ambiguous in it; `kind` is what the user says."""
    if cells.kind == "other":
        return Column(name, "ignored", "its cells are lists or other objects"), ""
    if cells.values.isna().all():
        return Column(name, "ignored", "it is empty"), ""
    if kind == "category":
        return Column(name, "category", "it is categorical", _category_notation(cells, decimal)), ""
    if cells.kind == "date":
        return _dates(name, DateNotation.from_dates(cells.values, has_zone=cells.has_zone)), ""
    if kind == "date" or "%" in kind:
        texts = without_placeholders(cells.as_texts()).dropna()
        if "%" in kind:
            return _dates(name, DateNotation.from_format(kind, texts)), ""
        dates, reason = find_date_notation(texts, named=True)
        if reason:
            raise ValueError(f"Column {name!r} of {table} is ambiguous: {reason}; give its format.")
        return _dates(name, dates or DateNotation()), ""
    if cells.kind == "text":
        return _from_texts(name, cells, kind, decimal, table)
    if cells.kind == "bool" and kind != "number":
        return Column(name, "bool", "it has true and false"), ""
    if name in decimals:  # numbers that were read from text
        return _numbers(name, NumberNotation(decimal or ".", decimals=decimals[name])), ""
    return _numbers(name, NumberNotation(decimals=0 if (cells.values.dropna() % 1 == 0).all() else None)), ""


def _from_texts(name: str, cells: Cells, kind: str, decimal: str | None, table: str) -> tuple[Column, str]:
    distinct = cells.values
    texts = without_placeholders(distinct).dropna()
    if kind != "number" and {word.lower() for word in distinct[:7]} <= set(BOOLS):
        # How true and false are written, also if one of them does not occur.
        pairs = [("TRUE", "FALSE"), ("True", "False"), ("true", "false")]
        shown = next((pair for pair in pairs if set(distinct) & set(pair)), pairs[1])
        return Column(name, "bool", "it has true and false", words=shown), ""
    numbers, why_not = find_number_notation(texts.to_list(), decimal)
    if kind == "number" and "may be" in why_not:
        raise ValueError(f"Column {name!r} of {table} is ambiguous: {why_not}; give the decimal separator.")
    if numbers is not None or kind == "number":
        return _numbers(name, numbers or NumberNotation(decimal=decimal or ".")), ""
    dates, no_date = find_date_notation(texts)
    if dates is not None:
        return _dates(name, dates), ""
    if "codes" in why_not:
        return Column(name, "category", why_not), ""
    return Column(name, "category", "it has text"), why_not or no_date or _odd_texts(cells, texts, decimal)


def _odd_texts(cells: Cells, texts: pd.Series, decimal: str | None) -> str:
    """Return why a column does not have numbers although nearly all of its cells are some."""
    is_number = np.array([looks_like_number(text) for text in texts[:N_FIRST]])
    if 2 * is_number.sum() <= len(is_number):  # a quick look, as columns of text can be long
        return ""
    is_number = np.array([looks_like_number(text) for text in texts])
    odd, counts = texts[~is_number].to_list(), pd.Series(cells.codes).value_counts()[texts.index]
    is_likely = counts[is_number].sum() >= SHARE_OF_NUMBERS * counts.sum() and len(odd) <= MOST_ODD_TEXTS
    if not is_likely or find_number_notation(texts[is_number].to_list(), decimal)[0] is None:
        return ""
    are = "is no number" if len(odd) == 1 else "are no numbers"
    return (
        f"{_listed(odd)} {are}, but nearly all other cells are; give what means a missing value as na_values "
        "(--na-values)"
    )


def _numbers(name: str, notation: NumberNotation) -> Column:
    column = Column(name, "number", "", notation)
    return replace(column, reason=f"it has {column._content()}")


def _dates(name: str, notation: DateNotation) -> Column:
    example = notation.format_date(pd.Timestamp(2024, 5, 31))
    return Column(name, "date", f"it has dates like {example}", notation)


def _category_notation(cells: Cells, decimal: str | None) -> NumberNotation | None:
    """Return the notation of categories: 1 and 1.0 are the same one if all are numbers, but not codes."""
    if cells.kind == "text":
        found, _ = find_number_notation(cells.values.to_list(), decimal)
        if found is not None and not (found.prefix or found.suffix):
            return NumberNotation(found.decimal, found.thousands)
    return NumberNotation() if cells.kind == "number" else None


def _warn(message: str) -> None:
    warnings.warn(message, TableWarning, stacklevel=4)


def _identifies_rows(column: Column, values: pd.Series) -> str:
    """Return why a column seems to identify the rows, "" if it does not."""
    if column.kind not in ("number", "category") or len(values) < LEAST_COUNTED:
        return ""
    if column.kind == "number":
        numbers = values.to_numpy()
        if np.isnan(numbers).any() or (numbers != np.round(numbers)).any():
            return ""
        if (np.diff(numbers) == 1).all():
            return "its numbers count up"
    plain_name = column.name.strip()
    is_named = _IDENTIFIER.fullmatch(plain_name) or _IDENTIFIER.fullmatch(plain_name.lower())
    if is_named and values.nunique() >= SHARE_OF_DIFFERENT * len(values):
        return "its values are different in nearly every row"
    return ""


def nearest_name(name: str, names: Iterable[str]) -> str | None:
    """Return the most similar of some names; None if none is similar.

    Upper and lower case, and spaces around the name, do not count.

    >>> nearest_name("Agee", ["Height", "Age"]), nearest_name("AGE", ["age"]), nearest_name("x", ["age"])
    ('Age', 'age', None)
    """
    by_plain_name: dict[str, str] = {}
    for other in names:
        by_plain_name.setdefault(str(other).strip().casefold(), other)
    plain = str(name).strip().casefold()
    close = difflib.get_close_matches(plain, list(by_plain_name), n=1, cutoff=0.7)
    return by_plain_name.get(plain) or (by_plain_name[close[0]] if close else None)


def with_text_names(frame: pd.DataFrame, table: str) -> pd.DataFrame:
    """Return a table whose columns have texts as names; raise ValueError if two have the same."""
    frame = frame.set_axis([str(name) for name in frame.columns], axis=1)
    if frame.columns.has_duplicates:
        name = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"There is more than one column {name!r} in {table}.")
    return frame


def check_has_columns(frame: pd.DataFrame, names: Sequence[str], table: str, parameter: str = "") -> None:
    """Raise ValueError if a table does not have some columns, which a parameter names."""
    missing = [name for name in names if name not in frame]
    if not missing:
        return
    others = [str(name) for name in frame.columns if name not in names]
    similar = [found for name in missing if (found := nearest_name(name, others)) is not None]
    hint = f"did you mean {_listed(similar)}?"
    if len(similar) < len(missing):
        more = f" and {len(others) - MOST_LISTED} more" if len(others) > MOST_LISTED else ""
        hint = f"its other columns are {_listed(others[:MOST_LISTED])}{more}."
    where = f"{table} for {parameter}" if parameter else table
    raise ValueError(f"There is no column {_listed(missing)} in {where}; {hint}")


def _listed(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names))


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
        texts: list[Any] = [column.format(value) for value in distinct]
        if column.kind == "number":
            texts = [ShownNumber(value, text) for value, text in zip(distinct, texts, strict=True)]
        known = np.array([*texts, None], dtype=object)  # the last one is that of missing values
        shown[:, j] = known[codes]
    return shown
