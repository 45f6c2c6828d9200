"""Every training point's neighbors under the local metrics, for a layout: lists, never an m × m matrix."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Pairs that are measured by both their points before the nearest are kept, for every neighbor wanted.
POOL = 2
PAIRS_AT_ONCE = 65_536

# How far two points are from each other, of what each of them measures.
RULES: dict[str, Callable[[Floats, Floats], Floats]] = {
    "min": np.minimum,
    "mean": lambda one, other: (one + other) / 2,
    "max": np.maximum,
}


class NeighborLists(NamedTuple):
    """Neighbors of every point, nearest first, without the point itself.

    Parameters
    ----------
    indices : (n_points, k)
    lengths : (n_points, k) ascending
    """

    indices: Indices
    lengths: Floats


def neighbor_lists(
    model: NeighborModel, k: int, symmetry: str, *, n_jobs: int | None = None
) -> NeighborLists:
    """The k nearest training points of every training point.

    symmetry : "neighbor", or one of RULES
    """
    n_points = len(model.X)
    n_searched = k if symmetry == "neighbor" else min(POOL * k, n_points - 1)
    indices, distances = model.kneighbors(model.X, n_searched, exclude=np.arange(n_points), n_jobs=n_jobs)
    if symmetry == "neighbor":
        return NeighborLists(indices, np.sqrt(distances))
    one, other = _pairs(indices)
    lengths = RULES[symmetry](
        _lengths(model, one, other, n_jobs),
        _lengths(model, other, one, n_jobs),
    )
    return _nearest_of_pairs(one, other, lengths, n_points, k)


def _pairs(indices: Indices) -> tuple[Indices, Indices]:
    """Every pair of which one is in the other's list, once: (n_pairs,) each."""
    n_points, k = indices.shape
    owner = np.repeat(np.arange(n_points), k)
    listed = indices.ravel()
    known = listed >= 0  # an approximate search may find fewer
    owner, listed = owner[known], listed[known]
    keys = np.unique(np.minimum(owner, listed) * n_points + np.maximum(owner, listed))
    return keys // n_points, keys % n_points


def _lengths(model: NeighborModel, of: Indices, by: Indices, n_jobs: int | None) -> Floats:
    """How far points `of` are, as points `by` measure: (n_pairs,)."""

    def measure(part: slice) -> Floats:
        return model.distances(model.X[of[part]], by[part][:, None])[:, 0]

    return np.sqrt(np.concatenate(map_blocks(measure, len(of), PAIRS_AT_ONCE, n_jobs=n_jobs)))


def _nearest_of_pairs(one: Indices, other: Indices, lengths: Floats, n_points: int, k: int) -> NeighborLists:
    """The k nearest of every point among its pairs, of which it has at least k; equals by index."""
    owner, listed = np.concatenate([one, other]), np.concatenate([other, one])
    lengths = np.concatenate([lengths, lengths])
    order = np.lexsort((listed, lengths, owner))
    starts = np.searchsorted(owner[order], np.arange(n_points))
    kept = order[starts[:, None] + np.arange(k)]
    return NeighborLists(listed[kept], lengths[kept])
