"""Tables as comma-separated files, plain or gzip: read, serialize, and verify by hash."""

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

if TYPE_CHECKING:
    import pandas as pd

_GZIP_MAGIC = b"\x1f\x8b"
_MISSING = ("", "NA")


def read_verified(path: Path, expected: Sequence[str]) -> bytes:
    """
    Read a file whose hash is known.

    Parameters
    ----------
    path
        The file.
    expected
        The SHA-256 hashes, in hexadecimal, of which the file must have one.

    Returns
    -------
    content
        The very bytes that were verified.

    Raises
    ------
    ValueError
        If the file has another hash.
    """
    content = path.read_bytes()
    found = hashlib.sha256(content).hexdigest()
    if found not in expected:
        raise ValueError(
            f"{path} is damaged or not the file expected: its SHA-256 is {found}, "
            f"expected {' or '.join(expected)}. "
            "Put an unaltered copy in its place, or delete it, so that the data set is looked for elsewhere."
        )
    return content


def parse(content: bytes, path: Path) -> pd.DataFrame:
    """
    Turn the content of a file into a table.

    Parameters
    ----------
    content
        Comma-separated text in UTF-8 with a header row, plain or gzip. The last column holds the class.
    path
        The file, for messages.

    Returns
    -------
    frame
        Features as float64 (cells empty or ``NA`` as NaN), then ``target`` as text.

    Raises
    ------
    ValueError
        If the content is no such table.
    """
    import pandas as pd

    rows = _rows(_decoded(content, path), path)
    names = _feature_names(next(rows, (0, []))[1], path)
    values, target = array("d"), []
    for line, row in rows:
        values.extend(_numbers(row, names, f"{path}, line {line}"))
        target.append(row[-1])
    if not target:
        raise ValueError(f"{path} has a header row and no others.")
    data = np.frombuffer(values).reshape(len(target), len(names))
    return pd.DataFrame(data, columns=names).assign(target=target)


def serialize(frame: pd.DataFrame) -> bytes:
    """
    Turn a table into the content of a ``.csv.gz`` file.

    Parameters
    ----------
    frame
        Feature columns, then ``target``.

    Returns
    -------
    content
        The same bytes for the same table.
    """
    text = frame.to_csv(index=False, lineterminator="\n")
    # A time stamp would give every download another hash.
    return gzip.compress(text.encode(), mtime=0)


def _decoded(content: bytes, path: Path) -> str:
    try:
        if content.startswith(_GZIP_MAGIC):
            content = gzip.decompress(content)
        # "-sig": spreadsheets put a byte order mark before the first column's name.
        return content.decode("utf-8-sig")
    except (EOFError, OSError, zlib.error, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is damaged ({error}). Replace it with a complete copy.") from error


def _rows(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows that are not blank, with their line numbers."""
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
            f"{path} needs a header row, at least one feature column and then the class, separated by "
            f"commas; its first line has {len(header)} column(s)."
        )
    if all(_is_number(name) for name in names):
        raise ValueError(
            f"{path} has no header row: its first line holds numbers. Add a line of column names."
        )
    if len({*names, "target"}) <= len(names):
        raise ValueError(
            f"{path}: the names of the features must differ, and 'target' is for the class, in the last "
            f"column; found {', '.join(header)}."
        )
    return names


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _numbers(row: list[str], names: list[str], place: str) -> list[float]:
    if len(row) != len(names) + 1:
        raise ValueError(f"{place}: expected {len(names) + 1} cells, as in the header row, found {len(row)}.")
    if not row[-1].strip():
        raise ValueError(f"{place}: the last cell, the class, is empty.")
    try:
        return [math.nan if cell in _MISSING else float(cell) for cell in row[:-1]]
    except ValueError as error:
        raise ValueError(f"{place}: features must be numbers: {error}.") from error
