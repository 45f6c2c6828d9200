"""What classifiers make of labels and class weights, and what they refuse."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.class_weight import compute_class_weight

from lann._validation import Integer, validate


def check_two_classes(classes: NDArray[Any]) -> None:
    """Refuse labels that are all the same."""
    if len(classes) < 2:
        raise ValueError(
            f"y has one class only, {classes.tolist()[0]!r}; a classifier needs points of at least two "
            "classes."
        )


def check_not_too_large(X: NDArray[np.float64]) -> None:
    """Refuse values whose squares are not finite: no distance could be measured."""
    with np.errstate(over="ignore", invalid="ignore"):
        spreads = X.std(axis=0)
    if not np.all(np.isfinite(spreads)):
        worst = int(np.flatnonzero(~np.isfinite(spreads))[0])
        raise ValueError(f"The values of feature {worst} are too large to be squared; scale them down.")


def check_enough_points(n_neighbors: int | str, n_points: int) -> None:
    """Refuse fewer points than neighbors."""
    if n_neighbors != "auto" and n_points < int(n_neighbors):
        raise ValueError(
            f"n_neighbors={n_neighbors} needs at least as many training points; got "
            f"n_samples={n_points}. Lower n_neighbors or give more points."
        )


def check_wanted_neighbors(wanted: Any, n_points: int, *, own: bool) -> None:
    """Refuse to look for more neighbors than there are; `own`: of the training points themselves."""
    validate("n_neighbors", wanted, Integer(1))
    available = n_points - own
    if wanted > available:
        raise ValueError(
            f"n_neighbors={wanted} is more than the {available} training points there are"
            f"{' beside each point itself' if own else ''}."
        )


def encode(y: NDArray[Any], classes: NDArray[Any]) -> NDArray[np.int64]:
    """The place of every label among the classes."""
    labels = np.searchsorted(classes, y)
    known = classes[np.minimum(labels, len(classes) - 1)] == y
    if not np.all(known):
        unseen = np.unique(y[~known])[:5]
        raise ValueError(
            f"y has labels that are not among the classes announced, {classes.tolist()}: "
            f"{unseen.tolist()}. Announce all classes in the first call of partial_fit."
        )
    return labels


def class_votes(
    class_weight: Any, classes: NDArray[Any], labels: NDArray[np.int64]
) -> NDArray[np.float64] | None:
    """How many votes a point of each class has; a class without a point yet has one.

    class_weight : None, "balanced" or a dictionary
    labels : (n_points,) places among the classes
    """
    if class_weight is None:
        return None
    if isinstance(class_weight, dict):
        unknown = [label for label in class_weight if label not in classes.tolist()]
        if unknown:
            raise ValueError(
                f"class_weight names {unknown[0]!r}, which is not among the classes {classes.tolist()}."
            )
        return np.array([float(class_weight.get(label, 1.0)) for label in classes.tolist()])
    present = np.unique(labels)
    votes = np.ones(len(classes))
    votes[present] = compute_class_weight(class_weight, classes=present, y=labels)
    return votes


def check_ids(ids: Any, n_points: int) -> NDArray[Any]:
    """What the training points are called, one name each."""
    names = np.asarray(ids)
    if names.shape != (n_points,):
        raise ValueError(
            f"ids must name the {n_points} training points; got an array of shape {names.shape}."
        )
    return names


def check_columns(clf: Any, X: Any) -> None:
    """Refuse a table whose columns are not those of the fit, in their order."""
    if hasattr(X, "columns") and hasattr(clf, "feature_names_in_"):
        given, wanted = [str(name) for name in X.columns], [str(name) for name in clf.feature_names_in_]
        if given != wanted:
            raise ValueError(f"The columns must be those of the fit, in this order: {wanted}; got {given}.")


def as_fitted(clf: Any, rows: NDArray[np.float64]) -> Any:
    """Rows as the classifier was given them in its fit: a table, if it had names for the columns."""
    if not hasattr(clf, "feature_names_in_"):
        return rows
    import pandas as pd

    return pd.DataFrame(rows, columns=clf.feature_names_in_)


def feature_names(clf: Any) -> NDArray[Any]:
    """The names that the model was fitted with, or x0, x1, …"""
    if hasattr(clf, "feature_names_in_"):
        return clf.feature_names_in_
    return np.array([f"x{place}" for place in range(clf.n_features_in_)], dtype=object)
