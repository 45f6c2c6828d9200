"""Checks of training data, labels, class weights and names, shared by all estimators."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from lann._types import Floats, Labels
from lann._validation import Integer, validate


def check_two_classes(classes: NDArray[Any]) -> None:
    """Raise ValueError unless there are at least two classes."""
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; a classifier needs rows of at least two classes."
        )


def check_not_too_large(X: Floats) -> None:
    """Raise ValueError if the squares of some values are not finite."""
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = X.std(axis=0)
    if not np.all(np.isfinite(spreads)):
        worst = int(np.flatnonzero(~np.isfinite(spreads))[0])
        raise ValueError(f"The values of feature {worst} are too large to be squared; scale them down.")


def check_enough_rows(n_neighbors: int | str, n_rows: int) -> None:
    """Raise ValueError if there are fewer training rows than neighbors that vote."""
    if n_neighbors != "auto" and n_rows < int(n_neighbors):
        raise ValueError(
            f"n_neighbors={n_neighbors} needs at least as many training rows; got n_samples={n_rows}. "
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


def class_indices(y: NDArray[Any], classes: NDArray[Any]) -> Labels:
    """Return the position of every label in `classes`."""
    indices = np.searchsorted(classes, y)
    known = classes[np.minimum(indices, len(classes) - 1)] == y
    if not np.all(known):
        unseen = np.unique(y[~known])[:5]
        raise ValueError(
            f"y has labels that are not among the classes {classes.tolist()}: {unseen.tolist()}. "
            "Give all classes in the first call of partial_fit."
        )
    return indices


def class_weight_array(class_weight: Any, classes: NDArray[Any], labels: Labels) -> Floats | None:
    """Return the weight of each class; 1 for a class without a row.

    Parameters
    ----------
    class_weight : None, "balanced" or dict
    classes : (n_classes,)
    labels : (n_rows,)
        Class indices of the training rows.
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
    present = np.unique(labels)
    weights = np.ones(len(classes))
    weights[present] = compute_class_weight(class_weight, classes=present, y=labels)
    return weights


def mean_by_class(values: Floats, labels: Labels, n_classes: int) -> Floats:
    """Return the mean over the rows of each class, NaN for a class without rows.

    Parameters
    ----------
    values : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_classes : int

    Returns
    -------
    means : (n_classes, n_features)
    """
    means = np.full((n_classes, values.shape[1]), np.nan)
    for label in np.unique(labels):
        means[label] = values[labels == label].mean(axis=0)
    return means


def check_ids(ids: Any, n_rows: int) -> NDArray[Any]:
    """Return the names of the training rows as an array; raise ValueError unless there is one for each."""
    names = np.asarray(ids)
    if names.shape != (n_rows,):
        raise ValueError(f"ids must name the {n_rows} training rows; got an array of shape {names.shape}.")
    return names


def check_columns(clf: Any, X: Any) -> None:
    """Raise ValueError if X is a table whose columns are not those of the fit, in their order."""
    if hasattr(X, "columns") and hasattr(clf, "feature_names_in_"):
        given, fitted = [str(name) for name in X.columns], [str(name) for name in clf.feature_names_in_]
        if given != fitted:
            raise ValueError(f"The columns must be those of the fit, in this order: {fitted}; got {given}.")


def as_fitted(clf: Any, rows: Floats) -> Any:
    """Return rows as a table if the classifier was fitted with column names, else as they are."""
    if not hasattr(clf, "feature_names_in_"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=clf.feature_names_in_)


def get_feature_names(clf: Any) -> NDArray[Any]:
    """Return the feature names of the fit, or x0, x1, …"""
    if hasattr(clf, "feature_names_in_"):
        return clf.feature_names_in_
    return np.array([f"x{feature}" for feature in range(clf.n_features_in_)], dtype=object)
