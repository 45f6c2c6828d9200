"""Access to the model of a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from lann._table_inputs import query_values
from lann._types import Floats, Indices
from lann._validation import shown
from lann.model import NeighborModel


def model_of(clf: Any) -> NeighborModel:
    """Return the model of a fitted classifier whose training rows vote.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.
    NotFittedError
        If it is not fitted.
    """
    check_is_fitted(clf)
    model = getattr(clf, "model_", None)
    if isinstance(model, NeighborModel) and model.has_training_rows:
        return model
    hint = " Give its last step, and rows transformed by the others." if hasattr(clf, "steps") else ""
    raise ValueError(
        f"{type(clf).__name__} keeps no training rows that vote; LANNClassifier and the baselines with "
        f"neighbors do.{hint}"
    )


def training_ids(clf: Any) -> NDArray[Any] | None:
    """Return the names of the training rows, (n_rows,); None if they go by their positions."""
    ids: NDArray[Any] | None = getattr(clf, "ids_", None)
    return ids


def id_columns(name: str, ids: NDArray[Any] | None, positions: Indices) -> dict[str, NDArray[Any]]:
    """Return the ids of some rows as a column of a table; no column if there are no ids."""
    return {} if ids is None else {name: ids[positions]}


def values_of_queries(clf: Any, X: Any, queries: Floats) -> NDArray[Any]:
    """Return queries in the user's values: (n_queries, n_features)."""
    schema = getattr(clf, "schema_", None)
    return queries if schema is None or schema.is_numeric else query_values(X, schema, queries)


def values_of_rows(clf: Any, rows: Floats) -> NDArray[Any]:
    """Return training rows in the user's values: (n_rows, n_features)."""
    schema = getattr(clf, "schema_", None)
    return rows if schema is None or schema.is_numeric else schema.values(rows)


def check_rows(rows: Any, n_rows: int) -> Indices:
    """Return distinct positions of training rows; None is all of them."""
    if rows is None:
        return np.arange(n_rows)
    positions = np.atleast_1d(np.asarray(rows))
    valid = positions.ndim == 1 and (positions.dtype.kind in "iu" or positions.size == 0)
    if (
        not valid
        or ((positions < 0) | (positions >= n_rows)).any()
        or len(np.unique(positions)) < len(positions)
    ):
        raise ValueError(
            f"rows must be different rows of the training data, from 0 to {n_rows - 1}; got {shown(rows)}."
        )
    return positions.astype(np.int64)


def is_one_of(value: Any, known: list[Any]) -> bool:
    """Return whether a value is one of those that are known; an array or a missing value is none."""
    try:
        return bool(value in known)
    except (TypeError, ValueError):
        return False


def check_label(label: Any, classes: NDArray[Any], name: str = "target") -> None:
    """Raise ValueError unless the label is one of the classes."""
    if not is_one_of(label, classes.tolist()):
        raise ValueError(f"{name} must be one of the classes {classes.tolist()}; got {shown(label)}.")
