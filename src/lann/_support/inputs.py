"""Checks of training data, labels, class weights and names, shared by all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.sizes import LARGEST_SINGLE, find_too_large
from lann._support.types import Floats, Labels
from lann._support.validation import Integer, shown, validate

CPU_OF_DLPACK = 1

# The largest weight of a row: its square is finite.
LARGEST_WEIGHT = 1e100
# Rows that are processed at once.
BLOCK = 65_536


def check_two_classes(classes: NDArray[Any]) -> None:
    """Raise ValueError unless there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {shown(classes.tolist()[0])}; a classifier needs rows of at least two "
            "classes."
        )


def another_type(label: Any, classes: NDArray[Any]) -> ValueError:
    """Return the error for a label that cannot be compared with the classes."""
    return ValueError(
        f"y has labels of another type, such as {shown(label)}, than the classes "
        f"{shown(classes.tolist()[:5])}."
    )


def check_one_type(name: str, labels: NDArray[Any]) -> None:
    """Raise ValueError if labels are text and something else."""
    if labels.dtype != object:
        return
    text = [label for label in labels.flat if isinstance(label, str)]
    others = [label for label in labels.flat if not isinstance(label, str)]
    if text and others:
        raise ValueError(
            f"{name} has labels of several types, such as {text[0]!r} and {others[0]!r}; "
            "give text only or numbers only."
        )


def as_type(X: Floats, dtype: np.dtype[Any]) -> Floats:
    """Return numbers in another type; raise ValueError if one of them is too large to be measured in it."""
    if dtype == np.float32:
        feature = find_too_large(X, LARGEST_SINGLE)
        if feature is not None:
            raise ValueError(
                f"Feature {feature} has values that are too large for float32; scale them down to at most "
                f"{LARGEST_SINGLE:g}, or give X in float64."
            )
    return X.astype(dtype, copy=False)


def weighted_moments(values: Floats, weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and the variance of each column, as if rows were repeated by their weights.

    Parameters
    ----------
    values : (n_rows, n_columns)
    weights : (n_rows,) or None
        None is 1 for all.

    Returns
    -------
    means, variances : (n_columns,)
    """
    means = weighted_means(values, weights)
    if weights is not None:
        return means, (weights / weights.sum()) @ np.square(values - means)
    if len(values) <= BLOCK:
        return means, values.var(axis=0, dtype=np.float64)
    return means, sum(np.square(part - means).sum(axis=0) for part in _blocks(values)) / len(values)


def weighted_means(values: Floats, weights: Floats | None) -> Floats:
    """Return the mean of each column, as if rows were repeated by their weights.

    Parameters
    ----------
    values : (n_rows, n_columns)
    weights : (n_rows,) or None
        None is 1 for all.

    Returns
    -------
    means : (n_columns,)
    """
    if weights is None and len(values) <= BLOCK:
        return values.mean(axis=0, dtype=np.float64)
    # Relative to the first row, so that the mean of a constant column is exact.
    first = values[0].astype(np.float64)
    if weights is not None:
        return first + (weights / weights.sum()) @ (values - first)
    return first + sum((part - first).sum(axis=0) for part in _blocks(values)) / len(values)


def _blocks(values: Floats) -> list[Floats]:
    """Return blocks of rows, so that no further array is as large as that of the values."""
    return [values[start : start + BLOCK] for start in range(0, len(values), BLOCK)]


def check_enough_rows(n_neighbors: int | str, n_rows: int, row_weights: Floats | None = None) -> None:
    """Raise ValueError if there are fewer training rows, or less weight, than neighbors that vote."""
    available = n_rows if row_weights is None else float(row_weights.sum())
    if n_neighbors == "auto" or available >= int(n_neighbors):
        return
    got = f"n_samples={n_rows}" if row_weights is None else f"weights that add up to {available:g}"
    raise ValueError(
        f"n_neighbors={n_neighbors} needs at least as many training rows; got {got}. "
        "Lower n_neighbors or give more rows."
    )


def check_n_neighbors(n_neighbors: Any, n_rows: int, *, exclude_self: bool) -> None:
    """Raise ValueError if there are fewer training rows to search than neighbors."""
    validate("n_neighbors", n_neighbors, Integer(1))
    available = n_rows - exclude_self
    if n_neighbors > available:
        raise ValueError(
            f"n_neighbors={n_neighbors} is more than the {available} training rows"
            f"{' beside each row itself' if exclude_self else ''}."
        )


def check_sample_weight(sample_weight: Any, n_rows: int) -> Floats:
    """Return the weights of the training rows; raise ValueError unless they are valid.

    Parameters
    ----------
    sample_weight : array-like of shape (n_rows,)
    n_rows : int

    Returns
    -------
    weights : (n_rows,)
    """
    try:
        weights = np.asarray(sample_weight, dtype=np.float64)
    except (TypeError, ValueError):
        raise ValueError("sample_weight must be a list of numbers, one for each row.") from None
    if weights.shape != (n_rows,):
        raise ValueError(
            f"sample_weight must have a weight for each of the {n_rows} rows; got shape {weights.shape}."
        )
    invalid = ~((weights >= 0) & (weights < np.inf))
    if invalid.any():
        raise ValueError(f"sample_weight must be finite and at least 0; got {weights[invalid][0]}.")
    if not weights.any():
        raise ValueError("sample_weight is zero for every row; at least one row has to count.")
    check_weight_range(weights[weights > 0])
    return weights


def check_weight_range(weights: Floats) -> None:
    """Raise ValueError if weights of training rows are too large or too small to compute with."""
    least, largest = weights.min(), weights.max()
    if least < 1.0 / LARGEST_WEIGHT or largest > LARGEST_WEIGHT:
        raise ValueError(
            f"sample_weight must be 0, or between {1.0 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}; got "
            f"{least:g} to {largest:g}."
        )


def class_indices(y: NDArray[Any], classes: NDArray[Any]) -> Labels:
    """Return the position of every label in `classes`."""
    try:
        indices = np.searchsorted(classes, y)
        known = classes[np.minimum(indices, len(classes) - 1)] == y
    except TypeError:  # text and numbers cannot be compared
        raise another_type(y.tolist()[0], classes) from None
    if not np.all(known):
        unseen = np.unique(y[~known])[:5]
        raise ValueError(
            f"y has labels that are not among the classes {shown(classes.tolist())}: "
            f"{shown(unseen.tolist())}. Give all classes in the first call of partial_fit."
        )
    return indices


def class_weight_array(
    class_weight: Any, classes: NDArray[Any], labels: Labels, row_weights: Floats | None = None
) -> Floats | None:
    """Return the weight of each class; 1 for a class without a row.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
    classes : (n_classes,)
    labels : (n_rows,)
        Class indices of the training rows.
    row_weights : (n_rows,) or None
        How much each row counts in the frequencies; None is 1 for all.
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight has {unknown[0]!r}, which is not one of the classes {classes.tolist()}."
            )
        return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    totals = np.bincount(labels, row_weights, len(classes))
    present = totals > 0
    balanced = totals.sum() / (present.sum() * np.where(present, totals, 1.0))
    return np.where(present, balanced, 1.0)


def mean_by_class(
    values: Floats, labels: Labels, n_classes: int, row_weights: Floats | None = None
) -> Floats:
    """Return the mean over the rows of each class, NaN for a class without rows.

    Parameters
    ----------
    values : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_classes : int
    row_weights : (n_rows,) or None
        How much each row counts; None is 1 for all.

    Returns
    -------
    means : (n_classes, n_features)
    """
    means = np.full((n_classes, values.shape[1]), np.nan)
    for label in np.unique(labels):
        members = labels == label
        means[label] = weighted_means(values[members], None if row_weights is None else row_weights[members])
    return means


def check_ids(ids: Any, n_rows: int) -> NDArray[Any]:
    """Return the names of the training rows as an array; raise ValueError unless there is one for each."""
    names = np.asarray(ids)
    if names.shape != (n_rows,):
        raise ValueError(
            f"ids must name the {n_rows} training rows, without those of weight 0; got an array of shape "
            f"{names.shape}."
        )
    return names


def check_leave_out(leave_out: Any, n_queries: int, n_rows: int) -> NDArray[np.int64] | None:
    """Return the training row that does not vote on each query, where -1 excludes nothing.

    Raise ValueError unless there is one for each query, and another one that votes.
    """
    if leave_out is None:
        return None
    rows = np.asarray(leave_out)
    has_shape = rows.shape == (n_queries,) and rows.dtype.kind in "iu"
    if not has_shape or not ((rows >= -1) & (rows < n_rows)).all():
        raise ValueError(
            f"leave_out must be 'auto', None, or the position of one of the {n_rows} training rows for each "
            f"of the {n_queries} queries, where -1 excludes nothing; got {shown(leave_out)}."
        )
    if n_rows < 2 and (rows >= 0).any():
        raise ValueError("The only training row cannot be left out: no row would vote.")
    return rows.astype(np.int64)


def check_columns(clf: Any, X: Any) -> None:
    """Raise ValueError if X is a table whose columns are not those of the fit, in their order."""
    if hasattr(X, "columns") and hasattr(clf, "feature_names_in_"):
        given, fitted = [str(name) for name in X.columns], [str(name) for name in clf.feature_names_in_]
        if given != fitted:
            raise ValueError(f"The columns must be those of the fit, in this order: {fitted}; got {given}.")


def get_feature_names(clf: Any) -> NDArray[Any]:
    """Return the feature names of the fit, or x0, x1, …"""
    if hasattr(clf, "feature_names_in_"):
        return clf.feature_names_in_
    return np.array([f"x{feature}" for feature in range(clf.n_features_in_)], dtype=object)


def differ(rows: Floats, others: Floats) -> NDArray[np.bool_]:
    """Return where values differ; two gaps do not.

    >>> differ(np.array([1.0, 2.0, np.nan]), np.array([1.0, np.nan, np.nan])).tolist()
    [False, True, False]
    """
    return (rows != others) & ~(np.isnan(rows) & np.isnan(others))


def on_host(X: Any) -> Any:
    """Return an array that is in the memory of a GPU as a NumPy array, and anything else as it is."""
    where = getattr(X, "__dlpack_device__", None)
    if where is None or where()[0] == CPU_OF_DLPACK:
        return X
    import torch

    return torch.from_dlpack(X).cpu().numpy()
