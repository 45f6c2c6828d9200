"""A table that was read, and what was found about its file."""

from __future__ import annotations

import io
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, TypedDict

import pandas as pd

from lann._support.files import check_readable, is_pipe, read_content
from lann._support.types import Indices
from lann.columns.notation import MISSING, table_decimal
from lann.columns.text import as_float
from lann.tables._delimited import SEPARATORS, Dialect, check_separator, parse_text, trim_text
from lann.tables._encodings import ENCODING_NAMES, PARQUET, ZIP, decode, decompress
from lann.tables._excel import read_sheet
from lann.tables._json_lines import read_json_lines

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
_MISSING = frozenset(MISSING)


@dataclass(frozen=True, eq=False)
class Reading:
    """A table that was read, and what was found about its file.

    Attributes
    ----------
    frame : DataFrame
        With at least one row. ``frame.attrs["decimal"]`` is the decimal separator, if it is known.
    source : str
        The name of the file, or "standard input".
    format : {"text", "parquet", "excel", "json lines"}
    sep : str or None
        The separator, of text.
    encoding : str or None
        Of text and JSON lines.
    decimal : str or None
        The decimal separator of text, "." or ","; None if it is not known.
    sheet : str or None
        The name of the sheet, of an Excel file.
    notes : tuple of str
        What was found and is not as in most files; not what was given.
    sha256 : str or None
        SHA-256 of the file, as hexadecimal digits.
    row_numbers : ndarray of shape (n_rows,) or None
        Positions of the rows in the file, if they are a sample; None is all rows.
    n_file_rows : int or None
        Number of rows of the file, if they are a sample.
    n_labeled_rows : int or None
        Number of those of them that have a label, from which the sample is drawn.

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
    0  Jörg  1,85
    1   Bea   1,7
    """

    frame: pd.DataFrame
    source: str
    format: str
    sep: str | None = None
    encoding: str | None = None
    decimal: str | None = None
    sheet: str | None = None
    notes: tuple[str, ...] = field(default=())
    sha256: str | None = None
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
    def from_file(
        cls,
        path: str | os.PathLike[str],
        *,
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        sheet: str | int | None = None,
    ) -> Reading:
        """Read a table, and say what was found about its file.

        Parameters
        ----------
        path : str or path-like
            As for `read_table`.
        sep : str or None, default=None
            The separator of text.
        decimal : {".", ","} or None, default=None
            The decimal separator of text.
        encoding : str or None, default=None
            The encoding of text and JSON lines.
        sheet : str, int or None, default=None
            The name of a sheet of an Excel file, or its number from 1.

        Returns
        -------
        reading : Reading

        Raises
        ------
        ValueError
            As for `read_table`.
        """
        sep = None if sep is None else check_separator(sep)
        check_decimal(decimal, sep)
        path = Path(path)
        format = None if has_no_name(path) else table_format(path)
        content, source = _read(path)
        digest = sha256(content).hexdigest()
        if format is None:
            content = decompress(content, source)
            format = _format_of(content)
        check_text_options(source, format, {"sep": sep, "encoding": encoding, "sheet": sheet})
        if format == "text":
            reading = _read_text(content, source, sep, decimal, encoding)
        elif format == "json lines":
            reading = _read_json_lines(content, source, encoding)
        elif format == "excel":
            reading = _read_excel(content, source, sheet)
        else:
            reading = cls(_read_parquet(content, source), source, format)
        return replace(reading._checked(decimal), sha256=digest)

    def _checked(self, decimal: str | None) -> Reading:
        frame = self.frame
        frame.columns = pd.Index(column_names(frame.columns))
        if frame.columns.has_duplicates:
            name = frame.columns[frame.columns.duplicated()][0]
            raise ValueError(f"{self.source} has more than one column {name!r}.")
        if frame.empty:
            raise ValueError(f"{self.source} has no rows.")
        if (decimal or self.decimal) is not None:
            frame.attrs["decimal"] = decimal or self.decimal
        return self


def has_no_name(path: Path) -> bool:
    """Return whether the format of a table is found from its content, because it has no name that says it.

    So do standard input and pipes of a shell: ``<(zcat table.gz)`` is /dev/fd/63, for example.
    """
    if str(path) == STANDARD_INPUT:
        return True
    return _format_of_name(path) is None and (is_pipe(path) or is_descriptor(path))


def is_descriptor(path: Path) -> bool:
    """Return whether a path is the name of an open file of a process: /dev/stdin or /dev/fd/3."""
    return str(path).startswith(("/dev/std", "/dev/fd/", "/proc/"))


def is_read_once(path: Path) -> bool:
    """Return whether a table can be read only once, from start to end."""
    return str(path) == STANDARD_INPUT or is_pipe(path) or is_descriptor(path)


def _format_of_name(path: Path) -> str | None:
    for ending in sorted(FORMATS, key=len, reverse=True):
        if path.name.lower().endswith(ending):
            return FORMATS[ending]
    return None


def table_format(path: Path) -> str:
    """Return the format of a file that is read, by its name; raise ValueError if it is unknown."""
    if (format := _format_of_name(path)) is not None:
        return format
    if path.exists():
        check_file(path)  # a device, or a folder, has no format at all
    raise ValueError(f"{path} has an unknown format; give a file name that ends in {LISTED_FORMATS}.")


def without_parquet(source: str) -> ImportError:
    """Return the error for a missing pyarrow."""
    return ImportError(f"{source} needs pyarrow, which is not installed: pip install 'lann[parquet]'.")


def _read(path: Path) -> tuple[bytes, str]:
    """Return the content of a file or of standard input, and its name in messages."""
    if str(path) == STANDARD_INPUT:
        return sys.stdin.buffer.read(), "standard input"
    return read_content(path, pipes=True), str(path)


def check_file(path: Path) -> None:
    """Raise an OSError if there is no file to read."""
    check_readable(path, pipes=True)


def check_decimal(decimal: str | None, sep: str | None) -> None:
    """Raise ValueError if a decimal separator is none, or also separates cells."""
    if decimal not in (None, ".", ","):
        raise ValueError(f"decimal must be '.' or ','; got {decimal!r}.")
    if decimal is not None and decimal == sep:
        raise ValueError(f"sep and decimal must be different; both are {sep!r}.")


def check_text_options(source: str, format: str, options: Mapping[str, Any]) -> None:
    """Raise ValueError if an option is given that is not for the format of a file."""
    for option, value in options.items():
        if value is not None and format not in _OPTIONS[option]:
            raise ValueError(f"{option} is not for {source}, whose format is {format}.")


def _format_of(content: bytes) -> str:
    """Return the format of a table without a name, by its content."""
    if content.startswith(PARQUET):
        return "parquet"
    if content.startswith(ZIP):
        return "excel"
    start = re.sub(rb"^(\xef\xbb\xbf|\xff\xfe|\xfe\xff)", b"", content[:1000]).replace(b"\x00", b"").lstrip()
    return "json lines" if start.startswith((b"{", b"[")) else "text"


def _read_text(
    content: bytes, source: str, sep: str | None, decimal: str | None, encoding: str | None
) -> Reading:
    text, found_encoding = decode(decompress(content, source), source, encoding)
    text, trimmed = trim_text(text, sep)
    frame, dialect = parse_text(text, source, sep)
    names = column_names(frame.columns)
    check_duplicates(names, source)
    frame = frame.set_axis(names, axis=1)
    found_decimal = table_decimal(frame, {",": ".", ";": ","}.get(dialect.sep))
    given = TextOptions(sep, decimal, encoding)
    found = TextOptions(dialect.sep, found_decimal, found_encoding)
    notes = (*trimmed, *text_notes(names, source, dialect, given, found))
    if len(names) == 1 and sep is None:
        notes = (*notes, f"one column, {names[0]!r}: is the separator right? give it with sep (--sep)")
    return Reading(frame, source, "text", dialect.sep, found_encoding, decimal or found_decimal, notes=notes)


class FileOptions(TypedDict, total=False):
    """How a file is written, where it is not to be found: see `read_table`."""

    sep: str | None
    decimal: str | None
    encoding: str | None
    sheet: str | int | None


class TextOptions(NamedTuple):
    """How a text is written, as the user says or as it was found."""

    sep: str | None
    decimal: str | None
    encoding: str | None


def text_notes(
    names: list[str], source: str, dialect: Dialect, given: TextOptions, found: TextOptions
) -> tuple[str, ...]:
    """Return what was found about a text and is not as in most files; not what was given."""
    notes = []
    is_usual = dialect.sep == "," or (dialect.sep == "\t" and _is_tsv(source))
    if given.sep is None and not is_usual and len(names) > 1:
        notes.append(f"{SEPARATORS[dialect.sep]} separate cells")
    if given.decimal is None and found.decimal == ",":
        notes.append("decimal commas")
    if given.encoding is None and found.encoding in ENCODING_NAMES:
        notes.append(f"encoding {ENCODING_NAMES[found.encoding]}")
    if dialect.quote == "'":
        notes.append("single quotes around cells")
    elif not dialect.quote:
        notes.append("quotes are part of the cells")
    if dialect.skips_spaces:
        notes.append("spaces after separators are left out")
    if any(re.fullmatch(r"-?\d+[.,]\d+", name) for name in names):
        notes.append("the first line, which has numbers, is taken as the header")
    return tuple(notes)


def _is_tsv(source: str) -> bool:
    return source.lower().removesuffix(".gz").endswith(".tsv")


def _read_json_lines(content: bytes, source: str, encoding: str | None) -> Reading:
    text, found = decode(decompress(content, source), source, encoding)
    if not text.strip():
        raise ValueError(f"{source} is empty.")
    columns = {name: _typed_column(values) for name, values in read_json_lines(text, source).items()}
    is_noted = encoding is None and found in ENCODING_NAMES
    notes = (f"encoding {ENCODING_NAMES[found]}",) if is_noted else ()
    return Reading(pd.DataFrame(columns), source, "json lines", encoding=found, notes=notes)


def _read_excel(content: bytes, source: str, sheet: str | int | None) -> Reading:
    header, rows, title, n_sheets = read_sheet(content, source, sheet)
    if not header:
        raise ValueError(f"{source} has an empty sheet {title!r}.")
    names = column_names(header)
    check_duplicates(names, source)
    cells = list(zip(*rows, strict=True)) if rows else [()] * len(names)
    frame = pd.DataFrame({name: _typed_column(values) for name, values in zip(names, cells, strict=True)})
    notes = (f"sheet {title!r}, the first of {n_sheets}",) if sheet is None and n_sheets > 1 else ()
    return Reading(frame, source, "excel", sheet=title, notes=notes)


def _read_parquet(content: bytes, source: str) -> pd.DataFrame:
    try:
        frame = pd.read_parquet(io.BytesIO(content))
        # An index with a name is a column that pandas has set aside.
        return frame.reset_index(drop=all(name is None for name in frame.index.names))
    except ImportError as error:
        raise without_parquet(source) from error
    except (ValueError, OSError) as error:  # pyarrow's own errors are among them
        raise ValueError(f"{source} is not a complete Parquet file.") from error


def _typed_column(values: Sequence[Any]) -> pd.Series:
    """Return values of a file with types as a column: of numbers, bools or dates if all are, else objects."""
    cells = [None if isinstance(cell, str) and cell.strip() in _MISSING else cell for cell in values]
    present = [cell for cell in cells if cell is not None]
    types = {type(cell) for cell in present}
    is_complete = len(present) == len(cells)
    if types and types <= {int, float}:
        is_integer = types == {int} and is_complete and all(abs(cell) < 2**63 for cell in present)
        if is_integer:
            return pd.Series(cells, dtype="int64")
        return pd.Series([math.nan if cell is None else as_float(cell) for cell in cells], dtype="float64")
    if types == {bool} and is_complete:
        return pd.Series(cells, dtype=bool)
    if types and all(issubclass(type_, date) for type_ in types):
        return pd.Series(pd.DatetimeIndex(cells).as_unit("us"))
    return pd.Series(cells, dtype=object)


def column_names(names: Sequence[Any]) -> list[str]:
    """Return names without spaces around them; those of columns without a name are numbered, as in pandas."""
    texts = [str(name).strip() for name in names]
    return [text or f"Unnamed: {position}" for position, text in enumerate(texts)]


def check_duplicates(names: list[str], source: str) -> None:
    """Raise ValueError if two columns have the same name."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise ValueError(f"{source} has more than one column {name!r}.")
        seen.add(name)
