"""Coordinates of new rows from those of their neighbors."""

from __future__ import annotations

import numpy as np

from lann._compile import njit
from lann._threads import map_blocks
from lann._types import Floats, Indices

QUERY_BLOCK = 4096
MOST_STEPS = 200
# A step shorter than this part of the scale is the last.
LEAST_STEP = 1e-6


def coordinates_by_neighbors(
    neighbors: Indices, distances: Floats, coordinates: Floats, scale: float, *, n_jobs: int | None = None
) -> Floats:
    """Compute the coordinates of queries from those of their neighbors.

    The coordinates e of a query minimize Σ_j (1/d_j) log(1 + ‖e − e_j‖²/s²): each neighbor has the weight of
    its vote, and one far from the others hardly counts, so that a query lies among the majority rather than
    between two groups. The minimization starts at the neighbor with the lowest sum; it depends on the query
    alone.

    Parameters
    ----------
    neighbors : (n_queries, k)
    distances : (n_queries, k)
        Squared, ascending. A query at distance 0 takes the coordinates of that neighbor, or the mean of
        several.
    coordinates : (n_rows, n_components)
        Of the training rows.
    scale : float
        s, the distance from which a neighbor counts less.

    Returns
    -------
    coordinates : (n_queries, n_components)
    """
    coordinates = np.ascontiguousarray(coordinates, dtype=np.float64)

    def compute(part: slice) -> Floats:
        return _minimize(neighbors[part], distances[part], coordinates, scale)

    parts = map_blocks(compute, len(neighbors), QUERY_BLOCK, n_jobs=n_jobs)
    return np.concatenate(parts) if parts else np.empty((0, coordinates.shape[1]))


@njit(cache=True, nogil=True)
def _minimize(neighbors, distances, coordinates, scale):
    n_queries, k = neighbors.shape
    n_components = coordinates.shape[1]
    out = np.zeros((n_queries, n_components))
    weights = np.empty(k)
    following = np.empty(n_components)
    for query in range(n_queries):
        own, here = neighbors[query], out[query]
        nearest = distances[query, 0]
        for j in range(k):
            # Relative to the nearest, so that no weight overflows; 0/0 is a weight of 1.
            if distances[query, j] == nearest:
                weights[j] = 1.0
            else:
                weights[j] = nearest / distances[query, j]
        start, lowest = 0, np.inf
        for j in range(k):
            total = 0.0
            for i in range(k):
                squared = _squared_distance(coordinates[own[j]], coordinates[own[i]])
                total += weights[i] * np.log1p(squared / scale**2)
            if total < lowest:
                start, lowest = j, total
        here[:] = coordinates[own[start]]
        if lowest == 0.0:  # all neighbors with a weight are there
            continue
        for _ in range(MOST_STEPS):
            whole = 0.0
            following[:] = 0.0
            for j in range(k):
                weight = weights[j] / (1.0 + _squared_distance(here, coordinates[own[j]]) / scale**2)
                whole += weight
                for a in range(n_components):
                    following[a] += weight * coordinates[own[j], a]
            for a in range(n_components):
                following[a] /= whole
            moved = _squared_distance(here, following)
            here[:] = following
            if moved <= (LEAST_STEP * scale) ** 2:
                break
    return out


@njit(cache=True, nogil=True)
def _squared_distance(one, other):
    total = 0.0
    for a in range(len(one)):
        total += (one[a] - other[a]) ** 2
    return total
