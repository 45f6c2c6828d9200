"""Tables in files that are read block by block, larger than memory: Parquet and text with separators."""

from __future__ import annotations

import gzip
import math
import os
import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from lann._support.types import Indices
from lann.columns.notation import MISSING, table_decimal
from lann.tables._delimited import check_separator
from lann.tables._encodings import GZIP, find_encoding
from lann.tables._reading import (
    FileOptions,
    Reading,
    TextOptions,
    check_decimal,
    check_duplicates,
    check_file,
    check_text_options,
    column_names,
    is_read_once,
    table_format,
    text_notes,
    without_parquet,
)
from lann.tables._stream_source import Batch, TextSource, length

# Cells, bytes and rows of a block, at most.
BLOCK_CELLS, BLOCK_BYTES, BLOCK_ROWS = 1 << 18, 1 << 22, 1 << 14
# A block has so many rows at least, whatever their size.
FEWEST_ROWS = 64
# Bytes of a file that are read at once.
READ_AT_ONCE = 1 << 18
# What a cell takes in memory while a table is read as a whole, beside the bytes of its text.
NUMBER_BYTES, TEXT_BYTES = 24, 110
# Text files of so many bytes are large.
LARGE_TEXT = 1 << 24
# How much smaller text becomes by gzip, typically.
GZIP_RATIO = 4
# Encodings of text without a mark at its start: they depend on all of it.
FOUND_IN_ALL = ("utf-8", "cp1252", "latin-1")
_MISSING = frozenset(MISSING)


class TableFile(ABC):
    """A table in a file that is read in blocks, as often as needed.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    format : {"parquet", "text"}
    columns : list of str
    n_rows : int or None
        None if it is not known before the file has been read.
    frame_bytes : int
        How much memory the whole table takes while it is read, about.
    n_rows_estimated : int
    """

    name: str
    format: str
    columns: list[str]
    n_rows: int | None
    frame_bytes: int
    n_rows_estimated: int

    def __init__(self, path: Path) -> None:
        self.path, self.name = path, str(path)
        self._version = self._stat()

    def check_unchanged(self) -> None:
        """Raise ValueError if somebody else has written to the file since it was first read."""
        if self._stat() != self._version:
            raise ValueError(
                f"{self.name} was changed while it was read; wait until it is complete, or read a copy."
            )

    def _stat(self) -> tuple[int, ...]:
        """Return what changes if somebody else writes to the file."""
        status = self.path.stat()
        return status.st_dev, status.st_ino, status.st_size, status.st_mtime_ns

    @property
    def block_rows(self) -> int:
        """Number of rows of a block."""
        by_cells = BLOCK_CELLS // max(len(self.columns), 1)
        by_bytes = BLOCK_BYTES * self.n_rows_estimated // max(self.frame_bytes, 1)
        return max(min(by_cells, by_bytes, BLOCK_ROWS), FEWEST_ROWS)

    @abstractmethod
    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, some columns of them; the index has their row numbers."""

    @abstractmethod
    def take(self, rows: Indices) -> Iterator[tuple[int, Any]]:
        """Yield how many rows of the file have been read, and the parts of some rows for `joined`."""

    @abstractmethod
    def merged(self, parts: Sequence[Any]) -> Any:
        """Return several parts of rows as one."""

    @abstractmethod
    def joined(self, parts: Sequence[Any], rows: Indices) -> pd.DataFrame:
        """Return parts of some rows as a table, as if the whole table had been read."""

    @abstractmethod
    def reading(self, frame: pd.DataFrame, decimal: str | None) -> Reading:
        """Return rows of the file with what was found about it."""

    def sha256(self) -> str:
        """Return the SHA-256 of the file, as hexadecimal digits."""
        digest = sha256()
        with self.path.open("rb") as file:
            while part := file.read(READ_AT_ONCE):
                digest.update(part)
        self.check_unchanged()
        return digest.hexdigest()


def open_table(path: str | os.PathLike[str], options: FileOptions) -> TableFile | None:
    """Return a table that can be read in blocks; None if its format has to be read as a whole.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`.
    options : FileOptions

    Raises
    ------
    ValueError
        If the file has an unknown format, is damaged or empty, or has two columns of the same name, or an
        option is invalid.
    OSError
        If there is no such file.
    """
    unknown = set(options) - FileOptions.__annotations__.keys()
    if unknown:
        raise TypeError(f"There is no option {unknown.pop()!r} of files.")
    sep, encoding = options.get("sep"), options.get("encoding")
    sep = None if sep is None else check_separator(sep)
    check_decimal(options.get("decimal"), sep)
    path = Path(path)
    if is_read_once(path):
        return None
    format = table_format(path)
    if format not in ("parquet", "text"):
        return None
    check_file(path)
    check_text_options(str(path), format, {"sep": sep, "encoding": encoding, "sheet": options.get("sheet")})
    return ParquetTable(path) if format == "parquet" else TextFile(path, sep=sep, encoding=encoding)


def is_large_table(path: str | os.PathLike[str]) -> bool:
    """Return whether a table is better read block by block than as a whole.

    It is a text file of more than 16 MB, or a Parquet file with more than 16 384 rows.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`; other formats are always read as a whole.

    Returns
    -------
    is_large : bool
        False also if there is no such file.

    Raises
    ------
    ValueError
        If the format is unknown, or a Parquet file is damaged.

    Examples
    --------
    >>> from lann.tables import is_large_table
    >>> is_large_table("-"), is_large_table("sheet.xlsx")
    (False, False)
    """
    path = Path(path)
    if is_read_once(path) or not path.is_file():
        return False
    format = table_format(path)
    if format == "text":
        return path.stat().st_size > LARGE_TEXT
    return format == "parquet" and ParquetTable(path).n_rows_estimated > BLOCK_ROWS


class ParquetTable(TableFile):
    """A Parquet file, read by row groups, and each of these in batches.

    Parameters
    ----------
    path : Path
    """

    format = "parquet"

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        with self._opened() as file:
            metadata, schema = file.metadata, file.schema_arrow
            self._counted = _counted_index(schema)
            # By name: how the file calls a column.
            self._fields = dict(zip(column_names(schema.names), schema.names, strict=True))
            check_duplicates(column_names(schema.names), self.name)
            empty = self._as_frame(schema.empty_table(), np.arange(0))
            self.columns = list(empty.columns)
            self.n_rows = self.n_rows_estimated = metadata.num_rows
            n_bytes = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
            is_number = [dtype.kind in "iufbM" for dtype in empty.dtypes]
            cells = sum(NUMBER_BYTES if number else TEXT_BYTES for number in is_number)
            self.frame_bytes = self.n_rows * cells + n_bytes
            self._with_gaps = _integers_with_gaps(metadata, schema)
        if not self.columns:
            raise ValueError(f"{self.name} has no columns.")
        if self.n_rows == 0:
            raise ValueError(f"{self.name} has no rows.")

    def _opened(self) -> Any:
        try:
            from pyarrow.parquet import ParquetFile  # type: ignore[import-untyped]
        except ImportError as error:
            raise without_parquet(self.name) from error
        try:
            # Pages are read as they are needed: a row group can be larger than memory, too.
            return ParquetFile(self.path, buffer_size=READ_AT_ONCE, pre_buffer=False)
        except (ValueError, OSError) as error:  # pyarrow's own errors are among them
            raise ValueError(f"{self.name} is not a complete Parquet file.") from error

    def _batches(self, columns: Sequence[str] | None = None) -> Iterator[Any]:
        """Yield the rows in order, as tables of Arrow."""
        import pyarrow as pa  # type: ignore[import-untyped]

        fields = None
        if columns is not None:
            fields = [self._fields[name] for name in columns if name in self._fields]
        with self._opened() as file:
            for group in range(file.metadata.num_row_groups):
                try:
                    for batch in file.iter_batches(
                        self.block_rows, row_groups=[group], columns=fields, use_threads=False
                    ):
                        yield pa.Table.from_batches([batch]).replace_schema_metadata(
                            file.schema_arrow.metadata
                        )
                except (ValueError, OSError) as error:
                    self.check_unchanged()
                    raise ValueError(f"{self.name} is damaged: row group {group} cannot be read.") from error
                # Otherwise, freed memory of the pages of many row groups remains with the process.
                pa.default_memory_pool().release_unused()
        self.check_unchanged()

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        start = 0
        for batch in self._batches(columns):
            for name in self._with_gaps & set(batch.column_names):
                position = batch.column_names.index(name)
                batch = batch.set_column(position, name, batch.column(name).cast("float64", safe=False))
            stop = start + batch.num_rows
            frame = self._as_frame(batch, np.arange(start, stop)).set_axis(pd.RangeIndex(start, stop))
            yield frame if columns is None else frame[list(columns)]
            start = stop

    def take(self, rows: Indices) -> Iterator[tuple[int, Any]]:
        start = 0
        for batch in self._batches():
            stop = start + batch.num_rows
            first, last = np.searchsorted(rows, [start, stop])
            yield stop, batch.take(rows[first:last] - start)
            start = stop

    def merged(self, parts: Sequence[Any]) -> Any:
        import pyarrow as pa

        return pa.concat_tables(parts).unify_dictionaries().combine_chunks()

    def joined(self, parts: Sequence[Any], rows: Indices) -> pd.DataFrame:
        return self._as_frame(self.merged(parts), rows)

    def _as_frame(self, table: Any, rows: Indices) -> pd.DataFrame:
        """Return some rows as a table of pandas, in which an index with a name is a column."""
        frame = table.to_pandas(use_threads=False)
        frame = frame.reset_index(drop=all(name is None for name in frame.index.names))
        frame = frame.set_axis(column_names(frame.columns), axis=1)
        if self._counted is not None and self._counted["name"] not in frame:
            start, step = self._counted["start"], self._counted["step"]
            frame.insert(0, self._counted["name"], start + step * rows)
        return frame

    def reading(self, frame: pd.DataFrame, decimal: str | None) -> Reading:
        if decimal is not None:
            frame.attrs["decimal"] = decimal
        return Reading(frame, self.name, self.format)


class TextFile(TableFile):
    """Text with separators, perhaps compressed with gzip, read line by line.

    Parameters
    ----------
    path : Path
    sep, encoding : str or None, default=None
        By default, the separator is found from the first lines, and the encoding from the whole file.
    """

    format = "text"
    n_rows = None

    def __init__(self, path: Path, *, sep: str | None = None, encoding: str | None = None) -> None:
        super().__init__(path)
        self._sep, self._encoding = sep, encoding
        self._read_encoding = encoding
        with self._opened() as source:
            self._found_encoding = source.encoding
        if encoding is None and self._found_encoding in FOUND_IN_ALL:
            found = find_encoding(self._parts, self.name)
            if found != self._found_encoding:  # the first lines do not have all characters
                self._read_encoding = self._found_encoding = found
        with self._opened() as source:
            self.columns, self._dialect = source.columns, source.dialect
            first = source.read(source.batch_rows)
        n_first = length(first)
        if n_first == 0:
            raise ValueError(f"{self.name} has no rows.")
        n_characters = sum(len(cell) + 1 for cells in first.values() for cell in cells)
        ratio = GZIP_RATIO if self.name.lower().endswith(".gz") else 1
        self.n_rows_estimated = max(math.ceil(path.stat().st_size * ratio * n_first / n_characters), n_first)
        row_bytes = len(self.columns) * TEXT_BYTES + 3 * n_characters / n_first
        self.frame_bytes = int(self.n_rows_estimated * row_bytes)

    @contextmanager
    def _opened(self) -> Iterator[TextSource]:
        with self.path.open("rb") as file:
            yield TextSource(file, self.name, sep=self._sep, encoding=self._read_encoding)

    def _parts(self) -> Iterator[bytes]:
        """Yield the bytes of the text, without gzip, in parts that end where lines end."""
        try:
            with self.path.open("rb") as file:
                is_compressed = file.peek(2)[:2] == GZIP
                text = gzip.GzipFile(fileobj=file) if is_compressed else file
                while part := text.read(READ_AT_ONCE):
                    yield part + text.readline()
        except (EOFError, OSError, zlib.error) as error:
            raise ValueError(f"{self.name} is damaged: {str(error).rstrip('.')}.") from error

    def _sources(self) -> Iterator[tuple[int, dict[str, Any]]]:
        """Yield the number of the first row of each block, and its cells."""
        start = 0
        with self._opened() as source:
            while n_rows := length(batch := self._read(source)):
                if source.is_interrupted:
                    raise KeyboardInterrupt
                yield start, dict(batch)
                start += n_rows
            if source.is_interrupted:
                raise KeyboardInterrupt
        self.check_unchanged()

    def _read(self, source: TextSource) -> Batch:
        """Return the cells of the next block."""
        try:
            return source.read(self.block_rows)
        except ValueError:
            self.check_unchanged()  # the reason, if it was
            raise

    def blocks(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        for start, batch in self._sources():
            names = self.columns if columns is None else columns
            cells = {name: _text_column(batch[name]) for name in names}
            yield pd.DataFrame(cells).set_axis(pd.RangeIndex(start, start + length(batch)))

    def take(self, rows: Indices) -> Iterator[tuple[int, Any]]:
        for start, batch in self._sources():
            stop = start + length(batch)
            first, last = np.searchsorted(rows, [start, stop])
            taken = rows[first:last] - start
            yield stop, {name: [cells[row] for row in taken] for name, cells in batch.items()}

    def merged(self, parts: Sequence[Any]) -> Any:
        return {name: [cell for part in parts for cell in part[name]] for name in self.columns}

    def joined(self, parts: Sequence[Any], rows: Indices) -> pd.DataFrame:
        return pd.DataFrame({name: _text_column(cells) for name, cells in self.merged(parts).items()})

    def reading(self, frame: pd.DataFrame, decimal: str | None) -> Reading:
        sep = self._dialect.sep
        found = table_decimal(frame, {",": ".", ";": ","}.get(sep))
        given = TextOptions(self._sep, decimal, self._encoding)
        notes = text_notes(
            self.columns, self.name, self._dialect, given, TextOptions(sep, found, self._found_encoding)
        )
        if (decimal or found) is not None:
            frame.attrs["decimal"] = decimal or found
        return Reading(
            frame, self.name, self.format, sep, self._found_encoding, decimal or found, notes=notes
        )


def _text_column(cells: Sequence[str]) -> pd.Series:
    """Return cells of text as a column, None where missing, as `read_table` does."""
    values = [None if cell in _MISSING or cell.strip() in _MISSING else cell for cell in cells]
    return pd.Series(values, dtype=pd.Series(["text"]).dtype)


def _counted_index(schema: Any) -> dict[str, Any] | None:
    """Return start, step and name of an index of pandas that counts rows and is not stored; None if none."""
    metadata = schema.pandas_metadata or {}
    for index in metadata.get("index_columns", ()):
        if isinstance(index, dict) and index.get("kind") == "range" and index.get("name") is not None:
            return index | {"name": str(index["name"])}
    return None


def _integers_with_gaps(metadata: Any, schema: Any) -> set[str]:
    """Return the columns of integers of which some are missing: numbers of pandas are floats then."""
    import pyarrow as pa

    integers = {field.name for field in schema if pa.types.is_integer(field.type)}
    found = set()
    for group in range(metadata.num_row_groups):
        for position in range(metadata.num_columns):
            column = metadata.row_group(group).column(position)
            statistics = column.statistics
            if column.path_in_schema in integers and statistics is not None and statistics.null_count:
                found.add(column.path_in_schema)
    return found
