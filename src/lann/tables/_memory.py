"""How much memory there is, and how many rows of a table fit into it."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import NamedTuple, Unpack

from lann._support.format import size_text
from lann._support.types import MANY_ROWS
from lann._support.validation import Integer, validate
from lann.tables._reading import STANDARD_INPUT, open_table
from lann.tables._table_file import FileOptions

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
UNITS = {"": 1, "B": 1, "KB": 10**3, "MB": 10**6, "GB": 10**9, "TB": 10**12,
         "KIB": 2**10, "MIB": 2**20, "GIB": 2**30, "TIB": 2**40}  # fmt: skip
_SIZE = re.compile(r"\s*(\d+(?:\.\d+)?)\s*([a-zA-Z]*)\s*")
_MEMINFO = Path("/proc/meminfo")


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
    if match is None or match[2].upper() not in UNITS or float(match[1]) <= 0:
        raise ValueError(f"A memory must be a size such as 2GB or 500MB; got {size!r}.")
    return int(float(match[1]) * UNITS[match[2].upper()])


def available_memory() -> int:
    """Return the share of the available memory that a fit may take."""
    available = 4 << 30  # where it is unknown
    if _MEMINFO.exists():
        available = int(re.findall(r"MemAvailable:\s+(\d+) kB", _MEMINFO.read_text())[0]) * 1024
    elif hasattr(os, "sysconf"):  # half of the memory is taken as available
        available = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 2
    return int(SHARE_OF_AVAILABLE * available)
