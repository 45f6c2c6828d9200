"""Tables in files: read them in many formats, write CSV and Parquet."""

from __future__ import annotations

import gzip
import io
import os
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from lann._files import check_writable, write_atomically
from lann.tables._reading import Reading, without_parquet

# Of files that are written.
FORMATS = (".csv", ".csv.gz", ".parquet")


def read_table(
    path: str | os.PathLike[str],
    *,
    sep: str | None = None,
    decimal: str | None = None,
    encoding: str | None = None,
    sheet: str | int | None = None,
) -> pd.DataFrame:
    """Read a table from a file.

    Separator, quotes, decimal separator and encoding of text are found from its content; `Reading.from_file`
    says what was found. Cells of text are text: what the columns have is decided later, from all cells of a
    column, see `infer_columns`. Empty cells, NA, N/A, n/a, NaN, NaT, <NA>, null, ? and errors of spreadsheets
    such as #N/A are missing values.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.tsv`` or ``.txt`` (text with separators), ``.jsonl`` or
        ``.ndjson`` (a JSON object in each line), ``.parquet`` or ``.xlsx``. Text may be compressed with gzip,
        as in ``.csv.gz``. ``"-"`` is standard input, whose format is found.
    sep : str or None, default=None
        The separator of text: a character, or "comma", "semicolon", "tab" or "pipe".
    decimal : {".", ","} or None, default=None
        The decimal separator of text.
    encoding : str or None, default=None
        The encoding of text and JSON lines. By default, it is UTF-8, UTF-16 if the file starts with its byte
        order mark, and Windows-1252 (Latin-1) if the file is not in UTF-8.
    sheet : str, int or None, default=None
        The name of a sheet of an Excel file, or its number from 1; by default the first.

    Returns
    -------
    frame : DataFrame
        With at least one row. ``frame.attrs["decimal"]`` is the decimal separator of text, if it is known.

    Raises
    ------
    ValueError
        If the file has another format, is damaged, is empty, or has two columns of the same name, or lines
        have more or fewer cells than the header.
    OSError
        If there is no such file.
    ImportError
        If it is a Parquet file and pyarrow is not installed, or an Excel file and openpyxl is not.

    See Also
    --------
    Reading.from_file : Read a table, and say what was found about its file.

    Examples
    --------
    >>> import os, tempfile
    >>> from lann.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("name;age\\nAnn;51\\nBea;?\\n")
    ...     read_table(path)
      name  age
    0  Ann   51
    1  Bea  NaN
    """
    return Reading.from_file(path, sep=sep, decimal=decimal, encoding=encoding, sheet=sheet).frame


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, without its index; on failure nothing is written.

    Parameters
    ----------
    frame : DataFrame
    path : str or path-like
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``; an existing one is replaced.

    Raises
    ------
    ValueError
        If the file name has another ending.
    OSError
        If the file cannot be written.
    ImportError
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from lann.tables import read_table, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv.gz")
    ...     write_table(pd.DataFrame({"name": ["Ann"], "age": [51]}), path)
    ...     read_table(path)
      name age
    0  Ann  51
    """
    path = Path(path)
    check_table_path(path)
    format = _format(path)
    if format == ".parquet":
        buffer = io.BytesIO()
        try:
            frame.to_parquet(buffer, index=False)
        except ImportError as error:
            raise without_parquet(str(path)) from error
        content = buffer.getvalue()
    else:
        content = frame.to_csv(index=False, lineterminator="\n").encode()
        if format == ".csv.gz":
            content = gzip.compress(content, mtime=0)
    write_atomically(path, content)


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a table cannot be written to a file; call it before long work.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ValueError
        If the file name does not end in ``.csv``, ``.csv.gz`` or ``.parquet``.
    OSError
        If the file cannot be written.
    ImportError
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> from lann.tables import check_table_path
    >>> check_table_path("table.xlsx")
    Traceback (most recent call last):
    ValueError: table.xlsx has an unknown format; give a file name that ends in .csv, .csv.gz or .parquet.
    """
    path = Path(path)
    format = _format(path)
    check_writable(path)
    if format == ".parquet" and find_spec("pyarrow") is None:
        raise without_parquet(str(path))


def _format(path: Path) -> str:
    """Return the format of a file that is written, by its name."""
    for format in FORMATS:
        if path.name.lower().endswith(format):
            return format
    raise ValueError(f"{path} has an unknown format; give a file name that ends in {_listed(FORMATS)}.")


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
