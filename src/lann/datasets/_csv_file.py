"""Tables as comma-separated files, plain or gzip-compressed: verify by hash, parse, serialize."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import zlib
from array import array
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lann._files import read_content

if TYPE_CHECKING:
    import pandas as pd

_GZIP_MAGIC = b"\x1f\x8b"
_MISSING = ("", "NA")


def read_verified(path: Path, expected: Sequence[str]) -> bytes:
    """
    Read a file and verify its hash.

    Parameters
    ----------
    path : Path
        The file.
    expected : sequence of str
        The accepted SHA-256 hashes, in hexadecimal.

    Returns
    -------
    content : bytes
        The bytes that were verified.

    Raises
    ------
    ValueError
        If the file has another hash.
    """
    content = read_content(path)
    found = hashlib.sha256(content).hexdigest()
    if found not in expected:
        raise ValueError(
            f"{path} is damaged or not the expected file: its SHA-256 is {found}, "
            f"expected {' or '.join(expected)}. "
            "Replace it with an unaltered copy, or delete it to search for the data set elsewhere."
        )
    return content


def parse(content: bytes, path: Path) -> pd.DataFrame:
    """
    Parse the content of a file as a table.

    Parameters
    ----------
    content : bytes
        Comma-separated text in UTF-8 with a header row, plain or gzip-compressed. The last column is the
        class.
    path : Path
        The file, for error messages.

    Returns
    -------
    frame : DataFrame
        The features as float64, with empty cells and ``NA`` as NaN, followed by ``target`` as text.

    Raises
    ------
    ValueError
        If the content is not such a table.
    """
    import pandas as pd

    rows = _read_rows(_decode(content, path), path)
    names = _feature_names(next(rows, (0, []))[1], path)
    values, target = array("d"), []
    for line, row in rows:
        values.extend(_parse_features(row, names, f"{path}, line {line}"))
        target.append(row[-1])
    if not target:
        raise ValueError(f"{path} has a header row and no other rows.")
    data = np.frombuffer(values).reshape(len(target), len(names))
    return pd.DataFrame(data, columns=names).assign(target=target)


def serialize(frame: pd.DataFrame) -> bytes:
    """
    Serialize a table as the content of a ``.csv.gz`` file.

    Parameters
    ----------
    frame : DataFrame
        The feature columns, followed by ``target``.

    Returns
    -------
    content : bytes
        The content, identical for identical tables.
    """
    text = frame.to_csv(index=False, lineterminator="\n")
    # A time stamp would change the hash with every download.
    return gzip.compress(text.encode(), mtime=0)


def _decode(content: bytes, path: Path) -> str:
    try:
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
        # "-sig": spreadsheet programs write a byte order mark before the name of the first column.
        return content.decode("utf-8-sig")
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({error}). Replace it with a complete copy.") from error


def _read_rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the line number and the cells of every row that is not blank."""
    reader = csv.reader(io.StringIO(text, newline=""))
    try:
        for row in reader:
            if row:
                yield reader.line_num, row
    except csv.Error as error:
        raise ValueError(f"{path}, line {reader.line_num}: not comma-separated text: {error}.") from error


def _feature_names(header: list[str], path: Path) -> list[str]:
    names = header[:-1]
    if not names:
        raise ValueError(
            f"{path} needs a header row with at least one feature and the class, separated by commas; its "
            f"first line has {len(header)} column(s)."
        )
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{path} has no header row: its first line contains numbers. Add a line with the column names."
        )
    if len({*names, "target"}) <= len(names):
        raise ValueError(
            f"{path}: the names of the features must be unique and not 'target', which is the name of the "
            f"class; found {', '.join(header)}."
        )
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _parse_features(row: list[str], names: list[str], location: str) -> list[float]:
    if len(row) != len(names) + 1:
        raise ValueError(
            f"{location}: expected {len(names) + 1} cells, as in the header row, found {len(row)}."
        )
    if not row[-1].strip():
        raise ValueError(f"{location}: the last cell, the class, is empty.")
    try:
        return [math.nan if cell in _MISSING else float(cell) for cell in row[:-1]]
    except ValueError as error:
        raise ValueError(f"{location}: features must be numbers: {error}.") from error
