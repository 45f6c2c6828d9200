"""The fitted model: training rows, their metrics, the search for neighbors and the vote, behind one protocol.

Rows and queries are in the user's units; distances are squared.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol, runtime_checkable

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Indices, Labels
from lann.metrics import DiagonalMetric, Levels, MatrixMetric
from lann.search import (
    ExactSearch,
    GraphSearch,
    MeasuredSearch,
    Search,
    Shortlist,
    coarse_search,
    exhaustive_search,
    smallest,
)
from lann.vote import NEIGHBORS, VoteRule, choose_n_neighbors, class_shares, zero_distance_guard

# Training rows from which the number of neighbors is chosen, and the typical distance is estimated.
ROWS_FOR_CHOICE = 5_000
ROWS_FOR_SCALE = 1_000
# Neighbors of a block of queries that are held at once: 32 MB of distances.
HELD = 2**22
# The size of a wide neighborhood: as many rows as there usually are candidates.
WIDE = 50
# Number of values that represent all values of a feature: quantiles.
N_TYPICAL = 8


def typical_values(X: Floats) -> Floats:
    """Return values that represent all values of each feature: (N_TYPICAL, n_features), quantiles of X."""
    middles = (np.arange(N_TYPICAL) + 0.5) / N_TYPICAL
    return np.quantile(X, middles, axis=0, method="nearest")


class Votes(NamedTuple):
    """The result of a vote.

    Attributes
    ----------
    shares : (n_queries, k)
        Share of the vote of each neighbor; rows add up to 1.
    probabilities : (n_queries, n_classes)
        Share of the vote of each class.
    """

    shares: Floats
    probabilities: Floats


class Candidates(NamedTuple):
    """The training rows that can vote on each query, also if one of them is left out.

    Attributes
    ----------
    indices, distances : (n_queries, n_kept)
    n_searched : int
        The first `n_searched` columns are the candidates of the model; the next one replaces any of them.
    """

    indices: Indices
    distances: Floats
    n_searched: int


class NeighborSearch(Protocol):
    """A search for neighbors among some training rows."""

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query and their squared distances, (n_queries, k) each."""


@runtime_checkable
class NeighborModel(NeighborSearch, Protocol):
    """Rows that measure their distance to a query, and vote: what a fitted classifier consists of.

    Explanations, counterfactuals, embeddings and plots use a fitted classifier through this protocol alone. A
    subclass provides the abstract methods; the others can be overridden where there is a faster way.

    Attributes
    ----------
    X : (n_rows, n_features)
        The rows that vote, in the user's units: training rows, or prototypes.
    labels : (n_rows,)
        Their class indices.
    n_classes : int
    n_neighbors : int
        Number of rows that vote on a query.
    has_training_rows : bool
        Whether the rows are training rows.
    wide_neighborhood : int
        Number of neighbors up to which `kneighbors` returns what the vote is based on.
    derived : dict
        Values that others have computed from the model, by name; they are saved with it.
    """

    X: Floats
    labels: Labels
    n_classes: int
    n_neighbors: int
    has_training_rows: bool
    wide_neighborhood: int
    derived: dict[str, Any]

    @abstractmethod
    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query, as each row measures.

        Parameters
        ----------
        queries : (n_queries, n_features)
        k : int
            At most the number of rows, or one less with `exclude`.
        exclude : (n_queries,) or None
            For each query a row that is not its neighbor: the query itself; -1 for none.
        n_jobs : int or None
            Number of threads.

        Returns
        -------
        indices : (n_queries, k)
            Nearest first, equal distances by index.
        distances : (n_queries, k)
            Squared.
        """

    @abstractmethod
    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        """Return the squared distances of each query to given rows, as these measure: (n_queries, k)."""

    @abstractmethod
    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        """Return what each feature adds to the squared distances of given rows.

        (n_queries, k, n_features).
        """

    @abstractmethod
    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return how much a difference in each feature counts for each row: (n_rows, n_features)."""

    @abstractmethod
    def local_matrices(self, rows: Indices) -> Floats:
        """Return the metrics of some rows near themselves: (len(rows), n_features, n_features)."""

    @abstractmethod
    def search_among(self, rows: Indices) -> NeighborSearch:
        """Return an exact search among some of the rows; its indices count these rows."""

    @property
    @abstractmethod
    def vote_rule(self) -> VoteRule:
        """How the neighbors vote."""

    @property
    def n_axes(self) -> int:
        """Number of axes in which distances are measured."""
        return self.X.shape[1]

    @property
    def work_per_query(self) -> float:
        """Multiplications that a query needs beyond its transform and the comparison on shared axes."""
        return 0.0

    @property
    def typical_values(self) -> Floats:
        """Values that represent all training values of each feature: (n_values, n_features)."""
        return typical_values(self.X)

    def transform(self, X: Floats) -> Floats:
        """Return rows on the axes in which distances are measured: (n_queries, n_axes)."""
        return X

    def voters(
        self, queries: Floats, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the rows that vote on each query, nearest first, and their squared distances."""
        k = min(self.n_neighbors, len(self.X) - (exclude is not None))
        return self.kneighbors(queries, k, exclude=exclude, n_jobs=n_jobs)

    def vote(self, indices: Indices, distances: Floats) -> Votes:
        """Let rows at given squared distances vote: (n_queries, k) each."""
        labels = self.labels[indices]
        shares = self.vote_rule.shares(distances, labels)
        return Votes(shares, class_shares(shares, labels, self.n_classes))

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return the mean feature weights of the neighbors of each query, weighted by their vote shares.

        Parameters
        ----------
        queries : (n_queries, n_features)
        indices, shares : (n_queries, k)

        Returns
        -------
        weights : (n_queries, n_features)
        """
        return np.einsum("qk,qkf->qf", shares, self.feature_weights(n_jobs=n_jobs)[indices])

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        """Return the rows that can vote on each query, also if one of them is left out."""
        n_voters = min(self.n_neighbors, len(self.X))
        k = min(n_voters + 1, len(self.X))
        return Candidates(*self.kneighbors(queries, k, n_jobs=n_jobs), n_voters)

    def shared_kneighbors(self, k: int, *, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        """Return the k nearest other rows of each row, under shared metrics if there are any."""
        return self.kneighbors(self.X, k, exclude=np.arange(len(self.X)), n_jobs=n_jobs)

    def kneighbors_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of the classes that are allowed for each query.

        Parameters
        ----------
        queries : (n_queries, n_features)
        allowed : (n_queries, n_classes)
        k : int

        Returns
        -------
        indices, distances : (n_queries, k)
            Where there are fewer rows, the index is -1 and the distance infinite.
        """
        indices, distances = np.full((len(queries), k), -1), np.full((len(queries), k), np.inf)
        enough = np.minimum(allowed @ np.bincount(self.labels, minlength=self.n_classes), k)
        n_searched, missing = min(8 * k, len(self.X)), np.flatnonzero(enough > 0)
        while len(missing):  # search more neighbors, until enough of them are of allowed classes
            block, incomplete = max(HELD // n_searched, 1), []
            for start in range(0, len(missing), block):
                rows = missing[start : start + block]
                found, squared = self.kneighbors(queries[rows], n_searched, n_jobs=n_jobs)
                found = np.where(allowed[rows[:, None], self.labels[found]], found, -1)
                indices[rows], distances[rows] = smallest(squared, found, k)
                incomplete.append(rows[(indices[rows] >= 0).sum(axis=1) < enough[rows]])
            if n_searched == len(self.X):  # distances that overflow are not found
                break
            n_searched, missing = min(4 * n_searched, len(self.X)), np.concatenate(incomplete)
        return indices, distances


class LocalModel(NeighborModel):
    """Training rows that each own a metric, with curves, linear map and class metrics shared by all.

    Parameters
    ----------
    levels : Levels
        Training rows and their metrics.
    n_candidates : int or None
        Size of the shortlist; None searches all rows.
    n_neighbors : int or "auto"
        Number of neighbors that vote; "auto" chooses it by leave-one-out accuracy.
    power : float
        Of the vote.
    class_weight : (n_classes,) or None
        Factor of the votes of each class.
    index : GraphSearch or None
        A graph under the class metric of the levels, if there is one already.
    n_jobs : int or None
        Number of threads.
    """

    has_training_rows = True
    _index: GraphSearch | None = None

    def __init__(
        self,
        levels: Levels,
        *,
        n_candidates: int | None,
        n_neighbors: int | str,
        power: float,
        class_weight: Floats | None = None,
        index: GraphSearch | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.levels = levels
        self.X, self.labels = levels.X, levels.labels
        self.n_classes = len(levels.class_log_weights)
        self.n_candidates = n_candidates
        # More would make the shortlist longer, and change the neighbors.
        self.wide_neighborhood = n_candidates or WIDE
        self.derived: dict[str, Any] = {}
        if index is not None:
            self._index = index
        self.n_neighbors = NEIGHBORS[0] if isinstance(n_neighbors, str) else int(n_neighbors)
        self._vote_rule = VoteRule(float(power), 1.0, class_weight)
        if len(self.X) > 1:
            self._estimate_vote(n_neighbors == "auto", n_jobs)

    def _estimate_vote(self, choose: bool, n_jobs: int | None) -> None:
        """Estimate ε from the neighbors of a sample of training rows, and choose the number of neighbors."""
        n_rows = len(self.X)
        n_sampled = min(n_rows, ROWS_FOR_CHOICE if choose else ROWS_FOR_SCALE)
        rows = np.linspace(0, n_rows - 1, n_sampled).astype(np.int64)
        k = min(max(NEIGHBORS) if choose else self.n_neighbors, n_rows - 1)
        search = self._build_search(n_sampled)
        indices, distances = search.query(self.levels.points[rows], k, exclude=rows, n_jobs=n_jobs)
        rule = VoteRule(
            self._vote_rule.power, zero_distance_guard(distances[:, :5]), self._vote_rule.class_weight
        )
        self._vote_rule = rule
        if choose:
            self.n_neighbors = choose_n_neighbors(
                distances, self.labels[indices], self.labels[rows], self.n_classes, rule
            )
        if not isinstance(search, Shortlist) or not self._wants_graph(None):
            self.__dict__["_search"] = search  # the one that queries use

    @property
    def vote_rule(self) -> VoteRule:
        return self._vote_rule

    @property
    def n_axes(self) -> int:
        return self.levels.class_log_weights.shape[1]

    @property
    def metric(self) -> DiagonalMetric | MatrixMetric:
        """The metric of every training row, on the axes."""
        return self._search.metric

    def transform(self, X: Floats) -> Floats:
        return self.levels.transform(X)

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._search.query(self.transform(queries), k, exclude=exclude, n_jobs=n_jobs)

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        return self.metric.distances(self.transform(queries), indices)

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        return self.levels.contributions(self.levels.curves.transform(queries), indices)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return the feature weights, per standard deviation of a feature if there are curves."""
        return self._feature_weights

    @cached_property
    def _feature_weights(self) -> Floats:
        levels = self.levels
        scale = np.ones(self.X.shape[1]) if levels.curves.is_identity else self.X.std(axis=0)
        return levels.feature_weights(scale)

    def local_matrices(self, rows: Indices) -> Floats:
        return self.levels.local_matrices(rows)

    def search_among(self, rows: Indices) -> NeighborSearch:
        return _Among(self.transform, exhaustive_search(self.metric.subset(rows)))

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        search, n_rows = self._search, len(self.X)
        if not isinstance(search, Shortlist) or search.n_candidates >= n_rows:
            return super().candidates(queries, n_jobs=n_jobs)
        n_searched = max(search.n_candidates, min(self.n_neighbors, n_rows))
        points = self.transform(queries)
        indices, _ = search.coarse.query(points, min(n_searched + 1, n_rows), n_jobs=n_jobs)
        return Candidates(indices, search.metric.distances(points, np.maximum(indices, 0)), n_searched)

    def shared_kneighbors(self, k: int, *, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        search, own = self._search, np.arange(len(self.X))
        coarse = search.coarse if isinstance(search, Shortlist) else coarse_search(self.levels.class_metric())
        return coarse.query(self.levels.points, k, exclude=own, n_jobs=n_jobs)

    def kneighbors_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        class_metric = None if self.n_candidates is None else self.levels.class_metric()

        def search_among(rows: Indices, n_queries: int) -> Search:
            metric = self.metric.subset(rows)
            if class_metric is None or self.n_candidates is None:
                return exhaustive_search(metric)
            return Shortlist(coarse_search(class_metric.subset(rows), n_queries), metric, self.n_candidates)

        points = self.transform(queries)
        return nearest_of_classes(points, self.labels, allowed, k, search_among, n_jobs=n_jobs)

    @cached_property
    def _search(self) -> ExactSearch | MeasuredSearch | Shortlist:
        # Two threads may both build it; either result is complete.
        return self._build_search(None)

    def _build_search(self, n_queries: int | None) -> ExactSearch | MeasuredSearch | Shortlist:
        metric = self.levels.local_metric()
        if self.n_candidates is None:
            return exhaustive_search(metric)
        if self._index is not None and self._wants_graph(n_queries):
            return Shortlist(self._index, metric, self.n_candidates)
        return Shortlist(coarse_search(self.levels.class_metric(), n_queries), metric, self.n_candidates)

    def _wants_graph(self, n_queries: int | None) -> bool:
        return GraphSearch.pays(len(self.X), n_queries)

    def __getstate__(self) -> dict[str, Any]:
        lazy = ("_search", "_feature_weights", "_index")
        return {name: value for name, value in self.__dict__.items() if name not in lazy}


class _Among:
    """A search among points on the axes, in the user's units."""

    def __init__(self, transform: Callable[[Floats], Floats], search: Search) -> None:
        self._transform, self._search = transform, search

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._search.query(self._transform(queries), k, exclude=exclude, n_jobs=n_jobs)


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
