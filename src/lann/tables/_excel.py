"""Sheets of Excel files."""

from __future__ import annotations

import io
import warnings
import zipfile
from typing import Any

from lann.columns.text import nearest_name


def read_sheet(
    content: bytes, source: str, sheet: str | int | None = None
) -> tuple[list[str], list[tuple[Any, ...]], str, int]:
    """Return the names of the columns, the rows, the name of the sheet, and the number of sheets.

    Empty rows and columns around the table are left out.

    Parameters
    ----------
    content : bytes
    source : str
        Name of the file in messages.
    sheet : str, int or None, default=None
        Name of a sheet, or its number from 1; the first by default.

    Raises
    ------
    ValueError
        If it is not an Excel file, or has no such sheet.
    ImportError
        If openpyxl is not installed.
    """
    try:
        import openpyxl
    except ImportError as error:
        raise ImportError(
            f"{source} needs openpyxl, which is not installed: pip install 'lann[excel]'."
        ) from error
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of the file that are not read, such as styles
            book = openpyxl.load_workbook(io.BytesIO(content), read_only=True, data_only=True)
    except (zipfile.BadZipFile, KeyError, ValueError, OSError, EOFError) as error:
        raise ValueError(f"{source} is not a complete Excel file (.xlsx).") from error
    try:
        chosen = book[_sheet_name(list(book.sheetnames), sheet, source)]
        if hasattr(chosen, "reset_dimensions"):
            chosen.reset_dimensions()  # what the file says about them may be wrong
        rows = [] if not hasattr(chosen, "iter_rows") else list(chosen.iter_rows(values_only=True))
        names, rows = _trim(rows)
        return names, rows, chosen.title, len(book.sheetnames)
    finally:
        book.close()


def _sheet_name(names: list[str], sheet: str | int | None, source: str) -> str:
    if sheet is None:
        return names[0]
    if str(sheet) in names:
        return str(sheet)
    if str(sheet).isdecimal() and 1 <= int(sheet) <= len(names):
        return names[int(sheet) - 1]
    similar = nearest_name(str(sheet), names)
    advice = f"its sheets are {', '.join(map(repr, names[:20]))}." if similar is None else ""
    raise ValueError(f"There is no sheet {sheet!r} in {source}; {advice or f'did you mean {similar!r}?'}")


def _trim(rows: list[tuple[Any, ...]]) -> tuple[list[str], list[tuple[Any, ...]]]:
    """Return the header and the other rows, without empty rows and columns."""
    filled = [row for row in rows if any(_is_filled(cell) for cell in row)]
    if not filled:
        return [], []
    width = max(len(row) for row in filled)
    padded = [tuple(row) + (None,) * (width - len(row)) for row in filled]
    used = [j for j in range(width) if any(_is_filled(row[j]) for row in padded)]
    header, *others = [tuple(row[j] for j in used) for row in padded]
    return ["" if name is None else str(name) for name in header], others


def _is_filled(cell: Any) -> bool:
    return cell is not None and cell != ""
