"""Tables in files: CSV, plain or gzip, and Parquet."""

from __future__ import annotations

import gzip
import io
import os
import zlib
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING

from lann._files import write_atomically

if TYPE_CHECKING:
    import pandas as pd

KINDS = (".csv", ".csv.gz", ".parquet")

# Not "None", which people use as a label. "?" is how the UCI repository writes it.
MISSING = ("", "NA", "N/A", "NaN", "nan", "null", "NULL", "?")


def kind_of(path: Path) -> str:
    """The kind of a file, by its name."""
    for kind in KINDS:
        if path.name.lower().endswith(kind):
            return kind
    raise ValueError(f"{path} is of an unknown kind; give a file that ends in {' or '.join(KINDS)}.")


def read_table(path: Path) -> pd.DataFrame:
    """Read a table with at least one row.

    CSV cells come as text: whether a column is numeric is for the whole column, or for the model, to say.
    """
    kind = kind_of(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder, not a file.")
    if not path.exists():
        raise FileNotFoundError(f"There is no file {path}.")
    frame = _read_parquet(path) if kind == ".parquet" else _read_csv(path)
    frame.columns = [str(name) for name in frame.columns]
    if frame.columns.has_duplicates:
        twice = frame.columns[frame.columns.duplicated()][0]
        raise ValueError(f"{path} has more than one column {twice!r}.")
    if frame.empty:
        raise ValueError(f"{path} has no rows.")
    return frame


def check_output(path: Path, kinds: tuple[str, ...] = KINDS) -> None:
    """Raise now, rather than after the work, if a file cannot be written."""
    if kinds:
        kind_of(path)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; give the name of a file to write.")
    if not path.parent.is_dir():
        raise FileNotFoundError(f"There is no folder {path.parent} to write {path.name} in.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise PermissionError(f"The folder {path.parent} does not allow to write {path.name} in it.")
    if path.suffix.lower() == ".parquet" and find_spec("pyarrow") is None:
        raise _without_parquet(path)


def write_table(frame: pd.DataFrame, path: Path) -> None:
    """Write a table, whole or not at all."""
    check_output(path)
    kind = kind_of(path)
    if kind == ".parquet":
        buffer = io.BytesIO()
        try:
            frame.to_parquet(buffer, index=False)
        except ImportError as error:
            raise _without_parquet(path) from error
        content = buffer.getvalue()
    else:
        content = frame.to_csv(index=False, lineterminator="\n").encode()
        if kind == ".csv.gz":
            content = gzip.compress(content, mtime=0)
    write_atomically(path, content)


def _read_csv(path: Path) -> pd.DataFrame:
    import pandas as pd

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
    if twice := _repeated(path):
        raise ValueError(f"{path} has more than one column {twice!r}.")
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(f"{path} has rows with more cells than the header.")
    return frame


def _repeated(path: Path) -> str | None:
    """A name that stands twice in the header, which pandas would silently change."""
    import pandas as pd

    header = pd.read_csv(path, header=None, nrows=1, dtype=str, encoding="utf-8-sig", keep_default_na=False)
    names = header.iloc[0]
    return next(iter(names[names.duplicated()]), None)


def _read_parquet(path: Path) -> pd.DataFrame:
    import pandas as pd

    try:
        return pd.read_parquet(path).reset_index(drop=True)
    except ImportError as error:
        raise _without_parquet(path) from error
    except (ValueError, OSError) as error:  # pyarrow's own errors are among them
        raise ValueError(f"{path} is not a whole Parquet file.") from error


def _without_parquet(path: Path) -> ImportError:
    return ImportError(f"{path} needs pyarrow, which is not installed: pip install 'lann[parquet]'.")
