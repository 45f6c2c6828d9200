"""Tables in files: CSV, CSV with gzip, and Parquet."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from importlib.util import find_spec
from pathlib import Path

import pandas as pd

from lann._files import check_writable, write_atomically

FORMATS = (".csv", ".csv.gz", ".parquet")

# Cells that mean a missing value. "None" does not, because it is used as a label; "?" is how the UCI
# repository writes it.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")


def read_table(path: str | os.PathLike[str]) -> pd.DataFrame:
    """Read a table from a file.

    Cells of a CSV file are text: whether a column is numeric is decided later, from the whole column or by
    the model. Empty cells, NA, N/A, NaN, null and ? are missing values.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``.

    Returns
    -------
    frame : DataFrame
        With at least one row.

    Raises
    ------
    ValueError
        If the file has another format, is damaged, is empty, or has two columns of the same name.
    OSError
        If there is no such file.
    ImportError
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> from lann.tables import read_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("name,age\\nAnn,51\\nBea,?\\n")
    ...     read_table(path)
      name  age
    0  Ann   51
    1  Bea  NaN
    """
    path = Path(path)
    format = table_format(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    frame = _read_parquet(path) if format == ".parquet" else _read_csv(path)
    frame.columns = pd.Index([str(name) for name in frame.columns])
    if frame.columns.has_duplicates:
        raise _duplicate_column(path, frame.columns[frame.columns.duplicated()][0])
    if frame.empty:
        raise ValueError(f"{path} has no rows.")
    return frame


def write_table(frame: pd.DataFrame, path: str | os.PathLike[str]) -> None:
    """Write a table to a file, without its index; on failure nothing is written.

    Parameters
    ----------
    frame : DataFrame
    path : str or path-like
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``; an existing one is replaced.

    Raises
    ------
    ValueError
        If the file name has another ending.
    OSError
        If the file cannot be written.
    ImportError
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> import os, tempfile
    >>> import pandas as pd
    >>> from lann.tables import read_table, write_table
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "people.csv.gz")
    ...     write_table(pd.DataFrame({"name": ["Ann"], "age": [51]}), path)
    ...     read_table(path)
      name age
    0  Ann  51
    """
    path = Path(path)
    check_table_path(path)
    format = table_format(path)
    if format == ".parquet":
        buffer = io.BytesIO()
        try:
            frame.to_parquet(buffer, index=False)
        except ImportError as error:
            raise _without_parquet(path) from error
        content = buffer.getvalue()
    else:
        content = frame.to_csv(index=False, lineterminator="\n").encode()
        if format == ".csv.gz":
            content = gzip.compress(content, mtime=0)
    write_atomically(path, content)


def check_table_path(path: str | os.PathLike[str]) -> None:
    """Raise an error if a table cannot be written to a file; call it before long work.

    Parameters
    ----------
    path : str or path-like

    Raises
    ------
    ValueError
        If the file name does not end in ``.csv``, ``.csv.gz`` or ``.parquet``.
    OSError
        If the file cannot be written.
    ImportError
        If it is a Parquet file and pyarrow is not installed.

    Examples
    --------
    >>> from lann.tables import check_table_path
    >>> check_table_path("table.xlsx")
    Traceback (most recent call last):
    ValueError: table.xlsx has an unknown format; give a file name that ends in .csv, .csv.gz or .parquet.
    """
    path = Path(path)
    format = table_format(path)
    check_writable(path)
    if format == ".parquet" and find_spec("pyarrow") is None:
        raise _without_parquet(path)


def table_format(path: Path) -> str:
    """Return the format of a file, by its name."""
    for format in FORMATS:
        if path.name.lower().endswith(format):
            return format
    raise ValueError(f"{path} has an unknown format; give a file name that ends in {_listed(FORMATS)}.")


def _listed(names: tuple[str, ...]) -> str:
    return f"{', '.join(names[:-1])} or {names[-1]}"


def _read_csv(path: Path) -> pd.DataFrame:
    try:
        frame = pd.read_csv(
            path,
            dtype=str,
            encoding="utf-8-sig",
            keep_default_na=False,
            na_values=list(MISSING),
            low_memory=False,
        )
    except pd.errors.EmptyDataError as error:
        raise ValueError(f"{path} is empty.") from error
    except pd.errors.ParserError as error:
        detail = str(error).removeprefix("Error tokenizing data. C error: ").strip().rstrip(".")
        raise ValueError(f"{path} is not comma-separated text: {detail}.") from error
    except UnicodeDecodeError as error:
        raise ValueError(f"{path} is not text in UTF-8.") from error
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise ValueError(f"{path} is damaged: {str(error).rstrip('.')}.") from error
    # pandas renames the second of two columns of the same name; the header itself shows them.
    header = pd.read_csv(path, header=None, nrows=1, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    names = header.iloc[0]
    if names.duplicated().any():
        raise _duplicate_column(path, names[names.duplicated()].iloc[0])
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(f"{path} has rows with more cells than the header.")
    return frame


def _read_parquet(path: Path) -> pd.DataFrame:
    try:
        return pd.read_parquet(path).reset_index(drop=True)
    except ImportError as error:
        raise _without_parquet(path) from error
    except (ValueError, OSError) as error:  # pyarrow's own errors are among them
        raise ValueError(f"{path} is not a complete Parquet file.") from error


def _duplicate_column(path: Path, name: str) -> ValueError:
    return ValueError(f"{path} has more than one column {name!r}.")


def _without_parquet(path: Path) -> ImportError:
    return ImportError(f"{path} needs pyarrow, which is not installed: pip install 'lann[parquet]'.")
