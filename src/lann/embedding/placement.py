"""Where a new point goes among points that have their places."""

from __future__ import annotations

import numpy as np
from numba import njit

from lann._threads import map_blocks
from lann._types import Floats, Indices

QUERY_BLOCK = 4096
MOST_STEPS = 200
# A step shorter than this part of the scale is the last.
STILL = 1e-6


def place_among(
    neighbors: Indices, distances: Floats, places: Floats, scale: float, *, n_jobs: int | None = None
) -> Floats:
    """Put every query where its neighbors pull it: (n_queries, n_components).

    A query's place e minimizes Σ_j (1/d_j) log(1 + ‖e − e_j‖²/s²): each neighbor pulls as strongly as it
    votes, and one that is far from the others hardly pulls, so that a query goes among the majority rather
    than between two groups. The search begins at the neighbor with the lowest sum and goes down from there;
    it depends on nothing but the query's own row.

    Parameters
    ----------
    neighbors : (n_queries, k)
    distances : (n_queries, k) squared, ascending; at 0 the query goes to that neighbor, or to the middle of
        several
    places : (n_points, n_components) of the neighbors
    scale : s, the distance from which a pull falls
    """
    places = np.ascontiguousarray(places, dtype=np.float64)

    def place(part: slice) -> Floats:
        return _place(neighbors[part], distances[part], places, scale)

    parts = map_blocks(place, len(neighbors), QUERY_BLOCK, n_jobs=n_jobs)
    return np.concatenate(parts) if parts else np.empty((0, places.shape[1]))


@njit(cache=True, nogil=True)
def _place(neighbors, distances, places, scale):
    n_queries, k = neighbors.shape
    n_components = places.shape[1]
    out = np.zeros((n_queries, n_components))
    pulls = np.empty(k)
    next_place = np.empty(n_components)
    for query in range(n_queries):
        own, here = neighbors[query], out[query]
        nearest = distances[query, 0]
        for j in range(k):
            # Relative to the nearest, so that no pull overflows; 0/0 is a pull of 1.
            if distances[query, j] == nearest:
                pulls[j] = 1.0
            else:
                pulls[j] = nearest / distances[query, j]
        start, lowest = 0, np.inf
        for j in range(k):
            total = 0.0
            for i in range(k):
                total += pulls[i] * np.log1p(_squared(places[own[j]], places[own[i]]) / scale**2)
            if total < lowest:
                start, lowest = j, total
        here[:] = places[own[start]]
        if lowest == 0.0:  # all that pull are there
            continue
        for _ in range(MOST_STEPS):
            whole = 0.0
            next_place[:] = 0.0
            for j in range(k):
                pull = pulls[j] / (1.0 + _squared(here, places[own[j]]) / scale**2)
                whole += pull
                for a in range(n_components):
                    next_place[a] += pull * places[own[j], a]
            for a in range(n_components):
                next_place[a] /= whole
            moved = _squared(here, next_place)
            here[:] = next_place
            if moved <= (STILL * scale) ** 2:
                break
    return out


@njit(cache=True, nogil=True)
def _squared(one, other):
    total = 0.0
    for a in range(len(one)):
        total += (one[a] - other[a]) ** 2
    return total
