"""The search for neighbors among the rows of given classes."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels
from lann.search import Search, smallest


def nearest_of_classes(
    points: Floats,
    labels: Labels,
    allowed: NDArray[np.bool_],
    k: int,
    search_among: Callable[[Indices, int], Search],
    *,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """Return the k nearest rows of the classes that are allowed for each query, searching class by class.

    Parameters
    ----------
    points : ndarray of shape (n_queries, n_axes)
        Queries as the searches take them.
    labels : ndarray of shape (n_rows,)
        Class indices of the rows.
    allowed : ndarray of shape (n_queries, n_classes)
        Whether each class is allowed for each query.
    k : int
        Number of neighbors.
    search_among : callable
        From rows and the number of queries to a search among these rows.
    n_jobs : int or None, default=None
        Number of threads.

    Returns
    -------
    indices : ndarray of shape (n_queries, k)
        The rows, nearest first; -1 where there are fewer.
    distances : ndarray of shape (n_queries, k)
        Their squared distances; infinite where there are fewer.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.metrics import DiagonalMetric
    >>> from lann.model import nearest_of_classes
    >>> from lann.search import ExactSearch
    >>> metric = DiagonalMetric(np.array([[0.0], [1.0], [2.0], [3.0]]), np.ones(1))
    >>> labels = np.array([0, 1, 0, 1])
    >>> only_the_second = np.array([[False, True]])
    >>> nearest_of_classes(
    ...     np.zeros((1, 1)), labels, only_the_second, 2,
    ...     lambda rows, n_queries: ExactSearch(metric.subset(rows)),
    ... )
    (array([[1, 3]]), array([[1., 9.]]))
    """
    indices, distances = np.full((len(points), k), -1), np.full((len(points), k), np.inf)
    for label in np.unique(labels):
        members, queries = np.flatnonzero(labels == label), np.flatnonzero(allowed[:, label])
        if len(queries) == 0:
            continue
        search = search_among(members, len(queries))
        found, squared = search.query(points[queries], min(k, len(members)), n_jobs=n_jobs)
        indices[queries], distances[queries] = smallest(
            np.concatenate([distances[queries], squared], axis=1),
            np.concatenate([indices[queries], members[found]], axis=1),
            k,
        )
    return indices, distances
