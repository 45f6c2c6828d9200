"""Rows of a stream, checked as scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lann._support.inputs import another_type, check_one_type, get_feature_names
from lann._support.sizes import check_values
from lann._support.types import Floats
from lann._support.validation import count_dimensions


def read_labeled_rows(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Floats, NDArray[Any]]:
    """Return rows and labels; `reset` sets the features of the estimator, otherwise they are checked."""
    rows, labels = validate_data(
        estimator, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=reset
    )
    check_one_type("y", labels)
    check_classification_targets(labels)
    check_values(rows, lambda: get_feature_names(estimator))
    return _writeable(rows), labels


def read_classes(classes: Any) -> NDArray[Any]:
    """Return labels that are known to occur, sorted; raise ValueError unless they are a list of labels."""
    try:
        found = np.asarray(classes)
    except ValueError:
        raise ValueError("classes must be a list of labels.") from None
    if found.ndim != 1:
        raise ValueError(f"classes must be a list of labels; got an array of shape {found.shape}.")
    check_one_type("classes", found)
    if found.dtype.kind == "f" and np.isnan(found).any():
        raise ValueError("classes must not have missing labels (NaN).")
    return np.unique(found)


def as_type_of(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels such that those beside the classes do not change the type of the classes.

    Raises
    ------
    ValueError
        If labels are text and classes are numbers, or the other way round, or if a label is no number of the
        type of the classes.
    """
    if not len(classes):
        return labels
    is_text = labels.dtype.kind in "OUS"
    if is_text != (classes.dtype.kind in "OUS"):
        raise another_type(labels.tolist()[0], classes)
    if is_text:
        return labels
    try:
        kind, common = classes.dtype.kind, np.result_type(classes, labels).kind
    except TypeError:  # such as dates and numbers
        raise another_type(labels.tolist()[0], classes) from None
    if common == kind or (kind in "iu" and common in "iu"):
        return labels
    with np.errstate(invalid="ignore"):
        converted = labels.astype(classes.dtype)
    changed = converted != labels
    if changed.any():
        raise another_type(labels[changed].tolist()[0], classes)
    return converted


def read_rows(estimator: Any, X: Any) -> Floats:
    """Return queries of a fitted estimator as numbers."""
    rows: Floats = validate_data(
        estimator, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False
    )
    check_values(rows, lambda: get_feature_names(estimator))
    return _writeable(rows)


def _writeable(values: Any) -> Any:
    """Return an array that can be written to, a copy if need be: kernels are compiled for these only."""
    return values if type(values) is np.ndarray and values.flags.writeable else np.array(values)


def with_writeable_arrays(record: Any) -> Any:
    """Return a named tuple whose arrays can be written to; those of a file that is mapped cannot."""
    values = (_writeable(value) if isinstance(value, np.ndarray) else value for value in record)
    return type(record)(*values)


def read_one_row(estimator: Any, x: Any) -> Floats:
    """Return one query of a fitted estimator, given as a row or as a table with one row: (n_features,)."""
    rows = read_rows(estimator, _as_table(estimator, x) if count_dimensions(x) == 1 else x)
    if len(rows) != 1:
        raise ValueError(f"explain_one explains one row; got {len(rows)} rows.")
    return rows[0]


def _as_table(estimator: Any, x: Any) -> Any:
    """Return a row as a table, with the names that it has or with those of the fit."""
    if hasattr(x, "to_frame"):
        return x.to_frame().T
    row = np.asarray(x)[None]
    if not hasattr(estimator, "feature_names_in_") or row.shape[1] != estimator.n_features_in_:
        return row
    import pandas as pd

    return pd.DataFrame(row, columns=estimator.feature_names_in_)
