"""The weighted graph of neighbors that UMAP and densMAP lay out."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._compile import njit
from lann.embedding._neighbor_lists import NeighborLists

# The search for a width ends at this error of the sum of weights, or after this many steps.
TOLERANCE = 1e-5
MOST_STEPS = 64
# A width is at least this part of a mean distance.
LEAST_WIDTH = 1e-3
UNBOUNDED = float(np.finfo(np.float32).max)


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
    for _ in range(MOST_STEPS):
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
