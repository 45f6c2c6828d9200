"""Rows of a stream, checked as scikit-learn does."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lann._inputs import get_feature_names
from lann._types import Floats

# Squares of differences of such values are finite, and so are their sums.
LARGEST_VALUE = 1e149


def read_labeled_rows(estimator: Any, X: Any, y: Any, *, reset: bool) -> tuple[Floats, NDArray[Any]]:
    """Return rows and labels; `reset` sets the features of the estimator, otherwise they are checked."""
    rows, labels = validate_data(
        estimator, X, y, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=reset
    )
    check_classification_targets(labels)
    _check_sizes(estimator, rows)
    return _writeable(rows), labels


def check_same_kind(labels: NDArray[Any], classes: NDArray[Any]) -> None:
    """Raise ValueError if labels are text and classes are numbers, or the other way round."""
    if len(classes) and (labels.dtype.kind in "OUS") != (classes.dtype.kind in "OUS"):
        raise ValueError(
            f"y has labels of another type, such as {labels.tolist()[0]!r}, than the classes "
            f"{classes.tolist()[:5]}."
        )


def read_rows(estimator: Any, X: Any) -> Floats:
    """Return queries of a fitted estimator as numbers."""
    rows: Floats = validate_data(
        estimator, X, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=False
    )
    _check_sizes(estimator, rows)
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
    rows = read_rows(estimator, x if np.ndim(x) != 1 else _as_table(estimator, x))
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


def _check_sizes(estimator: Any, rows: Floats) -> None:
    too_large = np.abs(rows) > LARGEST_VALUE
    if too_large.any():
        name = get_feature_names(estimator)[too_large.any(axis=0).argmax()]
        raise ValueError(f"The values of feature {name!r} are too large to be squared; scale them down.")
