"""Contrast rows: training rows of other classes, near a query and typical of these classes.

Near ones show what keeps the query from the other class, but are often like it in what matters most.
Therefore half of them are representative of the other classes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann.search import smallest

if TYPE_CHECKING:
    from lann.model import NeighborModel

# Number of contrast rows of a row.
N_CONTRASTS = 6
# Number of near ones that are chosen for a query, and of representative ones.
N_NEAR, N_REPRESENTATIVE = 2, 2
# Number of rows that represent a class.
N_OF_CLASS = 4
# The nearest rows of other classes among which typical ones are searched, per row that is wanted.
N_SEARCHED = 4
# Numbers that are held at once: 32 MB.
HELD = 2**22


def nearest_contrasts(
    model: NeighborModel,
    queries: Floats,
    class_indices: Labels,
    k: int = N_CONTRASTS,
    *,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> Indices:
    """Return the nearest typical rows of other classes: (n_queries, k).

    A row is typical if the others predict its label: one that is mislabeled says nothing about its class.
    Where there are fewer typical rows, others are taken; -1 where there is none.

    Parameters
    ----------
    model : NeighborModel
    queries : (n_queries, n_features)
    class_indices : (n_queries,)
        The class of each query.
    k : int
    exclude : (n_queries,) or None
        For each query a row that does not count; -1 for none.
    n_jobs : int or None
        Number of threads.
    """
    allowed = np.arange(model.n_classes) != class_indices[:, None]
    n_searched = min(N_SEARCHED * k, len(model.X)) if model.has_training_rows else k
    found, _ = model.kneighbors_of_classes(queries, allowed, n_searched, n_jobs=n_jobs)
    if exclude is not None:
        found = np.where(found == exclude[:, None], -1, found)
    rank = np.where(found < 0, 2, 0)
    if model.has_training_rows:
        rows, position = np.unique(found[found >= 0], return_inverse=True)
        rank[found >= 0] = ~_are_typical(model, rows, n_jobs)[position]
    first = np.argsort(rank, axis=1, kind="stable")[:, :k]
    chosen = np.take_along_axis(found, first, axis=1)
    return np.pad(chosen, ((0, 0), (0, k - chosen.shape[1])), constant_values=-1)


def representative_rows(model: NeighborModel, rows: Indices, *, n_jobs: int | None = None) -> Indices:
    """Choose rows that represent each class: (n_classes, N_OF_CLASS), -1 where there are fewer.

    Of the typical ones, each is the row with which the mean distance of all rows of the class to the nearest
    chosen one becomes smallest, on the axes.

    Parameters
    ----------
    model : NeighborModel
    rows : (n_rows,)
        Rows to choose from.
    n_jobs : int or None
        Number of threads.
    """
    chosen = np.full((model.n_classes, N_OF_CLASS), -1)
    are_typical = _are_typical(model, rows, n_jobs)
    for label in range(model.n_classes):
        is_own = model.labels[rows] == label
        own = rows[is_own]
        if len(own) == 0:
            continue
        usable = are_typical[is_own] if are_typical[is_own].any() else np.ones(len(own), bool)
        points = model.transform(model.X[own])
        gaps = np.sqrt(np.maximum(_squared_gaps(points), 0.0))  # (n_own, n_own)
        nearest = np.full(len(own), np.inf)
        for number in range(min(N_OF_CLASS, int(usable.sum()))):
            totals = np.minimum(nearest[:, None], gaps).sum(axis=0)
            best = int(np.where(usable, totals, np.inf).argmin())
            chosen[label, number], usable = own[best], usable & (np.arange(len(own)) != best)
            nearest = np.minimum(nearest, gaps[:, best])
    return chosen


def _squared_gaps(points: Floats) -> Floats:
    """Return the squared distances of points to each other, the same bits for any number of threads."""
    with single_threaded_blas():
        sizes = np.einsum("ia,ia->i", points, points)
        return sizes[:, None] + sizes - 2.0 * points @ points.T


def nearest_representatives(
    model: NeighborModel,
    queries: Floats,
    class_indices: Labels,
    representatives: Indices,
    k: int = N_REPRESENTATIVE,
) -> Indices:
    """Return the nearest rows that represent other classes: (n_queries, k), -1 where there are fewer.

    Parameters
    ----------
    model, queries, class_indices
        As for `nearest_contrasts`.
    representatives : (n_classes, N_OF_CLASS)
        -1 for none.
    k : int
    """
    rows = np.sort(representatives[representatives >= 0])
    candidates = np.tile(rows, (len(queries), 1))
    distances = model.distances(queries, candidates)
    candidates[model.labels[rows] == class_indices[:, None]] = -1
    found, _ = smallest(distances, candidates, min(k, len(rows)))
    return np.pad(found, ((0, 0), (0, k - found.shape[1])), constant_values=-1)


def _are_typical(model: NeighborModel, rows: Indices, n_jobs: int | None) -> NDArray[np.bool_]:
    """Return whether the others predict the label of each of some rows; the only row is typical."""
    if len(rows) == 0 or len(model.X) == 1:
        return np.ones(len(rows), bool)
    votes = model.vote(*model.voters(model.X[rows], exclude=rows, n_jobs=n_jobs))
    return votes.probabilities.argmax(axis=1) == model.labels[rows]


def spread_contrasts(
    model: NeighborModel,
    queries: Floats,
    class_indices: Labels,
    pool: Indices,
    k: int = N_NEAR,
    *,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> Indices:
    """Choose rows of other classes in different directions: (n_queries, k).

    The first is the nearest row of the pool; each further one is the row that is farthest from those chosen,
    on the axes.

    Parameters
    ----------
    model, queries, class_indices, k, exclude, n_jobs :
        As for `nearest_contrasts`.
    pool : (n_queries, n_pool)
        Rows to choose from; those of the class of the query are left out. Where none remains, the nearest
        typical rows are chosen.
    """
    pool = np.sort(pool, axis=1)
    usable = (pool >= 0) & (model.labels[np.maximum(pool, 0)] != class_indices[:, None])
    usable[:, 1:] &= pool[:, 1:] != pool[:, :-1]
    if exclude is not None:
        usable &= pool != exclude[:, None]
    chosen = np.full((len(queries), k), -1)
    rows, position = np.unique(pool[usable], return_inverse=True)
    positions = np.zeros(pool.shape, np.int64)
    positions[usable] = position
    points = model.transform(model.X[rows]) if len(rows) else np.empty((0, model.n_axes))
    block = max(HELD // max(pool.shape[1] * max(model.n_axes, 1), 1), 1)
    for start in range(0, len(queries), block):
        part = slice(start, start + block)
        chosen[part] = _spread(model, queries[part], pool[part], usable[part], points, positions[part], k)
    without = np.flatnonzero(chosen[:, 0] < 0)
    if len(without):
        own = None if exclude is None else exclude[without]
        chosen[without] = nearest_contrasts(
            model, queries[without], class_indices[without], k, exclude=own, n_jobs=n_jobs
        )
    return chosen


def _spread(
    model: NeighborModel,
    queries: Floats,
    pool: Indices,
    usable: NDArray[np.bool_],
    points: Floats,
    positions: Indices,
    k: int,
) -> Indices:
    every, chosen = np.arange(len(queries)), np.full((len(queries), k), -1)
    distances = np.where(usable, model.distances(queries, np.maximum(pool, 0)), np.inf)
    next_one, any_left = distances.argmin(axis=1), usable.any(axis=1)
    if not any_left.any():
        return chosen
    left, gaps = usable.copy(), np.full(pool.shape, np.inf)
    among = points[positions]  # (n_queries, n_pool, n_axes)
    for number in range(k):
        chosen[any_left, number] = pool[every, next_one][any_left]
        left[every, next_one] = False
        any_left = left.any(axis=1)
        gaps = np.minimum(gaps, np.square(among - among[every, next_one][:, None]).sum(axis=2))
        next_one = np.where(left, gaps, -1.0).argmax(axis=1)
    return chosen
