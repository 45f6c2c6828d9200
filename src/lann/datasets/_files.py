"""Data sets in files: where they are searched, downloaded, verified and read."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import math
import os
import zlib
from array import array
from collections.abc import Iterator, Mapping, Sequence
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lann._support.files import read_content, write_atomically
from lann.datasets._specs import DatasetSpec, Table

if TYPE_CHECKING:
    import pandas as pd

DATA_VARIABLE = "LANN_DATA"
"""The environment variable that names a folder of data files."""


def data_folders() -> list[Path]:
    """
    Return the folders named by the environment variable ``LANN_DATA``.

    Returns
    -------
    folders : list of Path
        Its sub-folder ``paper``, then the folder itself; empty if the variable is not set.
    """
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return []
    folder = Path(root).expanduser()
    return [folder / "paper", folder]


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """
    Return the folder in which downloaded data sets are stored.

    The folder is not created by this function.

    Parameters
    ----------
    data_home : str, path-like or None, default=None
        The folder. If None, the sub-folder ``lann`` of scikit-learn's data home.

    Returns
    -------
    folder : Path
        The folder, with ``~`` expanded.

    See Also
    --------
    load : Load a data set.
    sklearn.datasets.get_data_home : Return the data home of scikit-learn.

    Examples
    --------
    >>> from lann.datasets import cache_folder
    >>> cache_folder().name
    'lann'
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    from sklearn.datasets import get_data_home

    return Path(get_data_home()) / "lann"


def searched_folders(file_names: str, cache: Path) -> list[str]:
    """
    Describe where a file was searched and not found, for an error message.

    Parameters
    ----------
    file_names : str
        The name of the file, or several names joined to a phrase.
    cache : Path
        The folder that was searched after those of ``LANN_DATA``.

    Returns
    -------
    lines : list of str
        One line for each folder, in the order of the search.
    """
    folders = data_folders()
    first = [f"{folder}: no {file_names}" for folder in folders] or [f"{DATA_VARIABLE}: not set"]
    return [*first, f"{cache}: no {file_names}"]


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


def download(spec: DatasetSpec) -> pd.DataFrame:
    """
    Download a data set from OpenML.

    Parameters
    ----------
    spec : DatasetSpec
        The data set. It must have an ``openml_id``.

    Returns
    -------
    frame : DataFrame
        The feature columns, followed by ``target`` as text, named as in the data files.

    Raises
    ------
    OSError
        If OpenML cannot be reached or returns an error.
    ValueError
        If the downloaded data is not the expected data set.
    """
    from sklearn.datasets import fetch_openml

    origin = f"OpenML data set {spec.openml_id}"
    try:
        # The renamed table is stored instead, in the cache of lann.
        bunch = fetch_openml(data_id=spec.openml_id, as_frame=True, cache=False)
    except (OSError, HTTPException, ValueError) as error:
        raise OSError(f"{origin}: {type(error).__name__}: {error}") from error
    frame = _rename(bunch.data, bunch.target, spec, origin)
    spec.check(frame, origin)
    return frame


def _rename(data: pd.DataFrame, target: pd.Series, spec: DatasetSpec, origin: str) -> pd.DataFrame:
    """
    Give the features and labels from OpenML the names of the data files.

    The feature columns of OpenML are in the same order as those of the files, under other names.
    """
    # OpenML's MagicTelescope has a column of row numbers.
    features = data.drop(columns=[name for name in data.columns if str(name).casefold() == "id"])
    if features.shape[1] != len(spec.columns):
        raise ValueError(
            f"{origin} does not contain {spec.name!r}: "
            f"expected {len(spec.columns)} features, found {features.shape[1]}."
        )
    if features.isna().any(axis=None) or target.isna().any():
        raise ValueError(f"{origin} does not contain {spec.name!r}: it has missing values.")
    try:
        frame = features.astype("float64").reset_index(drop=True)
    except ValueError as error:
        raise ValueError(f"{origin} does not contain {spec.name!r}: {error}.") from error
    frame.columns = list(spec.columns)
    labels = target.reset_index(drop=True)
    if labels.dtype.kind == "f":
        labels = labels.astype("int64")
    labels = labels.astype(str)
    return frame.assign(target=labels.map(match_labels(labels.value_counts().to_dict(), spec, origin)))


def match_labels(sizes: Mapping[str, int], spec: DatasetSpec, origin: str) -> dict[str, str]:
    """
    Match the labels used on OpenML to the classes of a data set.

    Parameters
    ----------
    sizes : mapping of str to int
        The number of rows of each label.
    spec : DatasetSpec
        The data set.
    origin : str
        Where the labels come from, for error messages.

    Returns
    -------
    classes : dict of str to str
        The class of each label: the one with the same name, ignoring case. If OpenML only numbers the
        classes, the one with the same number of rows, provided that all class sizes are different.

    Raises
    ------
    ValueError
        If the labels can be matched neither by name nor by class size.
    """
    expected = spec.class_sizes
    by_name = {name.casefold(): name for name in expected}
    if {label.casefold() for label in sizes} == set(by_name):
        classes = {label: by_name[label.casefold()] for label in sizes}
        if all(sizes[label] == expected[name] for label, name in classes.items()):
            return classes
    by_size = {size: name for name, size in expected.items()}
    if len(by_size) == len(expected) and sorted(sizes.values()) == sorted(by_size):
        return {label: by_size[size] for label, size in sizes.items()}
    raise ValueError(
        f"{origin} does not contain {spec.name!r}: "
        f"expected the class sizes {dict(expected)}, found {dict(sizes)}."
    )


def read_paper_file(
    spec: DatasetSpec, *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Table:
    """
    Read a data set from the first source that has it.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    data_home : str, path-like or None, default=None
        The folder of the cache. If None, the default one.
    download_if_missing : bool, default=True
        Whether to download the data set from OpenML into the cache if no folder has it.

    Returns
    -------
    table : Table
        The data set.

    Raises
    ------
    FileNotFoundError
        If no source has the data set.
    ValueError
        If the first file that is found has an unexpected hash or content.
    """
    frame = _read_frame(spec, data_home, download_if_missing)
    features = frame.iloc[:, spec.kept]
    target = frame["target"].to_numpy(dtype=str)
    return Table(
        name=spec.name,
        data=features.to_numpy(),
        target=target,
        feature_names=list(features.columns),
        target_names=np.unique(target),
        description=_describe(spec),
    )


def _read_frame(
    spec: DatasetSpec, data_home: str | os.PathLike[str] | None, download_if_missing: bool
) -> pd.DataFrame:
    for folder in data_folders():
        path = folder / spec.file_name
        if path.exists():
            return _parse_verified(path, [spec.sha256], spec)
    cache = cache_folder(data_home)
    cached = cache / spec.file_name
    if cached.exists():
        return _parse_verified(cached, [spec.sha256, *_recorded_hash(cached)], spec)
    if spec.openml_id is None:
        raise _not_found(spec, cache, "OpenML: does not have it")
    if not download_if_missing:
        raise _not_found(spec, cache, "OpenML: not searched, because download_if_missing=False")
    try:
        frame = download(spec)
    except OSError as error:
        raise _not_found(spec, cache, str(error)) from error
    content = serialize(frame)
    # The hash is written first: a hash without its file does no harm, a file without its hash is an error.
    write_atomically(_hash_file(cached), f"{hashlib.sha256(content).hexdigest()}  {cached.name}\n".encode())
    write_atomically(cached, content)
    return frame


def _parse_verified(path: Path, hashes: list[str], spec: DatasetSpec) -> pd.DataFrame:
    frame = parse(read_verified(path, hashes), path)
    spec.check(frame, str(path))
    return frame


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _recorded_hash(path: Path) -> list[str]:
    hash_file = _hash_file(path)
    return hash_file.read_text().split()[:1] if hash_file.is_file() else []


def _not_found(spec: DatasetSpec, cache: Path, openml: str) -> FileNotFoundError:
    searched = "".join(f"\n  - {line}" for line in [*searched_folders(spec.file_name, cache), openml])
    own_copy = (
        f"put {spec.file_name} into the folder named by LANN_DATA or into {cache}. A file that you create "
        f"from the source yourself (a header row, {len(spec.columns)} features, then target) goes into "
        f"{cache}, with its SHA-256 in a file {spec.file_name}.sha256 next to it."
    )
    if spec.openml_id is None:
        advice = own_copy[0].upper() + own_copy[1:]
    else:
        advice = f"Load it once with access to OpenML, or {own_copy}"
    return FileNotFoundError(
        f"The data set {spec.name!r} was not found. Searched:{searched}\nSource: {spec.source}.\n{advice}"
    )


def _describe(spec: DatasetSpec) -> str:
    dropped = ", ".join(spec.columns[column] for column in spec.dropped)
    lines = [
        f"{spec.name}: {spec.n_samples} rows, {len(spec.kept)} features, {len(spec.class_sizes)} classes.",
        f"Dropped, as in the paper: {dropped}." if dropped else "",
        f"Source: {spec.source}.",
        f"Cite: {spec.citation}.",
    ]
    return "\n".join(line for line in lines if line)


_FILE_NAMES = ("adrenal.csv.gz", "adrenal.csv")


def read_adrenal(
    *, path: str | os.PathLike[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> Table:
    """
    Read the user's copy of the adrenal data.

    Parameters
    ----------
    path : str, path-like or None, default=None
        The file. If None, ``adrenal.csv.gz`` or ``adrenal.csv`` is searched in the folder named by the
        environment variable ``LANN_DATA`` and in the cache.
    data_home : str, path-like or None, default=None
        The folder of the cache. If None, the default one.

    Returns
    -------
    table : Table
        The data set.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not a table of numbers with the class in its last column.
    """
    file = _find_file(data_home) if path is None else _check_file(Path(path).expanduser())
    frame = parse(read_content(file), file)
    features = frame.iloc[:, :-1]
    target = frame["target"].to_numpy(dtype=str)
    classes = np.unique(target)
    return Table(
        name="adrenal",
        data=features.to_numpy(),
        target=target,
        feature_names=list(features.columns),
        target_names=classes,
        description=(
            f"adrenal: {features.shape[0]} rows, {features.shape[1]} features, {len(classes)} classes, "
            f"from {file}.\n"
            "Patient data that is not public; the data in the paper has 147 rows, 32 features and 2 classes."
        ),
    )


def _check_file(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"path={str(path)!r} does not exist or is not a file.")
    return path


def _find_file(data_home: str | os.PathLike[str] | None) -> Path:
    cache = cache_folder(data_home)
    for folder in [*data_folders(), cache]:
        for path in (folder / file_name for file_name in _FILE_NAMES):
            if path.exists():
                return path
    searched = "".join(f"\n  - {line}" for line in searched_folders(" or ".join(_FILE_NAMES), cache))
    raise FileNotFoundError(
        "The data set 'adrenal' is patient data that is not public, so it cannot be downloaded. If you have "
        "a copy (comma-separated, with a header row and the class in the last column), pass path=..., or put "
        f"it into the folder named by LANN_DATA, as adrenal.csv or adrenal.csv.gz. Searched:{searched}"
    )
