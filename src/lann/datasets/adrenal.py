"""The paper's adrenal data set, which is not public: read from a file of the user's."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from lann.datasets.csv_file import parse
from lann.datasets.folders import cache_folder, data_folders, searched
from lann.datasets.table import Table

_FILE_NAMES = ("adrenal.csv.gz", "adrenal.csv")


def read(
    *, path: str | os.PathLike[str] | None = None, data_home: str | os.PathLike[str] | None = None
) -> Table:
    """
    Read the user's copy of the adrenal data.

    Parameters
    ----------
    path
        The file; None to look for ``adrenal.csv.gz`` or ``adrenal.csv`` in the folder named by ``LANN_DATA``
        and in the cache.
    data_home
        The folder of the cache; None for the default.

    Returns
    -------
    table

    Raises
    ------
    FileNotFoundError
        If there is no such file.
    ValueError
        If the file is not a table of numbers with the class in its last column.
    """
    file = _find(data_home) if path is None else _given(Path(path).expanduser())
    frame = parse(file.read_bytes(), file)
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
            "Patient data that is not public; the paper's has 147 rows, 32 features, 2 classes."
        ),
    )


def _given(path: Path) -> Path:
    if not path.is_file():
        raise FileNotFoundError(f"path={str(path)!r}: there is no such file.")
    return path


def _find(data_home: str | os.PathLike[str] | None) -> Path:
    cache = cache_folder(data_home)
    for folder in [*data_folders(), cache]:
        for path in (folder / file_name for file_name in _FILE_NAMES):
            if path.is_file():
                return path
    places = "".join(f"\n  - {place}" for place in searched(" or ".join(_FILE_NAMES), cache))
    raise FileNotFoundError(
        "The data set 'adrenal' is patient data that is not public, so it cannot be downloaded. If you have "
        "a copy (comma-separated, a header row, the class in the last column), pass path=..., or put it, as "
        f"adrenal.csv or adrenal.csv.gz, into the folder named by LANN_DATA. Searched:{places}"
    )
