"""Tables that are written to files: CSV, which every program reads as it was written, and Parquet."""

from __future__ import annotations

import csv
import gzip
import os
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import IO, Any

import pandas as pd

from lann._support.files import atomic_file, check_writable, is_stream
from lann.tables._table_file import parquet_module

FORMATS = (".csv", ".csv.gz", ".parquet")
# What spreadsheets take as the start of a formula, also in full width, and what they skip before it.
_FORMULA = re.compile("[=+\\-@\t\r\n\uff1d\uff0b\uff0d\uff20]")
_NUMBER = re.compile(r"[-+]?\d[\d.,]*([eE][-+]?\d+)?%?", re.ASCII)


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str], *, guard_formulas: bool = False) -> None:
    """Write a table to a file, without its index; on failure nothing is written.

    Parameters
    ----------
    frame : DataFrame
    path : str or path-like
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``; an existing one is replaced, and
        keeps its mode and the symbolic links to it. A pipe or a device such as /dev/null takes the content
        and stays; CSV, if its name has no ending.
    guard_formulas : bool, default=False
        For CSV files that are opened in a spreadsheet: whether texts and names of columns that it would take
        as formulas, because they start with ``=``, ``+``, ``-``, ``@``, a tab or a line break, get an
        apostrophe in front, and all texts are quoted. Numbers stay as they are. Programs that read the file
        see the apostrophe.

    Raises
    ------
    ValueError
        If the file name has another ending, or a text cannot be written as CSV because it has a NUL
        character.
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
    check_table_path(path)
    with table_writer(Path(path), guard_formulas=guard_formulas) as write:
        write(frame)


@contextmanager
def table_writer(path: Path, *, guard_formulas: bool = False) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Write a table in blocks of rows, without their index; on failure nothing is written.

    Parameters
    ----------
    path : Path
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    guard_formulas : bool, default=False
        As for `write_table`.

    Yields
    ------
    write : callable
        Takes the next rows.
    """
    format = _format(path)
    with atomic_file(path) as file:
        if format == ".parquet":
            with _parquet_writer(file, str(path)) as write:
                yield write
            return
        # Without the time, so that the same table gives the same bytes.
        text = gzip.GzipFile("", "wb", fileobj=file, mtime=0) if format == ".csv.gz" else nullcontext(file)
        header = True

        def write_text(frame: pd.DataFrame) -> None:
            nonlocal header
            opened.write(csv_bytes(frame, str(path), header=header, guard_formulas=guard_formulas))
            header = False

        with text as opened:
            yield write_text


def csv_bytes(frame: pd.DataFrame, name: str, *, header: bool = True, guard_formulas: bool = False) -> bytes:
    """Return a table as text with commas, in UTF-8; raise ValueError if a cell is no text."""
    if guard_formulas:
        frame = frame.map(lambda cell: guarded(cell) if isinstance(cell, str) else cell)
        frame.columns = frame.columns.map(lambda label: guarded(label) if isinstance(label, str) else label)
    text = frame.to_csv(index=False, lineterminator="\n", header=header)
    if guard_formulas or "\r" in text:
        # Some readers take a carriage return as the end of a line, and other separators, unless quoted.
        text = frame.to_csv(index=False, lineterminator="\n", header=header, quoting=csv.QUOTE_NONNUMERIC)
    if "\0" in text:
        raise ValueError(f"{name} cannot be written as CSV: a text has a NUL character.")
    return text.encode()


def guarded(text: str) -> str:
    """Return a text, with an apostrophe in front if a spreadsheet would take it as a formula.

    >>> guarded("=1+1"), guarded("-1.5"), guarded("a=b")
    ("'=1+1", '-1.5', 'a=b')
    """
    is_formula = _FORMULA.match(text) and not _NUMBER.fullmatch(text)
    return f"'{text}" if is_formula else text


@contextmanager
def _parquet_writer(file: IO[bytes], name: str) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Write blocks as row groups with the types of the first one."""
    parquet = parquet_module(name)
    import pyarrow as pa  # type: ignore[import-untyped]

    writers: list[Any] = []

    def write(frame: pd.DataFrame) -> None:
        try:
            schema = writers[0].schema if writers else pa.Schema.from_pandas(frame, preserve_index=False)
            position = schema.get_field_index("label")
            if not writers and position >= 0 and pa.types.is_null(schema.field(position).type):
                # Without any label in the first rows, their type is that of the predictions.
                schema = schema.set(position, pa.field("label", schema.field("prediction").type))
            table = pa.Table.from_pandas(frame, schema=schema, preserve_index=False)
            if not writers:
                writers.append(parquet.ParquetWriter(file, schema))
            writers[0].write_table(table)
        except (TypeError, ValueError) as error:  # pyarrow's own errors are among them
            raise ValueError(
                f"{name} cannot be written, because a column has values of several types: "
                f"{' '.join(str(error).split())[:200]}; write a .csv file."
            ) from error

    try:
        yield write
    finally:  # as long as there is a file
        for writer in writers:
            writer.close()


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
    if format == ".parquet":
        parquet_module(str(path))


def _format(path: Path) -> str:
    """Return the format of a file that is written, by its name; a pipe whose name says nothing takes CSV."""
    format = next((format for format in FORMATS if path.name.lower().endswith(format)), None)
    if format is None and not is_stream(path):
        raise ValueError(
            f"{path} has an unknown format; give a file name that ends in .csv, .csv.gz or .parquet."
        )
    return format or ".csv"
