"""The folders in which data files are searched."""

from __future__ import annotations

import os
from pathlib import Path

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
