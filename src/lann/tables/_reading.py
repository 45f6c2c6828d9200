"""From the name of a file to its table, or to a sample of as many rows as fit into memory."""

from __future__ import annotations

import hashlib
import io
import os
import re
import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.files import check_readable, is_pipe, read_content
from lann._support.format import size_text
from lann._support.types import MANY_ROWS, Indices
from lann._support.validation import Integer, validate
from lann.columns.text import TableWarning, check_named_column, column_texts
from lann.tables import _table_file
from lann.tables._table_file import (
    FileOptions,
    MemoryFile,
    ParquetFile,
    TableFile,
    read_excel,
    read_json_lines,
)
from lann.tables._text import (
    ENCODING_NAMES,
    TextFile,
    check_separator,
    damage_reported,
    find_encoding,
    open_plain,
)

STANDARD_INPUT = "-"
# The format of a file, by the end of its name; text may be compressed with gzip, whatever its name.
FORMATS = {
    ".csv": "text", ".csv.gz": "text", ".tsv": "text", ".tsv.gz": "text", ".txt": "text", ".txt.gz": "text",
    ".parquet": "parquet", ".xlsx": "excel",
    ".jsonl": "json lines", ".jsonl.gz": "json lines", ".ndjson": "json lines", ".ndjson.gz": "json lines",
}  # fmt: skip
LISTED_FORMATS = ".csv, .csv.gz, .tsv, .txt, .parquet, .xlsx, .jsonl or .ndjson"
# Which options are for which formats.
_OPTIONS = {"sep": ("text",), "encoding": ("text", "json lines"), "sheet": ("excel",)}
# How files of these formats start.
MARKS = {b"PAR1": "parquet", b"PK\x03\x04": "excel"}
# Text files with more bytes are large.
LARGE_TEXT = 1 << 24
# The share of the available memory that a fit may take.
SHARE_OF_AVAILABLE = 0.6
# What a fit takes beside the table, per row, and per row and column: 1.4 to 2.1 times what was measured on
# 2, 10 and 50 columns. Those of a fold are for its classifier, which a cross-validation keeps: with five
# folds, the sum is what was measured.
FIT_ROW_BYTES, FIT_CELL_BYTES = 2500, 300
FOLD_ROW_BYTES, FOLD_CELL_BYTES = 625, 75
# The same of each row beyond `MANY_ROWS`: these are trained in tiles, and kept in single precision.
MANY_ROW_BYTES, MANY_CELL_BYTES = 200, 40
# What it takes for few rows, too.
FIT_BYTES = 48 << 20
# With less memory, nothing useful can be learned.
FEWEST_ROWS = 500
UNITS = ("", "K", "M", "G", "T")
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", re.IGNORECASE)
_MEMINFO = Path("/proc/meminfo")
# Rows of each class that are drawn at least, if there are as many.
FEWEST_OF_CLASS = 10
Progress = Callable[[float, float], object]


@dataclass(frozen=True, eq=False)
class Reading:
    """A table that was read, and what was detected about its file.

    Attributes
    ----------
    frame : DataFrame
        With at least one row. ``frame.attrs["decimal"]`` is the decimal separator of text, if it is known.
    source : str
        The name of the file, or "standard input".
    notes : tuple of str
        What was detected and is unusual; not what was given.
    sha256 : str
        SHA-256 of the file, as hexadecimal digits.
    row_numbers : ndarray of shape (n_rows,) or None
        Positions of the rows in the file, if they are a sample; None is all rows.
    n_file_rows, n_labeled_rows : int or None
        Number of rows of the file, and of those with a label, if the rows are a sample.

    Examples
    --------
    >>> import os, tempfile
    >>> from lann.tables import Reading
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     with open(path, "w", encoding="latin-1") as file:
    ...         _ = file.write("name;size\\nJörg;1,85\\nBea;1,7\\n")
    ...     reading = Reading.from_file(path)
    >>> reading.summary
    'semicolons separate cells; decimal commas; encoding Latin-1'
    >>> reading.frame
       name  size
    0  Jörg  1.85
    1   Bea  1.70
    """

    frame: pd.DataFrame
    source: str
    notes: tuple[str, ...]
    sha256: str
    row_numbers: Indices | None = None
    n_file_rows: int | None = None
    n_labeled_rows: int | None = None

    def __repr__(self) -> str:
        n_rows, n_columns = self.frame.shape
        return f"<Reading of {self.source!r}: {n_rows} rows, {n_columns} columns>"

    @property
    def summary(self) -> str:
        """The notes in one line, "" if there are none."""
        return "; ".join(self.notes)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Unpack[FileOptions]) -> Reading:
        """Read a table, and say what was detected about its file.

        Parameters
        ----------
        path : str or path-like
            As for `read_table`.
        **options : str, int or None
            ``sep``, ``decimal``, ``encoding`` and ``sheet``, as for `read_table`.

        Returns
        -------
        reading : Reading

        Raises
        ------
        ValueError
            As for `read_table`.
        """
        file = open_table(path, options)
        frame = file.read()
        if options.get("decimal") is not None:
            frame.attrs["decimal"] = options["decimal"]
        return cls(frame, file.name, file.notes, _sha256(path, file))


def read_table(path: str | os.PathLike[str], **options: Unpack[FileOptions]) -> pd.DataFrame:
    """Read a table from a file.

    Separator, quotes, decimal separator and encoding of text are detected, as are comments that start with
    ``#``, lines before the header, columns that are aligned by spaces, and a total in the last line. Columns
    of plain numbers are numbers; other cells are text, which is interpreted when a model is fitted. Empty
    cells, NA, N/A, n/a, NaN, NaT, <NA>, null, ? and errors of spreadsheets such as #N/A are missing values.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.tsv`` or ``.txt`` (text with separators), ``.jsonl`` or
        ``.ndjson`` (a JSON object in each line), ``.parquet`` or ``.xlsx``. Text may be compressed with gzip,
        as in ``.csv.gz``. ``"-"`` is standard input, whose format is detected, as is that of a pipe whose
        name says nothing, such as ``<(command)`` in a shell.
    **options : str, int or None
        How the file is written, if this is not to be detected: ``sep``, the separator of text, is a
        character, or "comma", "semicolon", "tab" or "pipe"; ``decimal`` is the decimal separator of text, "."
        or ","; ``encoding`` is that of text and JSON lines (UTF-8, UTF-16, Windows-1252 and Latin-1 are
        detected); ``sheet`` is the name of a sheet of an Excel file, or its number from 1.

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
        If there is no such file, or it is a folder or a device, or must not be read.
    ImportError
        If it is a Parquet file and pyarrow is not installed, or an Excel file and openpyxl is not.

    Examples
    --------
    >>> import os, tempfile
    >>> from lann.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("name;age\\nAnn;51\\nBea;?\\n")
    ...     read_table(path)
      name   age
    0  Ann  51.0
    1  Bea   NaN
    """
    return Reading.from_file(path, **options).frame


def sample_table(
    path: str | os.PathLike[str],
    target: str,
    n_rows: int,
    *,
    random_state: int = 0,
    callback: Progress | None = None,
    **options: Unpack[FileOptions],
) -> Reading:
    """Read a sample of the rows of a table, which can be larger than memory.

    The file is read twice in blocks: first the labels, by which the rows are drawn, then these rows. Rows
    without a label are left out. Every other row is drawn with the same probability, except that there are 10
    rows of each class at least, or all of them.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`.
    target : str
        Name of the column with the labels.
    n_rows : int
        Number of rows to draw; all rows are read if there are no more.
    random_state : int, default=0
        The same seed draws the same rows.
    callback : callable or None, default=None
        Called with how much of the file has been read, and of what.
    **options : str, int or None
        ``sep``, ``decimal``, ``encoding`` and ``sheet``, as for `read_table`.

    Returns
    -------
    reading : Reading
        ``reading.row_numbers`` are the positions of the rows in the file.

    Raises
    ------
    ValueError
        As for `read_table`; if there is no such column, or it does not have classes.

    Warns
    -----
    TableWarning
        If rows without a label are left out.
    """
    validate("n_rows", n_rows, Integer(2))
    file = open_table(path, options)
    check_named_column(pd.DataFrame(columns=file.columns), target, "target", file.name)

    def labels() -> Iterator[NDArray[Any]]:
        for block in file.blocks([target]):
            yield column_texts(block[target])
            if callback is not None:
                callback(block.index.stop, 2 * max(file.n_rows_estimated, block.index.stop))

    rows, n_read, n_labels = _draw(labels(), n_rows, random_state, target, file.name)
    report = None if callback is None else lambda n_done: callback(n_read + n_done, 2 * n_read)
    frame = file.read(rows, report)
    return Reading(frame, file.name, file.notes, _sha256(path, file), rows, n_read, n_labels)


def _draw(
    labels: Iterator[NDArray[Any]], n_rows: int, seed: int, target: str, name: str
) -> tuple[Indices, int, int]:
    """Return the rows that are drawn, ascending, and how many rows, and rows with a label, there are."""
    from lann._row_draw import HighestRanks

    drawn = HighestRanks(n_rows)
    by_class: dict[str, HighestRanks] = {}
    n_read = n_labels = 0
    for texts in labels:
        present = np.flatnonzero(pd.notna(texts))
        drawn.add(present + n_read, seed)
        for label, positions in pd.Series(present).groupby(texts[present]):
            highest = by_class.setdefault(label, HighestRanks(FEWEST_OF_CLASS))
            highest.add(positions.to_numpy() + n_read, seed)
        n_read, n_labels = n_read + len(texts), n_labels + len(present)
        if len(by_class) > max(n_rows, 2):
            raise ValueError(
                f"The target {target!r} has {len(by_class)} different values in the first {n_read} rows of "
                f"{name}, more than the {n_rows} rows to draw; its values must be classes with several rows "
                "each."
            )
    if n_labels == 0:
        raise ValueError(f"The target {target!r} is empty in every row of {name}.")
    warn_of_rows(n_read - n_labels, f"no {target!r}")
    # The first rows of each class and, for the rest of the rows, the first drawn ones.
    n_each = max(min(FEWEST_OF_CLASS, n_rows // len(by_class)), 1)
    first = np.concatenate([highest.descending()[:n_each] for highest in by_class.values()])
    others = np.setdiff1d(drawn.descending(), first, assume_unique=True)[: max(n_rows - len(first), 0)]
    return np.sort(np.concatenate([first, others])), n_read, n_labels


def warn_of_rows(n_rows: int, what: str) -> None:
    """Warn that some rows are left out."""
    if n_rows:
        rows = "1 row has" if n_rows == 1 else f"{n_rows:,} rows have"
        are = "is" if n_rows == 1 else "are"
        warnings.warn(f"{rows} {what} and {are} left out.", TableWarning, stacklevel=3)


def open_table(path: str | os.PathLike[str], options: FileOptions) -> TableFile:
    """Return a table that can be read in blocks; what can be read only once is read here.

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
    path = Path(path)
    format = _checked_format(path, options)
    content: Any = None
    is_input = str(path) == STANDARD_INPUT
    name = "standard input" if is_input else str(path)
    if is_read_once(path) or format in ("excel", "json lines"):
        content = sys.stdin.buffer.read() if is_input else read_content(path, pipes=True)
    else:
        check_readable(path, pipes=True)
    if format is None:
        format = _format_of(content or b"")
        _check_options(name, format, options)
    table: TableFile
    if format == "text":
        n_bytes = path.stat().st_size if content is None else len(content)
        opened = (lambda: path.open("rb")) if content is None else (lambda: io.BytesIO(content))
        table = TextFile(opened, name, n_bytes, options)
    elif format == "parquet":
        table = ParquetFile(path if content is None else io.BytesIO(content), name)
    elif format == "excel":
        table = MemoryFile(*read_excel(content, name, options.get("sheet")), name)
    else:
        table = _json_lines(content, name, options.get("encoding"))
    table.content = content
    return table


def _json_lines(content: bytes, name: str, given: str | None) -> TableFile:
    with damage_reported(name):
        content = open_plain(lambda: io.BytesIO(content), name).read()
    encoding = find_encoding(lambda: [content], name, given)
    try:
        text = content.decode(encoding).removeprefix("\ufeff")
    except UnicodeDecodeError as error:
        raise ValueError(f"{name} is not text in {encoding}; give the encoding.") from error
    is_noted = given is None and encoding in ENCODING_NAMES
    notes = [f"encoding {ENCODING_NAMES[encoding]}"] if is_noted else []
    return MemoryFile(read_json_lines(text, name), notes, name)


def _sha256(path: str | os.PathLike[str], table: TableFile) -> str:
    if table.content is not None:
        return hashlib.sha256(table.content).hexdigest()
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def open_stream(path: str | os.PathLike[str], options: FileOptions) -> TableFile:
    """Return a table whose blocks are read as they come: standard input and pipes, which must be text.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``, text compressed with gzip, or
        ``"-"``.
    options : FileOptions
    """
    path = Path(path)
    format = _checked_format(path, options) or "text"
    if format not in ("text", "parquet"):
        raise ValueError(f"{path} cannot be read in batches; give a .csv, .tsv, .txt or .parquet file.")
    if str(path) == STANDARD_INPUT:
        return TextFile(lambda: sys.stdin.buffer, "standard input", None, options)
    if format == "text" and is_read_once(path):
        check_readable(path, pipes=True)
        return TextFile(lambda: path.open("rb"), str(path), None, options)
    check_readable(path, "Parquet file" if format == "parquet" else "file")
    return open_table(path, options)


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
    format = _checked_format(path, {})
    if format == "text":
        return path.stat().st_size > LARGE_TEXT
    return format == "parquet" and ParquetFile(path, str(path)).n_rows_estimated > _table_file.BLOCK_ROWS


def is_read_once(path: Path) -> bool:
    """Return whether a table can be read only once, from start to end."""
    is_descriptor = str(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    return str(path) == STANDARD_INPUT or is_descriptor or is_pipe(path)


def _checked_format(path: Path, options: FileOptions) -> str | None:
    """Return the format that a name says; None for standard input and pipes whose content says it.

    The options are validated.
    """
    if unknown := set(options) - FileOptions.__annotations__.keys():
        raise TypeError(f"There is no option {unknown.pop()!r} of files.")
    sep, decimal = check_separator(options.get("sep")), options.get("decimal")
    if decimal not in (None, ".", ",") or (decimal is not None and decimal == sep):
        raise ValueError(f"decimal must be '.' or ',', and not the separator; got {decimal!r}.")
    for ending in sorted(FORMATS, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            _check_options(str(path), FORMATS[ending], options)
            return FORMATS[ending]
    if is_read_once(path):
        return None
    if path.exists():
        check_readable(path, pipes=True)  # a device, or a folder, has no format at all
    raise ValueError(f"{path} has an unknown format; give a file name that ends in {LISTED_FORMATS}.")


def _check_options(name: str, format: str, options: FileOptions) -> None:
    for option, formats in _OPTIONS.items():
        if options.get(option) is not None and format not in formats:
            raise ValueError(f"{option} is not for {name}, whose format is {format}.")


def _format_of(content: bytes) -> str:
    """Return the format of a table without a name, by its content."""
    for mark, format in MARKS.items():
        if content.startswith(mark):
            return format
    start = re.sub(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)", b"", content[:1000]).replace(b"\x00", b"").lstrip()
    return "json lines" if start.startswith((b"{", b"[")) else "text"


class TableSize(NamedTuple):
    """How much memory a fit to a table takes, about.

    Attributes
    ----------
    n_rows : int
        Number of rows of the table; that of text is estimated from its first lines.
    n_bytes : int
        Memory for reading the table and fitting a model to all rows, with the cross-validation before.
    n_fitting : int
        Number of rows for which the memory suffices, 500 at least; `n_rows` if there is enough for all.
    memory : int
        The memory that may be taken.

    Examples
    --------
    >>> from lann.tables import TableSize
    >>> TableSize(1_000_000, 3_000_000_000, 250_000, 800_000_000).fits
    False
    """

    n_rows: int
    n_bytes: int
    n_fitting: int
    memory: int

    @property
    def fits(self) -> bool:
        """Whether there is enough memory for all rows."""
        return self.n_fitting >= self.n_rows


def table_size(
    path: str | os.PathLike[str],
    *,
    memory: int | str | None = None,
    n_folds: int = 5,
    **options: Unpack[FileOptions],
) -> TableSize | None:
    """Estimate how many rows of a table in a file a model can be fitted to in some memory.

    The numbers of rows, columns and bytes are those of the metadata of a Parquet file, or follow from the
    size and the first lines of a text.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`.
    memory : int, str or None, default=None
        Bytes, or a text such as "2GB" or "500 MB". None is 60 % of the memory that is available.
    n_folds : int, default=5
        Number of folds of a cross-validation, whose classifiers are kept; 0 is a fit without one.
    **options : str, int or None
        ``sep``, ``decimal``, ``encoding`` and ``sheet``, as for `read_table`.

    Returns
    -------
    size : TableSize or None
        None for standard input.

    Raises
    ------
    ValueError
        If a given memory is no size, or does not suffice for 500 rows.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from lann.tables import table_size, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "small.parquet")
    ...     write_table(pd.DataFrame({"x": range(2000), "y": [0, 1] * 1000}), path)
    ...     table_size(path, memory="2GB").fits, table_size(path, memory="90MB").n_rows
    (True, 2000)
    """
    validate("n_folds", n_folds, Integer(0))
    n_allowed = available_memory() if memory is None else parse_size(memory)
    if str(path) == STANDARD_INPUT:
        return None
    file = open_table(path, options)
    n_rows, n_columns = max(file.n_rows_estimated, 1), len(file.columns)
    n_kept = max(n_folds - 1, 0)  # each of the n folds keeps (n - 1) / n of the rows
    row_bytes = further_bytes = file.frame_bytes / n_rows
    row_bytes += FIT_ROW_BYTES + FIT_CELL_BYTES * n_columns
    row_bytes += n_kept * (FOLD_ROW_BYTES + FOLD_CELL_BYTES * n_columns)
    further_bytes += (1 + n_kept) * (MANY_ROW_BYTES + MANY_CELL_BYTES * n_columns)

    def needed(n: int) -> int:
        return int(FIT_BYTES + min(n, MANY_ROWS) * row_bytes + max(n - MANY_ROWS, 0) * further_bytes)

    if memory is not None and n_allowed < needed(min(n_rows, FEWEST_ROWS)):
        raise ValueError(
            f"A memory of {size_text(n_allowed)} is too little for {FEWEST_ROWS} rows of {file.name}: about "
            f"{size_text(needed(FEWEST_ROWS))} are needed."
        )
    left = max(n_allowed - FIT_BYTES, 0)
    n_first = min(left / row_bytes, MANY_ROWS)
    n_fitting = int(n_first + (left - n_first * row_bytes) / further_bytes)
    return TableSize(n_rows, needed(n_rows), min(max(n_fitting, FEWEST_ROWS), n_rows), n_allowed)


def parse_size(size: int | str) -> int:
    """Return a size in bytes; raise ValueError if it is none.

    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size(1000)
    (2000000000, 1572864, 1000)
    """
    match = _SIZE.fullmatch(str(size))
    if match is None or float(match[1]) <= 0:
        raise ValueError(f"A memory must be a size such as 2GB or 500MB; got {size!r}.")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** UNITS.index(match[2].upper()))


def available_memory() -> int:
    """Return the share of the available memory that a fit may take."""
    if _MEMINFO.exists():
        available = int(re.findall(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())[0]) * 1024
    else:  # half of the memory is taken as available; of 8 GB, where that is unknown
        memory = (
            os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 8 << 30
        )
        available = memory // 2
    return int(SHARE_OF_AVAILABLE * available)
