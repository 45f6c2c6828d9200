"""Text with commas that every program reads as it was written, and that spreadsheets do not compute.

Cells are quoted if they have a comma, a quote or a line break. A lone carriage return is a line break for
most readers, but not for the csv module of all versions of Python, which therefore has to be told.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Sequence
from typing import Any

import pandas as pd

# What spreadsheets take as the start of a formula, also in full width, and what they skip before it.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*([eE][-+]?\d+)?%?", re.ASCII)
# Separators of other countries: without quotes, a formula may follow them.
_SEPARATORS = re.compile("[;\t|]")
# Characters that texts do not have; the one that is used must not occur.
_MARKS = tuple(map(chr, range(0xFDD0, 0xFDF0)))


def frame_text(frame: pd.DataFrame, *, header: bool = True, guard_formulas: bool = False) -> str:
    """Return a table as text with commas, without its index.

    Parameters
    ----------
    frame : DataFrame
    header : bool, default=True
        Whether the first line has the names of the columns.
    guard_formulas : bool, default=False
        Whether texts and names of columns that spreadsheets would take as formulas get an apostrophe in
        front.

    Raises
    ------
    ValueError
        If a cell has a NUL character or half of a surrogate pair, which are not text.
    """
    text = _written(frame, header)
    _check_text(text)
    if not guard_formulas and "\r" not in text:
        return text
    force = _force_quotes(text)
    marked = frame.copy(deep=False)
    marked.columns = frame.columns.map(lambda name: _marked_name(name, force, guard_formulas))
    for position, dtype in enumerate(frame.dtypes):
        if dtype.kind not in "iufcbmM":  # numbers and dates are neither formulas nor have line breaks
            column = list(frame.iloc[:, position])
            cells = [_marked(cell, force, guard_formulas) for cell in column]
            if any(cell is not before for cell, before in zip(cells, column, strict=True)):
                marked.isetitem(position, pd.Series(cells, index=frame.index, dtype=object))
    return _written(marked, header).replace(force, "")


def rows_text(rows: Iterable[Sequence[object]], *, guard_formulas: bool = False) -> str:
    """Return rows of cells as text with commas, by the same rules."""
    rows = list(rows)
    plain = _joined(rows)
    _check_text(plain)
    if not guard_formulas and "\r" not in plain:
        return plain
    force = _force_quotes(plain)
    return _joined([[_marked(cell, force, guard_formulas) for cell in row] for row in rows]).replace(
        force, ""
    )


def guarded(text: str) -> str:
    """Return a text, with an apostrophe in front if a spreadsheet would take it as a formula.

    >>> guarded("=1+1"), guarded("-1.5"), guarded("a=b")
    ("'=1+1", '-1.5', 'a=b')
    """
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


def _written(frame: pd.DataFrame, header: bool) -> str:
    return frame.to_csv(index=False, lineterminator="\n", header=header)


def _joined(rows: Iterable[Sequence[object]]) -> str:
    text = io.StringIO(newline="")
    csv.writer(text, lineterminator="\n").writerows(rows)
    return text.getvalue()


def _force_quotes(text: str) -> str:
    """Return a line break with a mark that is in no cell: it makes a cell quoted, and is removed then."""
    unused = next((mark for mark in _MARKS if mark not in text), None)
    if unused is None:
        raise ValueError("a text has all characters that Unicode reserves for programs")
    return f"\n{unused}"


def _marked_name(name: Any, force: str, guard_formulas: bool) -> Any:
    if isinstance(name, tuple):  # of several levels
        return tuple(_marked(part, force, guard_formulas) for part in name)
    return _marked(name, force, guard_formulas)


def _marked(cell: Any, force: str, guard_formulas: bool) -> Any:
    if not isinstance(cell, str):
        return cell
    text = guarded(cell) if guard_formulas else cell
    needs_quotes = "\r" in text or (guard_formulas and (text != cell or _SEPARATORS.search(text)))
    return f"{force}{text}" if needs_quotes else text


def _check_text(text: str) -> None:
    if "\0" in text:
        raise ValueError("a text has a NUL character")
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError("a text has half of a character (a lone surrogate)") from error
