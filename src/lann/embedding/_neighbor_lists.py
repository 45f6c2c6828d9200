"""The neighbors of every training row under its model, as lists: never a matrix of all pairs."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Pairs that are measured by both rows before the nearest are kept, per listed neighbor.
POOL = 2
PAIRS_AT_ONCE = 65_536

# The distance of two rows, from the distances that each of them measures.
RULES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "min": np.minimum,
    "mean": lambda one, other: (one + other) / 2,
    "max": np.maximum,
}


class NeighborLists(NamedTuple):
    """Neighbors of every row, nearest first, without the row itself.

    Attributes
    ----------
    indices : (n_rows, k)
    distances : (n_rows, k)
        Lengths, ascending.
    """

    indices: Indices
    distances: Floats


def list_neighbors(
    model: NeighborModel, k: int, symmetry: str, *, n_jobs: int | None = None
) -> NeighborLists:
    """List the k nearest training rows of every training row.

    Parameters
    ----------
    model : NeighborModel
    k : int
    symmetry : str
        "neighbor", or one of RULES.
    """
    n_rows = len(model.X)
    n_searched = k if symmetry == "neighbor" else min(POOL * k, n_rows - 1)
    indices, squared = model.kneighbors(model.X, n_searched, exclude=np.arange(n_rows), n_jobs=n_jobs)
    if symmetry == "neighbor":
        return NeighborLists(indices, np.sqrt(squared))
    one, other = _pairs(indices)
    distances = RULES[symmetry](
        _pair_distances(model, one, other, n_jobs), _pair_distances(model, other, one, n_jobs)
    )
    return _nearest_of_pairs(one, other, distances, n_rows, k)


def _pairs(indices: Indices) -> tuple[Indices, Indices]:
    """Return every pair of rows of which one is in the list of the other, once: (n_pairs,) each."""
    n_rows, k = indices.shape
    owner = np.repeat(np.arange(n_rows), k)
    listed = indices.ravel()
    known = listed >= 0  # an approximate search may find fewer
    owner, listed = owner[known], listed[known]
    keys = np.unique(np.minimum(owner, listed) * n_rows + np.maximum(owner, listed))
    return keys // n_rows, keys % n_rows


def _pair_distances(model: NeighborModel, queries: Indices, rows: Indices, n_jobs: int | None) -> Floats:
    """Return the distances of some training rows to others, as the others measure: (n_pairs,)."""

    def measure(part: slice) -> Floats:
        return model.distances(model.X[queries[part]], rows[part][:, None])[:, 0]

    return np.sqrt(np.concatenate(map_blocks(measure, len(queries), PAIRS_AT_ONCE, n_jobs=n_jobs)))


def _nearest_of_pairs(one: Indices, other: Indices, distances: Floats, n_rows: int, k: int) -> NeighborLists:
    """Return the k nearest of every row among its pairs, of which it has at least k; ties by index."""
    owner, listed = np.concatenate([one, other]), np.concatenate([other, one])
    distances = np.concatenate([distances, distances])
    order = np.lexsort((listed, distances, owner))
    starts = np.searchsorted(owner[order], np.arange(n_rows))
    kept = order[starts[:, None] + np.arange(k)]
    return NeighborLists(listed[kept], distances[kept])
