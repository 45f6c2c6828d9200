"""How far training rows are from their neighbors, and queries that are farther: nothing similar was seen.

Rows measure on different scales, and some regions have more rows than others. The distance of a query to its
nearest neighbors is therefore compared with those of the training rows around it:

    s(x) = (d(x) + ε) / (mean over the training rows j near x of d(x_j) + ε)

where d is the mean distance to the three nearest neighbors, and that of a training row is measured without
itself. Where d(x) is not among the largest tenth of the training rows, s(x) is 0: among many copies, a row at
a small distance is not far. A query is far if s(x) is larger than for 99% of the training rows, or if one of
its numbers is outside the range of the training rows by more than the width of this range, whether it is
measured or not.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.rows import N_AROUND, positions_in, relative_distances
from lann._support.types import Floats, Indices
from lann.model import NeighborModel, NeighborSearch

# The name under which it is kept in a model.
SPACING = "spacing"
# Training rows whose distances are measured, at most, and multiplications for them where queries own metrics.
MOST_ROWS, WORK = 1000, 1e9
# Nearest neighbors whose distances count.
N_NEAREST = 3
# The share of the training rows that are not far.
SHARE = 0.99
# The share of the training rows that are nearer to their neighbors than a row that is far.
NEARER = 0.9


class RowSample:
    """Some of the training rows of a model, with a search among them that is built on first use.

    Attributes
    ----------
    rows : ndarray of shape (n_sampled,)
        Positions of the training rows, ascending.
    """

    rows: Indices

    def nearest(
        self,
        model: NeighborModel,
        queries: Floats,
        k: int,
        *,
        exclude: Indices | None = None,
        n_jobs: int | None = None,
    ) -> Indices:
        """Return the nearest of the rows, as these measure: (n_queries, k), positions in `rows`.

        Parameters
        ----------
        model : NeighborModel
        queries : ndarray of shape (n_queries, n_features)
        k : int
        exclude : ndarray of shape (n_queries,) or None, default=None
            For each query a training row that is not found; -1 for none.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        nearest : ndarray of shape (n_queries, k)
        """
        search: NeighborSearch | None = self.__dict__.get("_search")
        if search is None:
            search = self.__dict__["_search"] = model.search_among(self.rows)
        own = None if exclude is None else positions_in(self.rows, exclude)
        return search.kneighbors(queries, k, exclude=own, n_jobs=n_jobs)[0]

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}


@dataclass
class Spacing(RowSample):
    """Distances of training rows to their neighbors.

    Attributes
    ----------
    rows : ndarray of shape (n_spaced,)
        Positions of training rows, ascending.
    distances : ndarray of shape (n_spaced,)
        Mean distance of each to its nearest neighbors, without itself.
    limit : float
        The relative distance above which a query is far.
    """

    rows: Indices
    distances: Floats
    limit: float

    def relative(
        self,
        model: NeighborModel,
        queries: Floats,
        distances: Floats,
        *,
        exclude: Indices | None = None,
        n_jobs: int | None = None,
    ) -> Floats:
        """Return the distances of queries to their neighbors, relative to those of the rows around: s(x).

        Parameters
        ----------
        model : NeighborModel
        queries : ndarray of shape (n_queries, n_features)
        distances : ndarray of shape (n_queries,)
            Mean distance of each to its nearest neighbors.
        exclude : ndarray of shape (n_queries,) or None, default=None
            For each query the training row that it is; -1 for none.
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        relative : ndarray of shape (n_queries,)
            0 where the distance is small.
        """
        n_around = min(N_AROUND, len(self.rows) - 1)
        around = self.nearest(model, queries, n_around, exclude=exclude, n_jobs=n_jobs)
        relative = relative_distances(distances, self.distances, around)
        return np.where(distances < np.quantile(self.distances, NEARER), 0.0, relative)


def nearest_distances(distances: Floats, shares: Floats) -> Floats:
    """Return the mean distance to the nearest three of the neighbors that voted: (n_queries,).

    Parameters
    ----------
    distances, shares : ndarray of shape (n_queries, k)
        Lengths, nearest first, and shares of the vote.
    """
    voted = shares[:, :N_NEAREST] > 0
    total = np.where(voted, distances[:, :N_NEAREST], 0.0).sum(axis=1)
    return total / np.maximum(voted.sum(axis=1), 1)


def spacing_of(model: NeighborModel, *, n_jobs: int | None = None) -> Spacing | None:
    """Return the spacing of the training rows of a model, which is kept and saved with it.

    None if there are fewer than three.
    """
    spacing: Spacing | None = model.derived.get(SPACING)
    if spacing is None and len(model.X) > 2:
        spacing = model.derived[SPACING] = compute_spacing(model, n_jobs=n_jobs)
    return spacing


def compute_spacing(model: NeighborModel, *, n_jobs: int | None = None) -> Spacing:
    """Measure how far up to 1000 training rows are from their neighbors, each without itself."""
    n_rows = len(model.X)
    n_spaced = min(n_rows, MOST_ROWS)
    if model.work_per_query > 0:
        n_spaced = min(n_spaced, max(int(WORK / model.work_per_query), 100))
    rows = np.linspace(0, n_rows - 1, n_spaced).astype(np.int64)
    indices, squared = model.voters(model.X[rows], exclude=rows, n_jobs=n_jobs)
    shares = model.vote(indices, squared).shares
    distances = nearest_distances(np.sqrt(np.maximum(squared, 0.0)), shares)
    spacing = Spacing(rows, distances, np.inf)
    relative = spacing.relative(model, model.X[rows], distances, exclude=rows, n_jobs=n_jobs)
    spacing.limit = float(np.quantile(relative, SHARE, method="higher"))
    return spacing


def find_far(
    model: NeighborModel,
    queries: Floats,
    distances: Floats,
    extremes: Floats,
    *,
    exclude: Indices | None = None,
    n_jobs: int | None = None,
) -> NDArray[np.bool_]:
    """Return to which queries nothing similar was seen: (n_queries,).

    Parameters
    ----------
    model : NeighborModel
        With training rows.
    queries : ndarray of shape (n_queries, n_features)
    distances : ndarray of shape (n_queries,)
        Mean distance of each to its nearest neighbors.
    extremes : ndarray of shape (2, n_features)
        The smallest and the largest number of the training rows; NaN for categories.
    exclude : ndarray of shape (n_queries,) or None, default=None
        For each query the training row that it is; -1 for none.
    n_jobs : int or None, default=None
        Number of threads.
    """
    low, high = extremes
    width = high - low
    with np.errstate(over="ignore", invalid="ignore"):
        beyond = (queries > high + width) | (queries < low - width)
    is_far = (beyond & (width > 0)).any(axis=1)
    spacing = spacing_of(model, n_jobs=n_jobs)
    if spacing is not None and len(queries):
        relative = spacing.relative(model, queries, distances, exclude=exclude, n_jobs=n_jobs)
        is_far |= ~(relative <= spacing.limit)  # distances that overflow are far
    return is_far
