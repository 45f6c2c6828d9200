"""Read a data set of the paper from the user's folder, from the cache or from OpenML."""

from __future__ import annotations

import hashlib
import os
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from lann._files import write_atomically
from lann.datasets._csv_file import parse, read_verified, serialize
from lann.datasets._folders import cache_folder, data_folders, searched_folders
from lann.datasets._openml import download
from lann.datasets._specs import DatasetSpec
from lann.datasets._table import Table

if TYPE_CHECKING:
    import pandas as pd


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
