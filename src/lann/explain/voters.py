"""What an account of training points asks a fitted estimator: who they are, how they measure and vote."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lann._inputs import feature_names
from lann._types import Floats, Indices, Labels
from lann.search import ExactSearch, MeasuredSearch, Shortlist, coarse_search, exhaustive_search
from lann.search.topk import smallest
from lann.vote import class_shares

if TYPE_CHECKING:
    from lann.model import LocalModel

# Neighbors of a block of queries that are held at once: 32 MB of distances.
HELD = 2**22
# How many neighbors are a wide neighborhood: as many as the candidates usually are.
WIDE = 50


class Candidates(NamedTuple):
    """Who can vote on each query, should one point be left out.

    Parameters
    ----------
    indices, distances : (n_queries, n_kept)
    n_asked : the first so many are those that are asked now; one more takes the place of any of them
    """

    indices: Indices
    distances: Floats
    n_asked: int


class Votes(NamedTuple):
    """Who decided about some queries, and how.

    Parameters
    ----------
    neighbors : (n_queries, k) training points
    shares : (n_queries, k) of the vote
    probabilities : (n_queries, n_classes)
    """

    neighbors: Indices
    shares: Floats
    probabilities: Floats


class Voters:
    """The training points of a baseline whose neighbors vote, asked in the data's units."""

    X: Floats
    labels: Labels
    n_voters: int
    n_wide = WIDE

    def __init__(self, clf: Any) -> None:
        self.clf = clf
        self.classes: NDArray[Any] = clf.classes_
        self.feature_names = feature_names(clf)
        self._take()

    def _take(self) -> None:
        model = self.clf._model
        self.X, self.labels = model.points, model.labels
        self.n_voters = min(self.clf.n_neighbors, len(self.X))

    def check(self, X: ArrayLike) -> Floats:
        """Queries as numbers, as many features as the model knows."""
        return self.clf._check_queries(X)

    def nearest(self, queries: Floats, k: int, *, exclude: Indices | None = None) -> tuple[Indices, Floats]:
        """The k nearest points of each query, and their squared distances: (n_queries, k)."""
        return self.clf._model.nearest(queries, k, exclude=exclude, n_jobs=self.clf.n_jobs)

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        """What each feature adds to the distances of some points: (n_queries, k, n_features)."""
        return self.clf._model.contributions(queries, indices)

    def shares(self, indices: Indices, distances: Floats) -> Floats:
        """Each neighbor's part of the vote: (n_queries, k)."""
        return self.clf._shares(distances)

    def votes(self, shares: Floats, indices: Indices) -> Floats:
        """Each class's part of the vote: (n_queries, n_classes)."""
        return class_shares(shares, self.labels[indices], len(self.classes))

    def vote(self, queries: Floats | None = None) -> Votes:
        """The vote on queries; on all training points, each without itself, if there are none."""
        own = None if queries is not None else np.arange(len(self.X))
        asked = self.X if queries is None else queries
        k = min(self.n_voters, len(self.X) - (own is not None))
        neighbors, distances = self.nearest(asked, k, exclude=own)
        shares = self.shares(neighbors, distances)
        return Votes(neighbors, shares, self.votes(shares, neighbors))

    def candidates(self, queries: Floats) -> Candidates:
        """The voters on each query, nearest first, and the next in line."""
        k = min(self.n_voters + 1, len(self.X))
        return Candidates(*self.nearest(queries, k), self.n_voters)

    def nearest_by_class(self, k: int) -> tuple[Indices, Floats]:
        """The k nearest of each training point but itself, by metrics that no point has to itself, if any."""
        return self.nearest(self.X, k, exclude=np.arange(len(self.X)))

    def nearest_of(self, queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Indices, Floats]:
        """The k nearest points of the classes that each query allows; -1 where there are fewer.

        allowed : (n_queries, n_classes)
        """
        indices, distances = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        enough = np.minimum((allowed @ np.bincount(self.labels, minlength=len(self.classes))), k)
        wanted, missing = min(8 * k, len(self.X)), np.flatnonzero(enough > 0)
        while len(missing):  # ask for more neighbors, until enough of them are allowed
            block, still = max(HELD // wanted, 1), []
            for start in range(0, len(missing), block):
                rows = missing[start : start + block]
                found, lengths = self.nearest(queries[rows], wanted)
                found = np.where(allowed[rows[:, None], self.labels[found]], found, -1)
                indices[rows], distances[rows] = smallest(lengths, found, k)
                still.append(rows[(indices[rows] >= 0).sum(axis=1) < enough[rows]])
            if wanted == len(self.X):  # what cannot be measured is not found
                break
            wanted, missing = min(4 * wanted, len(self.X)), np.concatenate(still)
        return indices, distances


class LocalVoters(Voters):
    """The training points of a LANNClassifier."""

    def _take(self) -> None:
        self._model: LocalModel = self.clf._model
        self.X, self.labels = self._model.levels.X, self._model.levels.labels
        self.n_voters = self._model.n_voters
        # More would make the shortlist longer, and change who votes.
        self.n_wide = self._model.n_candidates or WIDE

    def nearest(self, queries: Floats, k: int, *, exclude: Indices | None = None) -> tuple[Indices, Floats]:
        return self._model.nearest(self._model.place(queries), k, exclude=exclude, n_jobs=self.clf.n_jobs)

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        levels = self._model.levels
        return levels.contributions(levels.curves.transform(queries), indices)

    def shares(self, indices: Indices, distances: Floats) -> Floats:
        return self._model.shares(indices, distances)

    def candidates(self, queries: Floats) -> Candidates:
        search = self._model.search
        if not isinstance(search, Shortlist) or search.n_candidates >= len(self.X):
            return super().candidates(queries)
        n_asked = max(search.n_candidates, self.n_voters)
        placed, k = self._model.place(queries), min(n_asked + 1, len(self.X))
        indices, _ = search.coarse.query(placed, k, n_jobs=self.clf.n_jobs)
        return Candidates(indices, search.metric.distances(placed, np.maximum(indices, 0)), n_asked)

    def nearest_by_class(self, k: int) -> tuple[Indices, Floats]:
        search, own = self._model.search, np.arange(len(self.X))
        levels = self._model.levels
        coarse = search.coarse if isinstance(search, Shortlist) else coarse_search(levels.class_metric())
        return coarse.query(levels.points, k, exclude=own, n_jobs=self.clf.n_jobs)

    def nearest_of(self, queries: Floats, allowed: NDArray[np.bool_], k: int) -> tuple[Indices, Floats]:
        return nearest_of_classes(
            self._model.place(queries), self.labels, allowed, k, self._search_among, n_jobs=self.clf.n_jobs
        )

    def _search_among(self, rows: Indices, n_queries: int) -> ExactSearch | MeasuredSearch | Shortlist:
        """The model's way to search, among some points only."""
        model = self._model
        metric = model.metric.subset(rows)
        if model.n_candidates is None:
            return exhaustive_search(metric)
        coarse = coarse_search(model.levels.class_metric().subset(rows), n_queries)
        return Shortlist(coarse, metric, model.n_candidates)


def nearest_of_classes(
    placed: Floats,
    labels: Labels,
    allowed: NDArray[np.bool_],
    k: int,
    search_among: Callable[[Indices, int], ExactSearch | MeasuredSearch | Shortlist],
    *,
    n_jobs: int | None = None,
) -> tuple[Indices, Floats]:
    """The k nearest points of the classes that each query allows, class by class: (n_queries, k).

    Where there are fewer, the index is -1 and the distance infinite.

    Parameters
    ----------
    placed : (n_queries, n_axes) queries as the search knows them
    labels : (n_points,)
    allowed : (n_queries, n_classes)
    search_among
        From points and the number of queries to a search among these points.
    """
    indices, distances = np.full((len(placed), k), -1), np.full((len(placed), k), np.inf)
    for label in np.unique(labels):
        members, asking = np.flatnonzero(labels == label), np.flatnonzero(allowed[:, label])
        if len(asking) == 0:
            continue
        search = search_among(members, len(asking))
        found, lengths = search.query(placed[asking], min(k, len(members)), n_jobs=n_jobs)
        indices[asking], distances[asking] = smallest(
            np.concatenate([distances[asking], lengths], axis=1),
            np.concatenate([indices[asking], members[found]], axis=1),
            k,
        )
    return indices, distances


def voters_of(clf: Any) -> Voters:
    """The training points that vote in a fitted estimator.

    Raises
    ------
    ValueError
        If `clf` keeps no training points that vote.
    """
    check_is_fitted(clf)
    model = getattr(clf, "_model", None)
    if hasattr(model, "levels"):
        return LocalVoters(clf)
    if hasattr(model, "points") and hasattr(clf, "kneighbors"):
        return Voters(clf)
    hint = " Give its last step, and rows transformed by the others." if hasattr(clf, "steps") else ""
    raise ValueError(
        f"{type(clf).__name__} has no training points that vote; LANNClassifier and the baselines with "
        f"neighbors have.{hint}"
    )
