"""Tables in files: read them in many formats, write CSV and Parquet."""

from __future__ import annotations

import os
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import IO, Any, Protocol

import pandas as pd

from lann._support.files import atomic_file, check_writable, is_stream
from lann.tables._csv_text import frame_text
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
        as in ``.csv.gz``. ``"-"`` is standard input, whose format is found, as is that of a pipe whose name
        says nothing, such as ``<(command)`` in a shell. A pipe is read until nothing writes to it any more.
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
        If the file has another format, is damaged, is empty, was changed while it was read, or has two
        columns of the same name, or lines have more or fewer cells than the header.
    OSError
        If there is no such file, or it is a folder or a device, or must not be read.
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
        apostrophe in front. Numbers stay as they are. Programs that read the file see the apostrophe.

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
def table_writer(
    path: Path, *, types_of: Mapping[str, str] | None = None, guard_formulas: bool = False
) -> Iterator[Callable[[pd.DataFrame], None]]:
    """Write a table in blocks of rows, without their index; on failure nothing is written.

    Parameters
    ----------
    path : Path
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``.
    types_of : mapping of str to str or None, default=None
        For columns that may be empty in the first block: a column that has their type.
    guard_formulas : bool, default=False
        As for `write_table`.

    Yields
    ------
    write : callable
        Takes the next rows.
    """
    writers: dict[str, Callable[[IO[bytes]], _Writer]] = {
        ".csv": lambda file: _TextWriter(file, str(path), guard_formulas),
        ".csv.gz": lambda file: _GzipWriter(file, str(path), guard_formulas),
        ".parquet": lambda file: _ParquetWriter(file, str(path), types_of or {}),
    }
    with atomic_file(path) as file:
        writer = writers[_format(path)](file)
        try:
            yield writer.write
        except BaseException:
            writer.abandon()
            raise
        writer.finish()


class _Writer(Protocol):
    def write(self, frame: pd.DataFrame) -> None: ...

    def finish(self) -> None: ...

    def abandon(self) -> None: ...


class _TextWriter:
    """Writes text with commas."""

    def __init__(self, file: IO[bytes], name: str, guard_formulas: bool) -> None:
        self._file, self._name, self._has_header = file, name, False
        self._guard_formulas = guard_formulas

    def write(self, frame: pd.DataFrame) -> None:
        try:
            text = frame_text(frame, header=not self._has_header, guard_formulas=self._guard_formulas)
        except ValueError as error:
            raise ValueError(f"{self._name} cannot be written as CSV: {error}.") from error
        self._has_header = True
        self._put(text.encode())

    def _put(self, content: bytes) -> None:
        self._file.write(content)

    def finish(self) -> None:
        """Do nothing: everything is written."""

    def abandon(self) -> None:
        """Do nothing: the file is removed."""


class _GzipWriter(_TextWriter):
    """Writes compressed text, without the time, so that the same table gives the same bytes."""

    def __init__(self, file: IO[bytes], name: str, guard_formulas: bool) -> None:
        super().__init__(file, name, guard_formulas)
        self._compressor = zlib.compressobj(9, wbits=31)

    def _put(self, content: bytes) -> None:
        self._file.write(self._compressor.compress(content))

    def finish(self) -> None:
        self._file.write(self._compressor.flush())


class _ParquetWriter:
    """Writes Parquet: one block as pandas does, several as row groups with the types of the first one."""

    def __init__(self, file: IO[bytes], name: str, types_of: Mapping[str, str]) -> None:
        self._file, self._name, self._types_of = file, name, types_of
        self._first: pd.DataFrame | None = None
        self._writer: Any = None

    def write(self, frame: pd.DataFrame) -> None:
        if self._first is None and self._writer is None:
            self._first = frame
            return
        with self._sentences():
            if self._writer is None and self._first is not None:
                self._writer = self._started(self._first)
                self._add(self._first)
                self._first = None
            self._add(frame)

    def finish(self) -> None:
        if self._writer is not None:
            self._writer.close()
        elif self._first is not None:
            with self._sentences():
                self._first.to_parquet(self._file, index=False)

    def abandon(self) -> None:
        """End the writer of pyarrow as long as there is a file."""
        if self._writer is not None:
            self._writer.close()

    def _started(self, frame: pd.DataFrame) -> Any:
        import pyarrow as pa  # type: ignore[import-untyped]
        from pyarrow.parquet import ParquetWriter  # type: ignore[import-untyped]

        schema = pa.Table.from_pandas(frame, preserve_index=False).schema
        for column, like in self._types_of.items():
            position = schema.get_field_index(column)
            if position >= 0 and pa.types.is_null(schema.field(position).type):
                schema = schema.set(position, schema.field(position).with_type(schema.field(like).type))
        return ParquetWriter(self._file, schema)

    def _add(self, frame: pd.DataFrame) -> None:
        import pyarrow as pa

        self._writer.write_table(
            pa.Table.from_pandas(frame, schema=self._writer.schema, preserve_index=False)
        )

    @contextmanager
    def _sentences(self) -> Iterator[None]:
        try:
            yield
        except ImportError as error:
            raise without_parquet(self._name) from error
        except (TypeError, ValueError) as error:  # pyarrow's own errors are among them
            raise ValueError(
                f"{self._name} cannot be written, because a column has values of several types: "
                f"{' '.join(str(error).split())[:200]}; write a .csv file."
            ) from error


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
    """Return the format of a file that is written, by its name; a pipe whose name says nothing takes CSV."""
    for format in FORMATS:
        if path.name.lower().endswith(format):
            return format
    if is_stream(path):
        return ".csv"
    raise ValueError(f"{path} has an unknown format; give a file name that ends in {_listed(FORMATS)}.")


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"
