"""Data sets in files: what is expected in them, where they are searched, and how they are downloaded."""

from __future__ import annotations

import gzip
import hashlib
import os
import tomllib
from collections.abc import Sequence
from http.client import HTTPException
from importlib.resources import files
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from sklearn import datasets

from lann._support.files import write_atomically

Folder = str | os.PathLike[str]


class DatasetSpec(NamedTuple):
    """
    The expected content of a data set that is stored as ``<name>.csv.gz``: features, then ``target``.

    Attributes
    ----------
    name : str
        The canonical name.
    source : str
        Where the data come from, and the publication to cite.
    sha256 : str
        The hash of the compressed file as distributed.
    columns : list of str
        The names of the feature columns in the file.
    class_sizes : dict of str to int
        The number of rows of each class.
    openml_id : int or None, default=None
        The number of the data set on OpenML; None if it is not there.
    dropped : sequence of str, default=()
        The feature columns that are not used in the paper.
    """

    name: str
    source: str
    sha256: str
    columns: list[str]
    class_sizes: dict[str, int]
    openml_id: int | None = None
    dropped: Sequence[str] = ()


_TABLE = tomllib.loads(files("lann.datasets").joinpath("paper_sets.toml").read_text("utf-8"))
SPECS = {name: DatasetSpec(name, **spec) for name, spec in _TABLE.items()}
"""The data sets that are read from files, by name."""


def cache_folder(data_home: Folder | None = None) -> Path:
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
    return Path(datasets.get_data_home()) / "lann"


def _find(cache: Path, *names: str) -> Path | None:
    """Return the first file with one of the names in the folders of ``LANN_DATA`` or in the cache."""
    root = os.environ.get("LANN_DATA")
    folders = [Path(root).expanduser() / "paper", Path(root).expanduser(), cache] if root else [cache]
    files = (folder / name for folder in folders for name in names)
    return next((file for file in files if file.exists()), None)


def read_table(path: Path) -> pd.DataFrame:
    """
    Read a file as a table.

    Parameters
    ----------
    path : Path
        Comma-separated text in UTF-8 with a header row, gzip-compressed if the name ends in ``.gz``. The last
        column is the class.

    Returns
    -------
    frame : DataFrame
        The features as float64, with empty cells and ``NA`` as NaN, followed by ``target`` as text.

    Raises
    ------
    ValueError
        If the file is not such a table.
    """
    try:
        # "-sig": spreadsheet programs write a byte order mark before the name of the first column.
        frame = pd.read_csv(path, dtype=str, keep_default_na=False, encoding="utf-8-sig")
        *names, label = frame.columns
        features = frame[names].replace(["", "NA"], np.nan).to_numpy(dtype=np.float64)
        has_header = not np.isfinite(pd.to_numeric(names, errors="coerce")).all()
        has_rows = isinstance(frame.index, pd.RangeIndex) and len(frame)
        if not (has_header and has_rows) or "target" in names:
            raise ValueError("it has no features, header or rows, or more values in a row than in the header")
        if frame[label].isna().any() or (frame[label].str.strip() == "").any():
            raise ValueError("a row has no class")
    except (EOFError, gzip.BadGzipFile, ValueError) as error:
        raise ValueError(
            f"{path} is damaged, or not a comma-separated table with a header row, numbers, and the class in "
            f"the last column: {error}. Replace it with a complete copy."
        ) from error
    return pd.DataFrame(features, columns=names).assign(target=frame[label])


def read_dataset(spec: DatasetSpec, data_home: Folder | None, *, download_if_missing: bool) -> pd.DataFrame:
    """
    Read a data set from the first source that has it: ``LANN_DATA``, the cache, or OpenML.

    Parameters
    ----------
    spec : DatasetSpec
        The data set.
    data_home : str, path-like or None
        The folder of the cache. If None, the default one.
    download_if_missing : bool
        Whether to download the data set from OpenML into the cache if no folder has it.

    Returns
    -------
    frame : DataFrame
        The feature columns that are used in the paper, followed by ``target``.

    Raises
    ------
    FileNotFoundError
        If no source has the data set.
    ValueError
        If the first file that is found has an unexpected hash or content.
    """
    cache, name = cache_folder(data_home), f"{spec.name}.csv.gz"
    path = _find(cache, name)
    if path is not None:
        # The hash of a table from OpenML is not known.
        if path.parent != cache and hashlib.sha256(path.read_bytes()).hexdigest() != spec.sha256:
            raise ValueError(
                f"{path} is damaged or not the expected file: its SHA-256 is not {spec.sha256}. Replace "
                "it with an unaltered copy, or delete it to search for the data set elsewhere."
            )
        frame, origin = read_table(path), str(path)
    else:
        origin = f"OpenML data set {spec.openml_id}"
        try:
            if spec.openml_id is None or not download_if_missing:
                raise OSError("it is not on OpenML" if download_if_missing else "download_if_missing=False")
            frame = _download(spec)
        except (OSError, HTTPException, ValueError) as error:
            raise FileNotFoundError(
                f"The data set {spec.name!r} was not found: {name} is neither in LANN_DATA, which is "
                f"{os.environ.get('LANN_DATA')}, nor in the cache, {cache}; {origin}: {error}. Source: "
                f"{spec.source}."
            ) from error
    sizes, expected = frame["target"].value_counts().to_dict(), [*spec.columns, "target"]
    if list(frame.columns) != expected or sizes != spec.class_sizes:
        raise ValueError(
            f"{origin} does not contain {spec.name!r}: expected the columns {' '.join(expected)} and the "
            f"class sizes {spec.class_sizes}; got the columns {' '.join(map(str, frame.columns))} and the "
            f"class sizes {sizes}."
        )
    if path is None:
        text = frame.to_csv(index=False, lineterminator="\n")
        write_atomically(cache / name, gzip.compress(text.encode(), mtime=0))
    return frame.drop(columns=list(spec.dropped))


def _download(spec: DatasetSpec) -> pd.DataFrame:
    """Download a data set from OpenML, and give it the names of the data files."""
    # The renamed table is stored instead, in the cache of lann.
    bunch = datasets.fetch_openml(data_id=spec.openml_id, as_frame=True, cache=False)
    # The columns of OpenML are in the order of the files, under other names; MagicTelescope has row numbers.
    features = bunch.data.drop(columns=[name for name in bunch.data if str(name).casefold() == "id"])
    frame = features.astype("float64").reset_index(drop=True)
    if frame.shape[1] == len(spec.columns):
        frame.columns = spec.columns
    labels = bunch.target.reset_index(drop=True).astype(str)
    by_size = {size: name for name, size in spec.class_sizes.items()}
    if len(by_size) == len(spec.class_sizes):  # all sizes differ: OpenML may only number the classes
        classes = {label: by_size.get(size, label) for label, size in labels.value_counts().items()}
    else:
        by_name = {name.casefold(): name for name in spec.class_sizes}
        classes = {label: by_name.get(label.casefold(), label) for label in labels.unique()}
    return frame.assign(target=labels.map(classes))


def read_adrenal(path: Folder | None, data_home: Folder | None) -> tuple[pd.DataFrame, Path]:
    """
    Read the user's copy of the adrenal data.

    Parameters
    ----------
    path : str, path-like or None
        The file. If None, ``adrenal.csv.gz`` or ``adrenal.csv`` is searched in the folder named by the
        environment variable ``LANN_DATA`` and in the cache.
    data_home : str, path-like or None
        The folder of the cache. If None, the default one.

    Returns
    -------
    frame : DataFrame
        The feature columns, followed by ``target``.
    path : Path
        The file.

    Raises
    ------
    FileNotFoundError
        If the file does not exist.
    ValueError
        If the file is not a table of numbers with the class in its last column.
    """
    cache = cache_folder(data_home)
    file = _find(cache, "adrenal.csv.gz", "adrenal.csv") if path is None else Path(path).expanduser()
    if file is None:
        raise FileNotFoundError(
            "The data set 'adrenal' is patient data that is not public, so it cannot be downloaded. If you "
            "have a copy (comma-separated, with a header row and the class in the last column), pass path= "
            f"or put adrenal.csv into the folder named by LANN_DATA or into the cache, {cache}."
        )
    return read_table(file), file
