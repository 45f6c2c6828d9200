"""One of the paper's real data sets: from a folder of the user's, the cache, or OpenML."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lann._files import write_atomically
from lann.datasets.csv_file import parse, read_verified, serialize
from lann.datasets.file_sets import FileSet
from lann.datasets.folders import cache_folder, data_folders, searched
from lann.datasets.openml import download
from lann.datasets.table import Table

if TYPE_CHECKING:
    import pandas as pd


def read(
    file_set: FileSet, *, data_home: str | os.PathLike[str] | None = None, download_if_missing: bool = True
) -> Table:
    """
    Read a data set from the first place that has it.

    Parameters
    ----------
    file_set
        The data set.
    data_home
        The folder of the cache; None for the default.
    download_if_missing
        Whether OpenML is asked, and its answer kept in the cache.

    Returns
    -------
    table

    Raises
    ------
    FileNotFoundError
        If no place has it.
    ValueError
        If the first file found has a hash, or a content, other than expected.
    """
    frame = _find(file_set, data_home, download_if_missing)
    features = frame.iloc[:, file_set.kept]
    target = frame["target"].to_numpy(dtype=str)
    return Table(
        name=file_set.name,
        data=features.to_numpy(),
        target=target,
        feature_names=list(features.columns),
        target_names=np.unique(target),
        description=_describe(file_set),
    )


def _find(
    file_set: FileSet, data_home: str | os.PathLike[str] | None, download_if_missing: bool
) -> pd.DataFrame:
    for folder in data_folders():
        path = folder / file_set.file_name
        if path.is_file():
            return _parse_checked(path, [file_set.sha256], file_set)
    cache = cache_folder(data_home)
    cached = cache / file_set.file_name
    if cached.is_file():
        return _parse_checked(cached, [file_set.sha256, *_recorded_hash(cached)], file_set)
    if file_set.openml_id is None:
        raise _missing(file_set, cache, "OpenML: does not have it")
    if not download_if_missing:
        raise _missing(file_set, cache, "OpenML: not asked, as download_if_missing=False")
    try:
        frame = download(file_set)
    except OSError as error:
        raise _missing(file_set, cache, str(error)) from error
    content = serialize(frame)
    # The hash goes first: without its file it does no harm, but a file without its hash would be refused.
    write_atomically(_hash_file(cached), f"{hashlib.sha256(content).hexdigest()}  {cached.name}\n".encode())
    write_atomically(cached, content)
    return frame


def _parse_checked(path: Path, hashes: list[str], file_set: FileSet) -> pd.DataFrame:
    frame = parse(read_verified(path, hashes), path)
    file_set.check(frame, str(path))
    return frame


def _hash_file(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _recorded_hash(path: Path) -> list[str]:
    hash_file = _hash_file(path)
    return hash_file.read_text().split()[:1] if hash_file.is_file() else []


def _missing(file_set: FileSet, cache: Path, openml: str) -> FileNotFoundError:
    places = "".join(f"\n  - {place}" for place in [*searched(file_set.file_name, cache), openml])
    own_copy = (
        f"Put {file_set.file_name} into the folder named by LANN_DATA or into {cache}. A file that you make "
        f"from the source yourself (header, {len(file_set.columns)} features, then target) goes into "
        f"{cache}, with its SHA-256 beside it as {file_set.file_name}.sha256."
    )
    advice = own_copy if file_set.openml_id is None else f"Load it once with access to OpenML, or: {own_copy}"
    return FileNotFoundError(
        f"The data set {file_set.name!r} was not found. Searched:{places}\n"
        f"Source: {file_set.source}.\n{advice}"
    )


def _describe(file_set: FileSet) -> str:
    left_out = ", ".join(file_set.columns[column] for column in file_set.dropped)
    lines = [
        f"{file_set.name}: {file_set.n_samples} rows, {len(file_set.kept)} features, "
        f"{len(file_set.class_sizes)} classes.",
        f"Left out, as in the paper: {left_out}." if left_out else "",
        f"Source: {file_set.source}.",
        f"Cite: {file_set.citation}.",
    ]
    return "\n".join(line for line in lines if line)
