"""The graph of neighbors that UMAP and densMAP lay out, and coordinates of new rows from their neighbors."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices
from lann.embedding._layout import NeighborLists

# The search for a width ends at this error of the sum of weights, or after this many steps.
TOLERANCE = 1e-5
MAX_WIDTH_STEPS = 64
# A width is at least this part of a mean distance.
LEAST_WIDTH = 1e-3
UNBOUNDED = float(np.finfo(np.float32).max)
QUERY_BLOCK = 4096
MAX_STEPS = 200
# A step shorter than this part of the scale is the last.
LEAST_STEP = 1e-6


def edge_weights(lists: NeighborLists) -> Any:
    """Return the weights of the edges between neighbors.

    The weight of a neighbor at distance d is exp(−(d − ρ)/σ), with ρ the distance to the nearest other row
    and σ such that the weights of a row add up to log₂ k. An edge has the weight u + v − u·v of its two
    directions. The weights are those of umap-learn, to the bit, but computed without numba's threads, which
    do not survive a fork.

    Parameters
    ----------
    lists : NeighborLists
        With each row before its neighbors: (n_rows, k). Neighbors at infinite distance have no edge.

    Returns
    -------
    weights : csr_matrix of shape (n_rows, n_rows)
    """
    # Compiled for arrays of one kind only.
    indices = np.ascontiguousarray(lists.indices, dtype=np.int64)
    distances = np.ascontiguousarray(lists.distances, dtype=np.float32)
    directed = _as_matrix(lists, _weights(indices, distances))
    directed.eliminate_zeros()
    weights = directed + directed.T - directed.multiply(directed.T)
    weights.eliminate_zeros()
    return weights


def edge_lengths(lists: NeighborLists) -> Any:
    """Return the lengths of the edges between neighbors, (n_rows, n_rows), for access by element."""
    directed = _as_matrix(lists, lists.distances.astype(np.float32))
    return directed.maximum(directed.T).todok()


def _as_matrix(lists: NeighborLists, values: Any) -> Any:
    """Return values of all neighbors, (n_rows, k), as a sparse matrix."""
    from scipy.sparse import coo_matrix

    n_rows = len(lists.indices)
    rows, slots = np.nonzero(np.isfinite(lists.distances.astype(np.float32)))
    columns = lists.indices[rows, slots]
    return coo_matrix(
        (values[rows, slots], (rows.astype(np.int32), columns.astype(np.int32))), shape=(n_rows, n_rows)
    )


@njit(nogil=True, cache=True)
def _weights(indices, distances):
    """Return the weight of each neighbor, (n_rows, k); a row itself has the weight 0."""
    n_rows, k = distances.shape
    out = np.zeros((n_rows, k), dtype=np.float32)
    overall = _mean(distances.ravel())
    for row in range(n_rows):
        own = distances[row]
        nearest = _first_positive(own)
        width = _width(own, nearest)
        least = LEAST_WIDTH * (_mean(own) if nearest > 0.0 else overall)
        if width < least:
            width = np.float32(least)
        for j in range(k):
            if indices[row, j] == row:
                continue
            beyond = own[j] - nearest
            if beyond <= 0.0 or width == 0.0:
                out[row, j] = 1.0
            else:
                out[row, j] = np.exp(-(beyond / width))
    return out


@njit(nogil=True, cache=True)
def _width(distances, nearest):
    """Return the σ with which the weights of the neighbors of a row add up to log₂ k."""
    k = len(distances)
    target = np.log2(float(k))
    low, high, width = 0.0, UNBOUNDED, 1.0
    for _ in range(MAX_WIDTH_STEPS):
        total = 0.0
        for j in range(1, k):
            beyond = distances[j] - nearest
            total += np.exp(-(beyond / width)) if beyond > 0.0 else 1.0
        if abs(total - target) < TOLERANCE:
            break
        if total > target:
            high = width
            width = (low + high) / 2.0
        else:
            low = width
            width = 2.0 * width if high >= UNBOUNDED else (low + high) / 2.0
    return np.float32(width)


@njit(nogil=True, cache=True)
def _first_positive(distances):
    for distance in distances:
        if distance > 0.0:
            return distance
    return np.float32(0.0)


@njit(nogil=True, cache=True)
def _mean(values):
    """Return the mean of values, which are added in single precision, as umap-learn does."""
    total = np.float32(0.0)
    for value in values:
        total = np.float32(total + value)
    return total / len(values)


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
        for _ in range(MAX_STEPS):
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
