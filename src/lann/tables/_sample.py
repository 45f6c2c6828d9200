"""A sample of the rows of a table that is larger than memory."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.types import Indices
from lann._support.validation import Integer, validate
from lann.columns.text import TableWarning, check_named_column, column_texts
from lann.tables._reading import FileOptions, Reading
from lann.tables._table_file import TableFile, open_table

# Rows of each class that are drawn at least, if there are as many.
FEWEST_OF_CLASS = 10
# Parts of the sample that are kept before they are merged.
MOST_PARTS = 64
Progress = Callable[[float, float], object]


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

    Parquet files are read by row groups, text with separators line by line: first the labels, by which the
    rows are drawn, then these rows. Rows without a label are left out. Every other row is drawn with the same
    probability, except that there are 10 rows of each class at least, or all of them.

    Parameters
    ----------
    path : str or path-like
        As for `read_table`. Other formats are read as a whole.
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
        ``reading.row_numbers`` are the positions of the rows in the file, for `TrainingTable.from_frame`.

    Raises
    ------
    ValueError
        As for `read_table`; if there is no such column, or it does not have classes.

    Warns
    -----
    TableWarning
        If rows without a label are left out.

    Examples
    --------
    >>> import os, tempfile
    >>> import numpy as np
    >>> import pandas as pd
    >>> from lann.tables import sample_table, write_table
    >>> frame = pd.DataFrame({"x": np.arange(5000), "y": np.repeat(["common", "rare"], [4990, 10])})
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "large.csv")
    ...     write_table(frame, path)
    ...     reading = sample_table(path, "y", 200)
    >>> len(reading.frame), (reading.frame["y"] == "rare").sum(), reading.row_numbers[-1]
    (200, np.int64(10), np.int64(4999))
    """
    validate("n_rows", n_rows, Integer(2))
    file = open_table(path, options)
    if file is None:
        reading = Reading.from_file(path, **options)
        labels = iter([column_texts(_target(reading.frame, target, reading.source))])
        rows, n_file, n_labels = _draw(labels, n_rows, random_state, target, reading.source)
        drawn = reading.frame.iloc[rows].reset_index(drop=True)
        drawn.attrs.update(reading.frame.attrs)
        return replace(reading, frame=drawn, row_numbers=rows, n_file_rows=n_file, n_labeled_rows=n_labels)
    check_named_column(pd.DataFrame(columns=file.columns), target, "target", file.name)
    rows, n_file, n_labels = _draw(_labels(file, target, callback), n_rows, random_state, target, file.name)
    parts = []
    for n_read, part in file.take(rows):
        parts.append(part)
        if len(parts) == MOST_PARTS:
            parts = [file.merged(parts)]
        _report(callback, file, n_read, half=1)
    reading = file.reading(file.joined(parts, rows), options.get("decimal"))
    return replace(
        reading,
        sha256=file.sha256(),
        row_numbers=rows,
        n_file_rows=n_file,
        n_labeled_rows=n_labels,
    )


def _target(frame: pd.DataFrame, target: str, name: str) -> pd.Series:
    check_named_column(frame, target, "target", name)
    return frame[target]


def _labels(file: TableFile, target: str, callback: Progress | None) -> Iterator[NDArray[Any]]:
    """Yield the labels of blocks of rows as text, None where missing."""
    for block in file.blocks([target]):
        yield column_texts(block[target])
        _report(callback, file, int(block.index[-1]) + 1, half=0)


def _report(callback: Progress | None, file: TableFile, n_read: int, *, half: int) -> None:
    """Report the progress: the labels are the first half of the work."""
    if callback is not None:
        n_rows = max(file.n_rows or file.n_rows_estimated, n_read)
        callback(half * n_rows + n_read, 2 * n_rows)


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
        rows = present + n_read
        drawn.add(rows, seed)
        for label, positions in pd.Series(present).groupby(texts[present]):
            highest = by_class.setdefault(label, HighestRanks(FEWEST_OF_CLASS))
            highest.add(positions.to_numpy() + n_read, seed)
        n_read, n_labels = n_read + len(texts), n_labels + len(rows)
        if len(by_class) > max(n_rows, 2):
            raise ValueError(
                f"The target {target!r} has {len(by_class)} different values in the first {n_read} rows of "
                f"{name}, more than the {n_rows} rows to draw; its values must be classes with several rows "
                "each."
            )
    if n_labels == 0:
        raise ValueError(f"The target {target!r} is empty in every row of {name}.")
    if n_missing := n_read - n_labels:
        have = "row has" if n_missing == 1 else "rows have"
        verb = "is" if n_missing == 1 else "are"
        warnings.warn(f"{n_missing:,} {have} no {target!r} and {verb} left out.", TableWarning, stacklevel=3)
    few = [highest.descending() for highest in by_class.values()]
    return _with_few(drawn.descending(), few, n_rows), n_read, n_labels


def _with_few(drawn: Indices, by_class: list[Indices], n_rows: int) -> Indices:
    """Return the first rows of each class and, for the rest of the rows, the first drawn ones."""
    n_each = max(min(FEWEST_OF_CLASS, n_rows // len(by_class)), 1)
    first = np.concatenate([rows[:n_each] for rows in by_class])
    others = drawn[~np.isin(drawn, first)][: max(n_rows - len(first), 0)]
    return np.sort(np.concatenate([first, others]))
