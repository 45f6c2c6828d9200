"""Tables in files that are read in blocks, as often as needed: Parquet, Excel and JSON lines."""

from __future__ import annotations

import codecs
import io
import json
import warnings
import zipfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

from lann._support.types import Indices
from lann.columns.notation import MISSING

# Cells, bytes and rows of a block, at most; whatever their size, a block has some rows.
BLOCK_CELLS, BLOCK_BYTES, BLOCK_ROWS, FEWEST_ROWS = 1 << 18, 1 << 22, 1 << 14, 64
# Rows of a block where the whole table is kept in memory.
WHOLE_ROWS = 1 << 16
# Memory of a cell while a file is read, beside the characters of text.
NUMBER_BYTES, TEXT_BYTES = 24, 110
SEPARATOR_NAMES = {"comma": ",", "semicolon": ";", "tab": "\t", "pipe": "|", "\\t": "\t"}
# Which options are for which formats.
OPTION_FORMATS = {"sep": ("text",), "encoding": ("text", "json lines"), "sheet": ("excel",)}


@dataclass
class FileOptions:
    """How a file is written, if this is not to be detected: see `read_table`."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | int | None = None
    na_values: Sequence[str] | None = None

    def __post_init__(self) -> None:
        self.na_values = [text.strip() for text in self.na_values or ()]
        sep = self.sep = SEPARATOR_NAMES.get(self.sep or "", self.sep)
        if sep is not None and (len(sep) != 1 or sep in "\"'\r\n\0" or sep.isalnum()):
            raise ValueError(
                "sep must be one character, such as ',', ';', '|' or a tab, or one of the names "
                f"{', '.join(SEPARATOR_NAMES)}; got {sep!r}."
            )
        if self.decimal not in (None, ".", ",") or (self.decimal is not None and self.decimal == sep):
            raise ValueError(f"decimal must be '.' or ',', and not the separator; got {self.decimal!r}.")
        if self.encoding is not None:
            try:
                self.encoding = codecs.lookup(self.encoding).name
            except LookupError as error:
                raise ValueError(
                    f"There is no encoding {self.encoding!r}; well-known ones are utf-8, utf-16 and cp1252."
                ) from error

    def check_format(self, name: str, format: str) -> None:
        """Raise ValueError if an option is not for the format of a file."""
        for option, formats in OPTION_FORMATS.items():
            if getattr(self, option) is not None and format not in formats:
                raise ValueError(f"{option} is not for {name}, whose format is {format}.")


class TableFile(ABC):
    """A table in a file that is read in blocks.

    Attributes
    ----------
    name : str
        Name of the file in messages.
    columns : list of str
    notes : tuple of str
        What was detected and is unusual.
    decimal : {".", ","} or None
        The decimal separator of text; None if it is not known.
    decimals : dict of str to (int or None)
        Columns of text that are read as numbers, with the number of decimals if all cells have the same.
    n_rows_estimated : int
    frame_bytes : int
        Memory that the whole table takes while it is read, about.
    content : bytes or None
        The bytes of a file that was read as a whole when it was opened.
    """

    name: str
    columns: list[str]
    notes: tuple[str, ...] = ()
    decimal: str | None = None
    decimals: dict[str, int | None]
    n_rows_estimated: int
    frame_bytes: int
    content: bytes | None = None

    @property
    def block_rows(self) -> int:
        """Number of rows of a block."""
        by_cells = BLOCK_CELLS // max(len(self.columns), 1)
        by_bytes = BLOCK_BYTES * self.n_rows_estimated // max(self.frame_bytes, 1)
        return max(min(by_cells, by_bytes, BLOCK_ROWS), FEWEST_ROWS)

    @abstractmethod
    def blocks(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        """Yield the rows in order, `n_rows` at once, some columns of them; the index has the row numbers."""

    def read(
        self, rows: Indices | None = None, report: Callable[[int], object] | None = None
    ) -> pd.DataFrame:
        """Return some rows of the table, None for all.

        A column of numbers in which a cell is none is text in all rows: the file is read once more.
        """
        while True:
            parts = []
            for block in self.blocks(n_rows=WHOLE_ROWS if rows is None else None):
                parts.append(block if rows is None else block[np.isin(block.index, rows)])
                if report is not None:
                    report(int(block.index.stop))
            if not self._read_as_text(parts):
                break
        parts = [part for part in parts if len(part)] or parts[:1]
        frame = pd.concat(parts, ignore_index=True)
        for name in parts[0].columns[parts[0].dtypes == "category"]:  # blocks can have different categories
            frame[name] = frame[name].astype("category")
        if self.decimal is not None:
            frame.attrs = {"decimal": self.decimal, "decimals": dict(self.decimals)}
        return frame

    def _read_as_text(self, parts: list[pd.DataFrame]) -> bool:
        """Return whether columns are read as text from now on, because a cell is no number."""
        return False


class MemoryFile(TableFile):
    """A table that is read as a whole.

    Parameters
    ----------
    frame : DataFrame
    notes : sequence of str
    name : str
        Name of the file in messages.
    missing : sequence of str
        What means a missing value.
    """

    def __init__(self, frame: pd.DataFrame, notes: Sequence[str], name: str, missing: Sequence[str]) -> None:
        self.name, self.notes = name, tuple(notes)
        self.columns = check_names(frame.columns, name)
        self._frame = without_missing(frame.set_axis(self.columns, axis=1).reset_index(drop=True), missing)
        if frame.empty:
            raise ValueError(f"{name} has no rows.")
        self.n_rows_estimated = len(frame)
        self.frame_bytes = len(frame) * len(self.columns) * TEXT_BYTES

    def blocks(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        yield self._frame if columns is None else self._frame[list(columns)]


class ParquetFile(TableFile):
    """A Parquet file.

    Parameters
    ----------
    source : Path or binary file
    name : str
        Name of the file in messages.
    missing : sequence of str
        What means a missing value.
    """

    def __init__(self, source: Path | IO[bytes], name: str, missing: Sequence[str]) -> None:
        self._source, self.name, self._missing = source, name, missing
        file = self._opened()
        schema, metadata = file.schema_arrow, file.metadata
        # The index of pandas is a column if it has a name.
        self._fields = [field for field in schema.names if not field.startswith("__index_level_")]
        self.columns = check_names(self._fields, name)
        if metadata.num_rows == 0 or not self.columns:
            raise ValueError(f"{name} has no rows.")
        self.n_rows_estimated = metadata.num_rows
        n_bytes = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
        dtypes = schema.empty_table().to_pandas(ignore_metadata=True).dtypes
        row_bytes = sum(NUMBER_BYTES if dtype.kind in "iufbM" else TEXT_BYTES for dtype in dtypes)
        self.frame_bytes = self.n_rows_estimated * row_bytes + n_bytes

    def _opened(self) -> Any:
        parquet = parquet_module(self.name)
        try:
            # Pages are read as they are needed: a row group can be larger than memory, too.
            return parquet.ParquetFile(self._source, buffer_size=1 << 18, pre_buffer=False)
        except (ValueError, OSError) as error:  # pyarrow's own errors are among them
            raise ValueError(f"{self.name} is not a complete Parquet file.") from error

    def blocks(
        self, columns: Sequence[str] | None = None, n_rows: int | None = None
    ) -> Iterator[pd.DataFrame]:
        names = self.columns if columns is None else list(columns)
        fields = [self._fields[self.columns.index(name)] for name in names]
        row = 0
        try:
            for batch in self._opened().iter_batches(
                n_rows or self.block_rows, columns=fields, use_threads=False
            ):
                frame = batch.to_pandas(ignore_metadata=True)[fields].set_axis(names, axis=1)
                yield without_missing(frame, self._missing).set_axis(pd.RangeIndex(row, row + len(frame)))
                row += len(frame)
        except (ValueError, OSError) as error:
            raise ValueError(f"{self.name} is damaged: rows after row {row} cannot be read.") from error


def read_json_lines(lines: Iterable[str], name: str) -> pd.DataFrame:
    """Return lines with a JSON object each as a table; raise ValueError if one has none."""
    rows = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            row = json.loads(line)
        except ValueError:
            row = None
        if not isinstance(row, dict) or any(isinstance(value, dict | list) for value in row.values()):
            raise ValueError(f"Line {number} of {name} is not a JSON object of single values.")
        rows.append(row)
    if not rows:
        raise ValueError(f"{name} is empty.")
    frame = pd.DataFrame(rows)
    return frame.mask(frame.isin(MISSING)).infer_objects()


def read_excel(content: bytes, name: str, sheet: str | int | None) -> tuple[pd.DataFrame, list[str]]:
    """Return a sheet of an Excel file without empty rows and columns around the table, and notes."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of parts of the file that are not read, such as styles
            book = pd.ExcelFile(io.BytesIO(content), engine="openpyxl")
            sheets, wanted = list(map(str, book.sheet_names)), str(1 if sheet is None else sheet)
            if wanted not in sheets and wanted.isdecimal() and 1 <= int(wanted) <= len(sheets):
                wanted = sheets[int(wanted) - 1]
            if wanted not in sheets:
                listed = ", ".join(map(repr, sheets[:20]))
                raise ValueError(f"There is no sheet {sheet!r} in {name}; its sheets are {listed}.")
            cells = book.parse(wanted, header=None, dtype=object, keep_default_na=False, na_values=MISSING)
    except ImportError as error:
        raise ImportError(
            f"{name} needs openpyxl, which is not installed: pip install 'lann[excel]'."
        ) from error
    except (zipfile.BadZipFile, KeyError, OSError, EOFError) as error:
        raise ValueError(f"{name} is not a complete Excel file (.xlsx).") from error
    cells = cells.dropna(how="all").dropna(how="all", axis=1)
    if cells.empty:
        raise ValueError(f"{name} has an empty sheet {wanted!r}.")
    header = cells.iloc[0].where(cells.iloc[0].notna(), "")
    frame = cells.iloc[1:].set_axis(list(header), axis=1).infer_objects()
    is_noted = sheet is None and len(sheets) > 1
    return frame, [f"sheet {wanted!r}, the first of {len(sheets)}"] if is_noted else []


def without_missing(frame: pd.DataFrame, missing: Sequence[str]) -> pd.DataFrame:
    """Return a table without the cells with one of some texts, or with the same number."""
    numbers = pd.to_numeric(pd.Series(missing, dtype=object), errors="coerce").dropna()
    return frame.mask(frame.isin([*missing, *numbers])).infer_objects() if missing else frame


def check_names(names: Sequence[Any], source: str) -> list[str]:
    """Return names of columns without spaces around them, "Unnamed: 0" for none, as in pandas.

    Raise ValueError if two are the same.
    """
    texts = [str(name).strip() or f"Unnamed: {position}" for position, name in enumerate(names)]
    repeated = [name for i, name in enumerate(texts) if name in texts[:i]]
    if repeated:
        raise ValueError(f"{source} has more than one column {repeated[0]!r}.")
    return texts


def parquet_module(source: str) -> Any:
    """Return the module that reads and writes Parquet files; raise ImportError if it is not installed."""
    try:
        import pyarrow.parquet  # type: ignore[import-untyped]
    except ImportError as error:
        raise ImportError(
            f"{source} needs pyarrow, which is not installed: pip install 'lann[parquet]'."
        ) from error
    return pyarrow.parquet
