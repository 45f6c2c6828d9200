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
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.files import check_readable, is_pipe
from lann._support.format import size_text
from lann._support.types import MANY_ROWS, Indices
from lann._support.validation import Integer, validate
from lann.columns.text import TableWarning, check_has_columns, column_texts
from lann.tables._table_file import (
    FileOptions,
    MemoryFile,
    ParquetFile,
    TableFile,
    read_excel,
    read_json_lines,
)
from lann.tables._text import TextFile, TextLines

STANDARD_INPUT = "-"
# The format of a file, by the end of its name; text may be compressed with gzip, whatever its name.
FORMATS = {
    ".csv": "text", ".tsv": "text", ".txt": "text", ".parquet": "parquet", ".xlsx": "excel",
    ".jsonl": "json lines", ".ndjson": "json lines",
}  # fmt: skip
# How files of these formats start.
MARKS = {b"PAR1": "parquet", b"PK\x03\x04": "excel"}
# Formats that are read as a whole.
WHOLE = ("excel", "json lines")
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
# Rows of each class that are drawn at least, if there are as many.
FEWEST_OF_CLASS = 10
Progress = Callable[[float, float], object]


@dataclass(frozen=True, eq=False, repr=False)
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
    'semicolons separate cells; decimal commas; encoding Windows-1252'
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

    @property
    def summary(self) -> str:
        """The notes in one line, "" if there are none."""
        return "; ".join(self.notes)

    @classmethod
    def from_file(cls, path: str | os.PathLike[str], **options: Any) -> Reading:
        """Read a table, and say what was detected about its file.

        Parameters
        ----------
        path : str or path-like
            As for `read_table`.
        **options : str, int, list or None
            ``sep``, ``decimal``, ``encoding``, ``sheet`` and ``na_values``, as for `read_table`.

        Returns
        -------
        reading : Reading

        Raises
        ------
        ValueError
            As for `read_table`.
        """
        file = open_table(path, FileOptions(**options))
        frame = file.read()
        if options.get("decimal") is not None:
            frame.attrs["decimal"] = options["decimal"]
        return cls(frame, file.name, file.notes, _sha256(path, file))


def read_table(path: str | os.PathLike[str], **options: Any) -> pd.DataFrame:
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
    **options : str, int, list or None
        How the file is written, if this is not to be detected: ``sep``, the separator of text, is a
        character, or "comma", "semicolon", "tab" or "pipe"; ``decimal`` is the decimal separator of text, "."
        or ","; ``encoding`` is that of text and JSON lines (UTF-8, UTF-16, Windows-1252 are
        detected); ``sheet`` is the name of a sheet of an Excel file, or its number from 1; ``na_values`` is a
        list of further texts that mean a missing value.

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


def read_content(content: bytes, name: str) -> pd.DataFrame:
    """Read a table that is text with separators, such as the body of a request, as `read_table` does.

    Parameters
    ----------
    content : bytes
    name : str
        Name of the table in messages.

    Returns
    -------
    frame : DataFrame

    Raises
    ------
    ValueError
        As for `read_table`.
    """

    def opened() -> Any:
        return io.BufferedReader(io.BytesIO(content))

    return TextFile(opened, name, len(content), FileOptions()).read()


# Targets with more different numbers than this are regression by default.
MOST_INTEGERS = 20


def sample_table(
    path: str | os.PathLike[str],
    target: str,
    n_rows: int,
    *,
    random_state: int = 0,
    task: str = "classification",
    callback: Progress | None = None,
    **options: Any,
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
    task : {"auto", "classification", "regression"}, default="classification"
        With "regression", or "auto" and more than 20 different numbers, every row with a number is drawn with
        the same probability.
    callback : callable or None, default=None
        Called with how much of the file has been read, and of what.
    **options : str, int, list or None
        ``sep``, ``decimal``, ``encoding``, ``sheet`` and ``na_values``, as for `read_table`.

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
    file = open_table(path, FileOptions(**options))
    check_has_columns(pd.DataFrame(columns=file.columns), [target], file.name, "target")

    def labels() -> Iterator[NDArray[Any]]:
        for block in file.blocks([target]):
            yield column_texts(block[target])
            if callback is not None:
                callback(block.index.stop, 2 * max(file.n_rows_estimated, block.index.stop))

    rows, n_read, n_labels = _draw(labels(), n_rows, random_state, task, target, file.name)
    report = None if callback is None else lambda n_done: callback(n_read + n_done, 2 * n_read)
    frame = file.read(rows, report)
    return Reading(frame, file.name, file.notes, _sha256(path, file), rows, n_read, n_labels)


def _draw(
    labels: Iterator[NDArray[Any]], n_rows: int, seed: int, task: str, target: str, name: str
) -> tuple[Indices, int, int]:
    """Return the rows that are drawn, ascending, and how many rows, and rows with a label, there are."""
    from lann._row_draw import HighestRanks

    drawn = HighestRanks(n_rows)
    by_class: dict[str, HighestRanks] = {}
    n_read = n_labels = 0
    has_classes = task != "regression"
    for texts in labels:
        present = np.flatnonzero(pd.notna(texts))
        drawn.add(present + n_read, seed)
        n_read, n_labels = n_read + len(texts), n_labels + len(present)
        for label, positions in pd.Series(present).groupby(texts[present]) if has_classes else ():
            highest = by_class.setdefault(label, HighestRanks(FEWEST_OF_CLASS))
            highest.add(positions.to_numpy() + n_read - len(texts), seed)
        if task == "auto" and len(by_class) > MOST_INTEGERS and all(map(_is_number, by_class)):
            has_classes = False
            by_class.clear()
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
    if not has_classes:
        return np.sort(drawn.descending()[:n_rows]), n_read, n_labels
    n_each = max(min(FEWEST_OF_CLASS, n_rows // len(by_class)), 1)
    first = np.concatenate([highest.descending()[:n_each] for highest in by_class.values()])
    others = np.setdiff1d(drawn.descending(), first, assume_unique=True)[: max(n_rows - len(first), 0)]
    return np.sort(np.concatenate([first, others])), n_read, n_labels


def _is_number(text: str) -> bool:
    return re.fullmatch(r"\s*[-+]?[\d.,]*\d[\d.,]*([eE][-+]?\d+)?\s*", text) is not None


def warn_of_rows(n_rows: int, what: str) -> None:
    """Warn that some rows are left out."""
    if n_rows:
        rows = "1 row has" if n_rows == 1 else f"{n_rows:,} rows have"
        are = "is" if n_rows == 1 else "are"
        warnings.warn(f"{rows} {what} and {are} left out.", TableWarning, stacklevel=3)


def open_table(path: str | os.PathLike[str], options: FileOptions, *, as_it_comes: bool = False) -> TableFile:
    """Return a table that can be read in blocks.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`.
    options : FileOptions
    as_it_comes : bool, default=False
        Whether text from standard input and pipes is read once, as it comes, and not as a whole.

    Raises
    ------
    ValueError
        If the file has an unknown format, is damaged or empty, or has two columns of the same name, or an
        option is invalid.
    OSError
        If there is no such file.
    """
    path = Path(path)
    is_input = str(path) == STANDARD_INPUT
    is_read_once, name = is_input or is_pipe(path), "standard input" if is_input else str(path)
    if not is_input:
        check_readable(path, pipes=True)
    format = _format_of_name(path)
    if is_read_once and as_it_comes and format in (None, "text"):
        return TextFile(lambda: sys.stdin.buffer if is_input else path.open("rb"), name, None, options)
    content: Any = None
    if is_read_once or format in WHOLE:
        content = sys.stdin.buffer.read() if is_input else path.read_bytes()
    format = format or _format_of_content(content)
    options.check_format(name, format)
    missing = options.na_values or ()

    def opened() -> Any:
        return path.open("rb") if content is None else io.BufferedReader(io.BytesIO(content))

    table: TableFile
    if format == "text":
        table = TextFile(opened, name, path.stat().st_size if content is None else len(content), options)
    elif format == "parquet":
        table = ParquetFile(path if content is None else io.BytesIO(content), name, missing)
    elif format == "excel":
        table = MemoryFile(*read_excel(content, name, options.sheet), name, missing)
    else:
        lines = TextLines(opened, name, options.encoding)
        table = MemoryFile(read_json_lines(lines, name), lines.notes, name, missing)
    table.content = content
    return table


def _format_of_name(path: Path) -> str | None:
    """Return the format of a file; None for standard input and pipes whose content says it."""
    format = FORMATS.get(Path(path.name.lower().removesuffix(".gz")).suffix)
    if format is None and str(path) != STANDARD_INPUT and not is_pipe(path):
        raise ValueError(
            f"{path} has an unknown format; give a file name that ends in {', '.join(FORMATS)}, or .gz for "
            "compressed text."
        )
    return format


def _format_of_content(content: bytes) -> str:
    for mark, format in MARKS.items():
        if content.startswith(mark):
            return format
    start = re.sub(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)", b"", content[:1000]).replace(b"\x00", b"").lstrip()
    return "json lines" if start.startswith((b"{", b"[")) else "text"


def _sha256(path: str | os.PathLike[str], table: TableFile) -> str:
    if table.content is not None:
        return hashlib.sha256(table.content).hexdigest()
    with Path(path).open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def rows_in_memory(
    path: str | os.PathLike[str], *, memory: int | str | None = None, n_folds: int = 5, **options: Any
) -> tuple[int | None, str]:
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
    **options : str, int, list or None
        ``sep``, ``decimal``, ``encoding``, ``sheet`` and ``na_values``, as for `read_table`.

    Returns
    -------
    n_rows : int or None
        At least 500; None for all rows, also of files that are read as a whole: Excel, JSON lines, standard
        input and pipes.
    reason : str
        How much memory all rows would take; "" if there is enough.

    Raises
    ------
    ValueError
        If a given memory is no size, does not suffice for 500 rows, or cannot be limited, because the file is
        read as a whole.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from lann.tables import rows_in_memory, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "small.parquet")
    ...     write_table(pd.DataFrame({"x": range(2000), "y": [0, 1] * 1000}), path)
    ...     rows_in_memory(path, memory="2GB"), rows_in_memory(path, memory="60MB")[0] < 2000
    ((None, ''), True)
    """
    validate("n_folds", n_folds, Integer(0))
    n_allowed = available_memory() if memory is None else parse_size(memory)
    path = Path(path)
    if str(path) == STANDARD_INPUT or is_pipe(path) or _format_of_name(path) in WHOLE:
        if memory is not None:
            raise ValueError(f"The memory cannot be limited for {path}, which is read as a whole.")
        return None, ""
    file = open_table(path, FileOptions(**options))
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
    n_fitting = max(int(n_first + (left - n_first * row_bytes) / further_bytes), FEWEST_ROWS)
    if n_fitting >= n_rows:
        return None, ""
    return n_fitting, (
        f"A fit to all rows would take about {size_text(needed(n_rows))} of memory, of which "
        f"{size_text(n_allowed)} may be taken"
    )


def parse_size(size: int | str) -> int:
    """Return a size in bytes; raise ValueError if it is none.

    >>> parse_size("2GB"), parse_size("1.5 MiB"), parse_size(1000)
    (2000000000, 1572864, 1000)
    """
    match = re.fullmatch(r"\s*(\d+(?:\.\d+)?)\s*([KMGT]?)(i?)B?\s*", str(size), re.IGNORECASE)
    if match is None or float(match[1]) <= 0:
        raise ValueError(f"A memory must be a size such as 2GB or 500MB; got {size!r}.")
    return int(float(match[1]) * (1024 if match[3] else 1000) ** " KMGT".index(match[2].upper() or " "))


def available_memory() -> int:
    """Return the share of the available memory that a fit may take."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        available = int(re.findall(r"MemAvailable:\s+(\d+) kB", meminfo.read_text())[0]) * 1024
    else:  # half of the memory is taken as available; of 8 GB, where that is unknown
        has_size = hasattr(os, "sysconf")
        memory = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") if has_size else 8 << 30
        available = memory // 2
    return int(SHARE_OF_AVAILABLE * available)
