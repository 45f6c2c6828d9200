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
    points : (n_queries, n_axes)
        Queries as the searches take them.
    labels : (n_rows,)
    allowed : (n_queries, n_classes)
    k : int
    search_among : callable
        From rows and the number of queries to a search among these rows.

    Returns
    -------
    indices, distances : (n_queries, k)
        Where there are fewer rows, the index is -1 and the distance infinite.
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
