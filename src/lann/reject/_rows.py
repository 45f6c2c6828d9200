"""Rows of arrays and tables, and values that belong to rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._types import Indices


def take_rows(X: Any, rows: Indices) -> Any:
    """Return some rows of an array, or of a table of pandas, polars or pyarrow."""
    if hasattr(X, "iloc"):
        return X.iloc[rows]
    if hasattr(X, "take") and not isinstance(X, np.ndarray):  # pyarrow
        return X.take(rows)
    return X[rows]


def take_parameters(parameters: dict[str, Any], rows: Indices, n_rows: int) -> dict[str, Any]:
    """Return the parameters of a fit; those with a value for each of the rows are taken for some of them."""
    return {name: _take(value, rows, n_rows) for name, value in parameters.items()}


def _take(value: Any, rows: Indices, n_rows: int) -> Any:
    if isinstance(value, str | dict) or not hasattr(value, "__len__") or len(value) != n_rows:
        return value
    return take_rows(value if hasattr(value, "shape") else np.asarray(value), rows)


def marker_of(classes: NDArray[Any], reject_label: Any) -> Any:
    """Return what stands for a rejected row among predicted labels.

    Parameters
    ----------
    classes : (n_classes,)
    reject_label : object or None
        None is "rejected" among text and other labels, and among numbers -1, or one less than the smallest
        where labels are negative.

    Raises
    ------
    ValueError
        If it is one of the classes.
    """
    if reject_label is None:
        if classes.dtype.kind in "iuf":
            reject_label = min(-1, int(np.floor(classes.min())) - 1)
        else:
            reject_label = "rejected"
    if reject_label in classes.tolist():
        raise ValueError(f"{reject_label!r} is one of the classes; give another reject_label.")
    return reject_label


def labels_with_marker(labels: NDArray[Any], marker: Any, rejected: NDArray[np.bool_]) -> NDArray[Any]:
    """Return labels in which a marker takes the position of those that are rejected.

    The type of the result has both, whether rows are rejected or not.
    """
    marked = np.asarray(marker)
    numbers = labels.dtype.kind in "iuf" and marked.dtype.kind in "iuf"
    texts = labels.dtype.kind == "U" and marked.dtype.kind == "U"
    dtype = np.result_type(labels.dtype, marked.dtype) if numbers or texts else np.dtype(object)
    out = labels.astype(dtype)
    out[rejected] = marker
    return out
