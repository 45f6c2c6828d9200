"""Relevances alone, for many rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lann._table_inputs import read_queries
from lann._types import Floats
from lann.explain._fitted import model_of
from lann.explain._landmarks import landmarks_of


def query_relevances(clf: Any, X: ArrayLike | None = None) -> Floats:
    """Return the relevances of many rows: those of `explain`, without the time and memory for the rest.

    Parameters
    ----------
    clf : estimator
        A fitted LANNClassifier, or a baseline with neighbors.
    X : array-like of shape (n_queries, n_features) or None, default=None
        None is the training rows.

    Returns
    -------
    relevances : ndarray of shape (n_queries, n_features)

    Raises
    ------
    ValueError
        If the classifier keeps no training rows, or X does not have the features of the fit.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import query_relevances
    >>> X, y = load_iris(return_X_y=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> bool((query_relevances(clf) == clf.explain(X).relevances).all())
    True
    """
    model = model_of(clf)
    queries = model.X if X is None else read_queries(clf, X)
    landmarks = landmarks_of(model, n_jobs=clf.n_jobs)
    relevances = landmarks.readings.mean_relevances(landmarks.near(model, queries, n_jobs=clf.n_jobs))
    return np.where(model.unmeasured(queries), 0.0, relevances)
