"""What the columns of a table have: numbers, categories, bools or dates."""

from __future__ import annotations

import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from lann._types import Indices
from lann.tables._cells import Cells
from lann.tables._column import BOOLS, Column, without_placeholders
from lann.tables._dates import (
    DateNotation,
    FoundDates,
    find_date_notation,
    notation_of_format,
    typed_notation,
)
from lann.tables._names import check_named_column, with_text_names
from lann.tables._numbers import NumberNotation, find_notation, table_decimal
from lann.tables._warnings import TableWarning

# Text with more different values than this, and in most rows, identifies the rows.
MOST_IDENTIFIERS = 20
# In smaller tables, numbers may count up by chance.
LEAST_COUNTED = 10
# A column whose name says that it identifies the rows does so if as many values are different.
SHARE_OF_DIFFERENT = 0.95
_IDENTIFIER = re.compile(
    r"unnamed: \d+|(.*[_\s-])?(id|ids|index|idx|nr|no|number|key|uuid|guid|row|rownames)|.*[a-z](Id|ID)"
)


@dataclass(frozen=True)
class _Requests:
    """What the user says about columns."""

    categorical: frozenset[str]
    numeric: frozenset[str]
    dates: Mapping[str, str | None]
    drop: frozenset[str]
    decimal: str | None
    keeps_constant: bool = False


def infer_columns(
    frame: pd.DataFrame,
    *,
    categorical: Sequence[str] = (),
    numeric: Sequence[str] = (),
    dates: Sequence[str] | Mapping[str, str] = (),
    drop: Sequence[str] = (),
    decimal: str | None = None,
    table: str = "the table",
    row_numbers: Indices | None = None,
) -> tuple[Column, ...]:
    """Decide what each column of a table has, and how its text becomes values.

    A text column has numbers if every cell is one, in the same notation: with a decimal point or comma,
    separators between thousands, a percent sign or a currency. It has bools if the cells are true and false,
    and dates if all have one format in which the order of day and month is known. Everything else is a
    category. Columns that are empty or constant, and text with a different value in most rows, are ignored.

    Parameters
    ----------
    frame : DataFrame
        Of text, as read from a CSV file, or with types.
    categorical : sequence of str, default=()
        Columns whose values are categories, whatever they look like.
    numeric : sequence of str, default=()
        Columns that must have numbers.
    dates : sequence of str or dict of str to str, default=()
        Columns that must have dates; a dict has their formats, such as ``{"day": "%d/%m/%Y"}``.
    drop : sequence of str, default=()
        Columns to ignore.
    decimal : {".", ","} or None, default=None
        The decimal separator, which decides what "1,234" is. By default, it is that of the file if the frame
        comes from `read_table`, else what the other columns of the frame have.
    table : str, default="the table"
        Name of the table in messages.
    row_numbers : ndarray of shape (n_rows,) or None, default=None
        Numbers of the rows in messages; None counts them from 0.

    Returns
    -------
    columns : tuple of Column
        One for each column, in order.

    Raises
    ------
    ValueError
        If there is no such column, or a named column does not have what it must have.

    Warns
    -----
    TableWarning
        If a column is ignored, seems to identify the rows, or is ambiguous.

    See Also
    --------
    apply_columns : Convert the columns of a table.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import infer_columns
    >>> frame = pd.DataFrame({"age": ["51", "-", "48"], "share": ["35 %", "7,5 %", "12 %"],
    ...                       "member": ["true", "false", ""], "day": ["31.05.2024", "01.06.2024", "?"],
    ...                       "city": ["Ulm", "Bonn", "Ulm"]})
    >>> for column in infer_columns(frame):
    ...     print(column.name, column.kind, column.reason)
    age number it has numbers
    share number it has numbers with decimal commas and the unit %
    member bool it has true and false
    day date it has dates like 31.05.2024
    city category it has text
    """
    formats: dict[str, str | None] = dict(dates) if isinstance(dates, Mapping) else dict.fromkeys(dates)
    requests = _Requests(frozenset(categorical), frozenset(numeric), formats, frozenset(drop), decimal)
    return _infer_all(frame, requests, table, row_numbers)


def infer_first_rows(
    frame: pd.DataFrame,
    kinds: Mapping[str, str],
    *,
    drop: Sequence[str] = (),
    decimal: str | None = None,
    table: str = "the table",
) -> tuple[Column, ...]:
    """Decide what each column has from the first rows of a table; constant columns are used, too.

    Parameters
    ----------
    frame : DataFrame
    kinds : mapping of str to str
        What columns have, if it is not to be inferred: "category", "number", "date", or a format of dates.
    drop, decimal, table
        As in `infer_columns`.
    """
    dates = {name: kind for name, kind in kinds.items() if kind not in ("category", "number")}
    requests = _Requests(
        frozenset(name for name, kind in kinds.items() if kind == "category"),
        frozenset(name for name, kind in kinds.items() if kind == "number"),
        {name: None if kind == "date" else kind for name, kind in dates.items()},
        frozenset(drop),
        decimal,
        keeps_constant=True,
    )
    return _infer_all(frame, requests, table)


def _infer_all(
    frame: pd.DataFrame, requests: _Requests, table: str, row_numbers: Indices | None = None
) -> tuple[Column, ...]:
    frame = with_text_names(frame, table)
    _check_requests(frame, requests, table)
    decimal = requests.decimal
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ','; got {decimal!r}.")
    decimal = decimal or frame.attrs.get("decimal") or table_decimal(frame)
    columns = []
    for name in frame.columns:
        if name in requests.drop:
            columns.append(Column(name, "ignored", "it is dropped"))
            continue
        cells = Cells.from_column(frame[name], row_numbers)
        is_categorical = isinstance(frame[name].dtype, pd.CategoricalDtype)
        column, ambiguous = _infer(name, cells, requests, decimal, is_categorical, table)
        values = column._convert(cells, table) if column.is_used else None
        if values is not None:
            is_named = is_categorical or name in requests.categorical
            column = if_useful(column, values, is_named=is_named, keeps_constant=requests.keeps_constant)
        columns.append(column)
        _warn(column, ambiguous, values)
    return tuple(columns)


def _infer(
    name: str, cells: Cells, requests: _Requests, decimal: str | None, is_categorical: bool, table: str
) -> tuple[Column, str]:
    """Return the description of a column, and what is ambiguous in it."""
    if cells.kind == "other":
        return Column(name, "ignored", "its cells are lists or other objects"), ""
    if cells.values.isna().all():
        return Column(name, "ignored", "it is empty"), ""
    ambiguous = ""
    if name in requests.categorical:
        column = _category(name, cells, decimal, "it is named as categorical")
    elif name in requests.numeric:
        column = _named_numbers(name, cells, decimal, table)
    elif name in requests.dates:
        column = _named_dates(name, cells, requests.dates[name], table)
    elif is_categorical:
        column = _category(name, cells, decimal, "its type is category")
    elif cells.kind == "text":
        column, ambiguous = _from_texts(name, cells, decimal)
    else:
        column = _from_typed(name, cells)
    return column, ambiguous


def if_useful(
    column: Column, values: pd.Series, *, is_named: bool = True, keeps_constant: bool = False
) -> Column:
    """Return the column, or an ignored one if there is nothing to learn from its values.

    Text that identifies the rows is ignored unless the user has named the column.
    """
    n_values = values.nunique()
    if n_values == 0:
        return Column(column.name, "ignored", "it is empty")
    if n_values == 1 and not keeps_constant:
        return Column(column.name, "ignored", "it has the same value in every row")
    if column.kind == "category" and not is_named and n_values > max(MOST_IDENTIFIERS, len(values) / 2):
        reason = f"it is text with a different value in most rows ({n_values} values)"
        return Column(column.name, "ignored", reason)
    return column


def _from_typed(name: str, cells: Cells) -> Column:
    if cells.kind == "number":
        return _numbers(name, typed_numbers(cells.values))
    if cells.kind == "date":
        return _dates(name, typed_notation(cells.values, has_zone=cells.has_zone))
    return Column(name, "bool", "it has true and false")


def _from_texts(name: str, cells: Cells, decimal: str | None) -> tuple[Column, str]:
    present = cells.values.dropna()
    words = set(present)
    if len(words) <= 6 and {word.lower() for word in words} <= set(BOOLS):
        return Column(name, "bool", "it has true and false", words=_bool_words(sorted(words))), ""
    texts = without_placeholders(present).dropna()
    numbers = find_notation(texts.to_list(), decimal)
    if numbers.notation is not None:
        return _numbers(name, numbers.notation), ""
    found = find_date_notation(texts)
    if found.notation is not None:
        return _dates(name, found.notation), ""
    is_code = "codes" in numbers.reason
    reason = numbers.reason if is_code else "it has text"
    return Column(name, "category", reason), "" if is_code else numbers.reason or found.reason


def _bool_words(words: list[str]) -> tuple[str, str]:
    """Return how true and false are written, also if one of them does not occur."""
    first = next((word for word in words if word.lower() == "true"), None)
    if first is not None:
        return first, {"true": "false", "TRUE": "FALSE"}.get(first, "False")
    return {"false": "true", "FALSE": "TRUE"}.get(words[0], "True"), words[0]


def _numbers(name: str, notation: NumberNotation) -> Column:
    words = notation.describe()
    return Column(name, "number", f"it has numbers{f' with {words}' if words else ''}", notation)


def typed_numbers(numbers: pd.Series) -> NumberNotation:
    """Return the notation of a column of numbers: integers have no decimals."""
    present = numbers.dropna()
    return NumberNotation(decimals=0 if (present == present.round()).all() else None)


def _dates(name: str, notation: DateNotation) -> Column:
    example = notation.format_date(pd.Timestamp(2024, 5, 31))
    return Column(name, "date", f"it has dates like {example}", notation)


def _category(name: str, cells: Cells, decimal: str | None, reason: str) -> Column:
    """Return the description of categories; 1 and 1.0 are the same one if all are numbers, but not codes."""
    notation = NumberNotation() if cells.kind == "number" else None
    if cells.kind == "text":
        found = find_notation(cells.values.dropna().to_list(), decimal).notation
        if found is not None and not (found.prefix or found.suffix):
            notation = NumberNotation(found.decimal, found.thousands)
    return Column(name, "category", reason, notation)


def _named_numbers(name: str, cells: Cells, decimal: str | None, table: str) -> Column:
    if cells.kind != "text":
        column = _numbers(name, typed_numbers(cells.values) if cells.kind == "number" else NumberNotation())
        column._convert(cells, table)  # raises if these are not numbers
        return column
    found = find_notation(without_placeholders(cells.values).dropna().to_list(), decimal)
    if found.notation is not None:
        return _numbers(name, found.notation)
    if "may be" in found.reason:
        raise ValueError(
            f"Column {name!r} of {table} is ambiguous: {found.reason}; give the decimal separator."
        )
    column = _numbers(name, NumberNotation(decimal=decimal or "."))
    column._convert(cells, table)
    return column


def _named_dates(name: str, cells: Cells, format: str | None, table: str) -> Column:
    if cells.kind == "date":
        return _from_typed(name, cells)
    texts = without_placeholders(cells.as_texts()).dropna()
    found = find_date_notation(texts, named=True) if format is None else None
    if found is None and format is not None:
        found = FoundDates(notation_of_format(format, texts))
    assert found is not None
    if found.notation is None and found.reason:
        raise ValueError(f"Column {name!r} of {table} is ambiguous: {found.reason}; give its format.")
    column = _dates(name, found.notation or DateNotation())
    column._convert(cells, table)
    return column


def _warn(column: Column, ambiguous: str, values: pd.Series | None) -> None:
    if column.kind == "ignored":
        warn_of_ignored(column)
    if ambiguous:
        message = f"Column {column.name!r} is read as text, because {ambiguous}."
        warnings.warn(message, TableWarning, stacklevel=4)
    if column.is_used and values is not None and (why := _identifies_rows(column, values)):
        warnings.warn(
            f"Column {column.name!r} seems to identify the rows, as {why}; leave it out with drop (--drop), "
            "or let it name the rows with id (--id).",
            TableWarning,
            stacklevel=4,
        )


def warn_of_ignored(column: Column) -> None:
    """Warn that a column is not used."""
    warnings.warn(f"Column {column.name!r} is ignored: {column.reason}.", TableWarning, stacklevel=5)


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


def _check_requests(frame: pd.DataFrame, requests: _Requests, table: str) -> None:
    """Raise ValueError if a named column does not exist, or is named twice."""
    given = {
        "categorical": requests.categorical,
        "numeric": requests.numeric,
        "dates": frozenset(requests.dates),
        "drop": requests.drop,
    }
    seen: dict[str, str] = {}
    for parameter, names in given.items():
        for name in sorted(names):
            check_named_column(frame, name, parameter, table)
            if name in seen:
                raise ValueError(f"Column {name!r} is named in both {seen[name]} and {parameter}.")
            seen[name] = parameter
