"""The folders in which data files are looked for."""

from __future__ import annotations

import os
from pathlib import Path

DATA_VARIABLE = "LANN_DATA"
"""The environment variable that names a folder of data files."""


def data_folders() -> list[Path]:
    """
    List the folders that the environment variable ``LANN_DATA`` stands for.

    Returns
    -------
    folders
        Its sub-folder ``paper``, then the folder itself; empty if the variable is not set.
    """
    root = os.environ.get(DATA_VARIABLE)
    if not root:
        return []
    folder = Path(root).expanduser()
    return [folder / "paper", folder]


def cache_folder(data_home: str | os.PathLike[str] | None = None) -> Path:
    """
    Find the folder in which downloaded data sets are kept. It need not exist yet.

    Parameters
    ----------
    data_home
        The folder; None for ``lann`` in scikit-learn's data home.

    Returns
    -------
    folder
    """
    if data_home is not None:
        return Path(data_home).expanduser()
    from sklearn.datasets import get_data_home

    return Path(get_data_home()) / "lann"


def searched(file_names: str, cache: Path) -> list[str]:
    """
    Say, for an error, where files were looked for in vain.

    Parameters
    ----------
    file_names
        The file's name, or names, in the user's words.
    cache
        The folder searched after those of ``LANN_DATA``.

    Returns
    -------
    places
        One line for each place.
    """
    folders = data_folders()
    first = [f"{folder}: no {file_names}" for folder in folders] or [f"{DATA_VARIABLE}: not set"]
    return [*first, f"{cache}: no {file_names}"]
