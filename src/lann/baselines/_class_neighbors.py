"""Search for the nearest rows of the same class, and of other classes."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.metrics import DiagonalMetric
from lann.search import ExactSearch


def nearest_same_class(X: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """Return the k nearest other rows of the same class for each row.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
    k : int
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    indices : (n_rows, min(k, n_rows))
        Nearest first; -1 where the class has fewer rows.
    """
    neighbors = np.full((len(X), min(k, len(X))), -1)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        n_found = min(k, len(members) - 1)
        if n_found > 0:
            indices, _ = euclidean_search(X[members]).query(
                X[members], n_found, exclude=np.arange(len(members)), n_jobs=n_jobs
            )
            neighbors[members, :n_found] = members[indices]
    return neighbors


def nearest_other_class(X: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """Return the k nearest rows of other classes for each row: see `nearest_same_class`."""
    neighbors = np.full((len(X), min(k, len(X))), -1)
    for label in np.unique(labels):
        members, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        n_found = min(k, len(others))
        indices, _ = euclidean_search(X[others]).query(X[members], n_found, n_jobs=n_jobs)
        neighbors[members, :n_found] = others[indices]
    return neighbors


def euclidean_search(X: Floats) -> ExactSearch:
    """Return a search for the nearest rows under the Euclidean metric."""
    return ExactSearch(DiagonalMetric(X, np.ones(X.shape[1])))
