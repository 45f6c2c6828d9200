"""The adrenal data set of the paper, which is not public: read from a file that the user provides."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lann._files import read_content
from lann.datasets._csv_file import parse
from lann.datasets._folders import cache_folder, data_folders, searched_folders
from lann.datasets._table import Table

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
