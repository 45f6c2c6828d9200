"""Relevances by class, over training rows."""

from __future__ import annotations

from typing import Any

from lann._types import Floats
from lann.explain._fitted import model_of
from lann.explain._landmarks import landmarks_of


def class_relevances(clf: Any) -> Floats:
    """Return the mean relevances of up to 500 training rows, by their class.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.

    Returns
    -------
    relevances : ndarray of shape (n_classes, n_features)
        How much the vote on training rows of each class depends on each feature; NaN for a class without
        rows.

    Raises
    ------
    ValueError
        If the classifier keeps no training rows.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import class_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> class_relevances(LANNClassifier(random_state=0).fit(X, y)).shape
    (3, 4)
    """
    model = model_of(clf)
    return landmarks_of(model, n_jobs=clf.n_jobs).class_relevances(model.labels, model.n_classes)
