"""Data sets from OpenML, rearranged to the columns and labels used here."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING

from lann.datasets.file_sets import FileSet

if TYPE_CHECKING:
    import pandas as pd


def download(file_set: FileSet) -> pd.DataFrame:
    """
    Fetch a data set from OpenML.

    Parameters
    ----------
    file_set
        The data set; it must have an ``openml_id``.

    Returns
    -------
    frame
        Feature columns, then ``target`` as text, named as in the files.

    Raises
    ------
    OSError
        If OpenML could not be reached or answered with an error.
    ValueError
        If what it delivered is not the data set expected.
    """
    from sklearn.datasets import fetch_openml

    try:
        bunch = fetch_openml(
            data_id=file_set.openml_id,
            as_frame=True,
            # The rearranged table is what is kept; a second copy would serve nobody.
            cache=False,
        )
    except (OSError, HTTPException, ValueError) as error:
        raise OSError(f"OpenML data set {file_set.openml_id}: {type(error).__name__}: {error}") from error
    origin = f"OpenML data set {file_set.openml_id}"
    frame = rearranged(bunch.data, bunch.target, file_set, origin)
    file_set.check(frame, origin)
    return frame


def rearranged(data: pd.DataFrame, target: pd.Series, file_set: FileSet, origin: str) -> pd.DataFrame:
    """
    Give OpenML's features and labels the names used in the files.

    Parameters
    ----------
    data, target
        As OpenML delivers them. Feature columns are in the source's order, under other names.
    file_set
        The data set.
    origin
        Where the data came from, for messages.

    Returns
    -------
    frame
        Feature columns, then ``target`` as text.

    Raises
    ------
    ValueError
        If the number of columns, a value or the classes do not fit.
    """
    # MagicTelescope numbers its rows.
    features = data.drop(columns=[name for name in data.columns if str(name).casefold() == "id"])
    if features.shape[1] != len(file_set.columns):
        raise ValueError(
            f"{origin} does not hold {file_set.name!r}: "
            f"expected {len(file_set.columns)} features, found {features.shape[1]}."
        )
    if features.isna().any(axis=None) or target.isna().any():
        raise ValueError(f"{origin} does not hold {file_set.name!r}: there are missing values.")
    try:
        frame = features.astype("float64").reset_index(drop=True)
    except ValueError as error:
        raise ValueError(f"{origin} does not hold {file_set.name!r}: {error}.") from error
    frame.columns = list(file_set.columns)
    labels = target.reset_index(drop=True)
    if labels.dtype.kind == "f":
        labels = labels.astype("int64")
    labels = labels.astype(str)
    renamed = label_names(labels.value_counts().to_dict(), file_set, origin)
    return frame.assign(target=labels.map(renamed))


def label_names(found: Mapping[str, int], file_set: FileSet, origin: str) -> dict[str, str]:
    """
    Find out which of OpenML's labels stands for which class.

    Parameters
    ----------
    found
        Rows of each label.
    file_set
        The data set, with the rows of each class.
    origin
        Where the labels came from, for messages.

    Returns
    -------
    names
        The class for each label: by its name but for the case, or else, where classes are only numbered, by
        its size, provided that all sizes differ.

    Raises
    ------
    ValueError
        If neither tells.
    """
    expected = file_set.class_sizes
    by_name = {name.casefold(): name for name in expected}
    if {label.casefold() for label in found} == set(by_name):
        renamed = {label: by_name[label.casefold()] for label in found}
        if all(found[label] == expected[name] for label, name in renamed.items()):
            return renamed
    by_size = {size: name for name, size in expected.items()}
    if len(by_size) == len(expected) and sorted(found.values()) == sorted(by_size):
        return {label: by_size[size] for label, size in found.items()}
    raise ValueError(
        f"{origin} does not hold {file_set.name!r}: "
        f"expected the class sizes {dict(expected)}, found {dict(found)}."
    )
