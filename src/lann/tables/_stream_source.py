"""Tables that are read in batches, larger than memory: text with separators, Parquet, standard input."""

from __future__ import annotations

import codecs
import gzip
import io
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import chain, islice
from pathlib import Path
from typing import IO, Any, Protocol

import pandas as pd

from lann._support.files import check_readable
from lann.tables._delimited import DelimitedTextError, check_length, check_separator, find_dialect
from lann.tables._encodings import GZIP, PARQUET, ZIP, decode
from lann.tables._reading import (
    STANDARD_INPUT,
    check_duplicates,
    check_file,
    column_names,
    has_no_name,
    is_read_once,
    table_format,
    without_parquet,
)

Batch = Mapping[str, Sequence[str] | pd.Series]
"""Cells by column: text, or values with types."""

# Lines from which separator and encoding are found.
N_FIRST_LINES = 200
# Standard input and pipes may come slowly: fewer rows are waited for.
BATCH_ROWS, BATCH_ROWS_OF_INPUT = 1000, 100


class StreamSource(Protocol):
    """A table that is read in order, once."""

    name: str
    columns: list[str]
    batch_rows: int
    is_interrupted: bool

    def read(self, n_rows: int) -> Batch:
        """Return the next rows, fewer at the end, and none after it."""
        ...


@contextmanager
def open_stream(
    path: str | Path, *, sep: str | None = None, encoding: str | None = None
) -> Iterator[StreamSource]:
    """Open a table to be read in batches.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``, text compressed with gzip, or
        ``"-"``, standard input, which must be text. So must be a pipe.
    sep : str or None, default=None
        The separator of text.
    encoding : str or None, default=None
        The encoding of text.

    Raises
    ------
    ValueError
        If the file has another format or is empty.
    OSError
        If there is no such file.
    """
    path = Path(path)
    sep = None if sep is None else check_separator(sep)
    if str(path) == STANDARD_INPUT:
        yield TextSource(sys.stdin.buffer, "standard input", BATCH_ROWS_OF_INPUT, sep=sep, encoding=encoding)
        return
    format = "text" if has_no_name(path) else table_format(path)
    check_file(path)
    if format == "parquet":
        check_readable(path, "Parquet file")  # it is not read from start to end
        if sep is not None or encoding is not None:
            raise ValueError(f"sep and encoding are not for {path}, whose format is parquet.")
        yield ParquetSource(path)
    elif format == "text":
        batch_rows = BATCH_ROWS_OF_INPUT if is_read_once(path) else BATCH_ROWS
        with path.open("rb") as file:
            yield TextSource(file, str(path), batch_rows, sep=sep, encoding=encoding)
    else:
        raise ValueError(f"{path} cannot be read in batches; give a .csv, .tsv, .txt or .parquet file.")


class TextSource:
    """Text with separators, read line by line.

    Parameters
    ----------
    file : binary file
        It need not be seekable. It may be compressed with gzip.
    name : str
        In messages.
    batch_rows : int
        How many rows are best read at once.
    sep, encoding : str or None, default=None
        By default, they are found from the first lines.

    Attributes
    ----------
    dialect : Dialect
    encoding : str
        They were given, or found from the first lines.
    is_interrupted : bool
        Whether KeyboardInterrupt was raised while lines were waited for: the table then ends after the lines
        that had come.

    Raises
    ------
    KeyboardInterrupt
        If it is raised before the first line has come.
    """

    def __init__(
        self,
        file: IO[bytes],
        name: str,
        batch_rows: int = BATCH_ROWS,
        *,
        sep: str | None = None,
        encoding: str | None = None,
    ) -> None:
        self.name, self.batch_rows, self.is_interrupted = name, batch_rows, False
        self._is_ended = False
        raw: Any = file if hasattr(file, "peek") else io.BufferedReader(file)
        if raw.peek(2)[:2] == GZIP:
            raw = io.BufferedReader(gzip.GzipFile(fileobj=raw))
        lines = self._first_lines(raw, encoding)
        first = list(islice(lines, N_FIRST_LINES))
        if self.is_interrupted and not first:
            raise KeyboardInterrupt
        self.dialect = find_dialect("".join(first), sep)
        self._records = self.dialect.records_of_lines(chain(first, lines))
        header = self._next()
        if header is None:
            raise ValueError(f"{name} is empty.")
        self.columns = column_names(header)
        check_duplicates(self.columns, name)

    def read(self, n_rows: int) -> Batch:
        rows: list[list[str]] = []
        try:
            while not self._is_ended and len(rows) < n_rows and (cells := self._next()) is not None:
                rows.append(cells)
        except KeyboardInterrupt:  # not while a line was waited for: as the input ended, for example
            self.is_interrupted = self._is_ended = True
        columns: list[Any] = list(zip(*rows, strict=True)) if rows else [()] * len(self.columns)
        return dict(zip(self.columns, columns, strict=True))

    def _next(self) -> list[str] | None:
        try:
            found = next(self._records, None)
            if found is None:
                return None
            line, cells = found
            if hasattr(self, "columns"):
                check_length(cells, len(self.columns), line)
            return cells
        except DelimitedTextError as error:
            if self.is_interrupted:  # in the middle of a record
                return None
            raise ValueError(f"Line {error.line} of {self.name} {error.reason}.") from error
        except UnicodeDecodeError as error:
            raise ValueError(
                f"{self.name} is not text in {error.encoding} after its first lines; give the encoding."
            ) from error
        except (EOFError, OSError) as error:
            raise ValueError(f"{self.name} is damaged: {str(error).rstrip('.')}.") from error

    def _first_lines(self, raw: Any, encoding: str | None) -> Iterator[str]:
        """Return the lines of a file, in the encoding that its start has."""
        start = raw.peek(4)[:4]
        if start.startswith((PARQUET, ZIP)):
            raise ValueError(f"{self.name} must be text with separators.")
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            encoding = encoding or "utf-16"
        if encoding is not None:
            try:
                codecs.lookup(encoding)
            except LookupError as error:
                raise ValueError(f"There is no encoding {encoding!r}.") from error
            self.encoding = codecs.lookup(encoding).name
            return self._until_interrupt(io.TextIOWrapper(raw, encoding=encoding, newline=""))
        lines = self._until_interrupt(raw)
        first = list(islice(lines, N_FIRST_LINES))
        _, self.encoding = decode(b"".join(first), self.name)
        decoder = codecs.getincrementaldecoder(self.encoding)()
        return (decoder.decode(line) for line in chain(first, lines))

    def _until_interrupt(self, lines: Iterable[Any]) -> Iterator[Any]:
        """Yield lines; KeyboardInterrupt while one is waited for is the end."""
        try:
            yield from lines
        except KeyboardInterrupt:
            self.is_interrupted = True


class ParquetSource:
    """A Parquet file, read in batches of rows.

    Parameters
    ----------
    path : Path
    """

    batch_rows = BATCH_ROWS
    is_interrupted = False

    def __init__(self, path: Path) -> None:
        try:
            from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
        except ImportError as error:
            raise without_parquet(str(path)) from error
        self.name = str(path)
        try:
            self._file = ParquetFile(path)
            self.columns = column_names(self._file.schema_arrow.names)
        except (ValueError, OSError) as error:  # pyarrow's own errors are among them
            raise ValueError(f"{path} is not a complete Parquet file.") from error
        check_duplicates(self.columns, self.name)
        self._batches = self._file.iter_batches(batch_size=BATCH_ROWS)
        self._rest = pd.DataFrame(columns=self.columns)

    def read(self, n_rows: int) -> Batch:
        parts = [self._rest] if len(self._rest) else []
        while sum(map(len, parts)) < n_rows and (batch := next(self._batches, None)) is not None:
            parts.append(batch.to_pandas().set_axis(self.columns, axis=1))
        frame = pd.concat(parts, ignore_index=True) if parts else self._rest
        taken, self._rest = frame.iloc[:n_rows], frame.iloc[n_rows:]
        return {name: taken[name] for name in self.columns}


def length(batch: Batch) -> int:
    """Return the number of rows."""
    return len(next(iter(batch.values()), ()))


def row_bytes(batch: Batch) -> bytes:
    """Return bytes that differ if any cell differs; those of batches add up to those of the whole."""
    columns = [list(map(str, cells)) if isinstance(cells, pd.Series) else cells for cells in batch.values()]
    return "".join("\x1f".join(cells) + "\x1e" for cells in zip(*columns, strict=True)).encode(
        "utf-8", "surrogatepass"
    )


def split(batch: Batch, n_rows: int) -> tuple[Batch, Batch]:
    """Return the first rows of a batch, so many, and the others."""
    first = {name: cells[:n_rows] for name, cells in batch.items()}
    return first, {name: cells[n_rows:] for name, cells in batch.items()}
