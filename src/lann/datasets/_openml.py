"""Download data sets from OpenML and give them the columns and labels of the data files."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPException
from typing import TYPE_CHECKING

from lann.datasets._specs import DatasetSpec

if TYPE_CHECKING:
    import pandas as pd


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
