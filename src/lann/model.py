"""A fitted model: points with their metrics, the search for neighbors, and the vote."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._types import Floats, Indices
from lann.explain.landmarks import Landmarks
from lann.metrics.diagonal import DiagonalMetric
from lann.metrics.levels import Levels
from lann.metrics.matrix import MatrixMetric
from lann.search import ExactSearch, MeasuredSearch, Shortlist, coarse_search, exhaustive_search
from lann.training.choose_neighbors import NEIGHBORS, choose_neighbors
from lann.vote import class_shares, vote_shares, zero_distance_guard

# Training points asked to choose a vote, and to see how far neighbors usually are.
ASKED_FOR_VOTE = 5_000
ASKED_FOR_SCALE = 1_000


class LocalModel:
    """Everything a query needs, from the curves to the vote.

    Parameters
    ----------
    levels : points and what was learned about them
    n_candidates : of the shortlist; None searches all points
    weights : "distance" or "uniform"
    n_neighbors : that vote; "auto" chooses by leave-one-out
    power : of the vote
    class_votes : (n_classes,) how many votes a point of each class has; None where all have one
    """

    def __init__(
        self,
        levels: Levels,
        *,
        n_candidates: int | None,
        weights: str,
        n_neighbors: int | str,
        power: float,
        class_votes: Floats | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.levels = levels
        self.n_candidates = n_candidates
        self.weights = weights
        self.class_votes = class_votes
        neighbors = NEIGHBORS if isinstance(n_neighbors, str) else (int(n_neighbors),)
        self.n_neighbors, self.power, self.epsilon = neighbors[0], float(power), 1.0
        if len(levels.X) > 1:
            self._look_around(neighbors, n_jobs)

    def _look_around(self, neighbors: tuple[int, ...], n_jobs: int | None) -> None:
        """Ask training points for their neighbors, themselves left out: the usual distance, and the vote."""
        levels = self.levels
        to_choose = len(neighbors) > 1
        n_asked = min(len(levels.X), ASKED_FOR_VOTE if to_choose else ASKED_FOR_SCALE)
        asked = np.linspace(0, len(levels.X) - 1, n_asked).astype(np.int64)
        k = min(max(neighbors), len(levels.X) - 1)
        search = self._build_search(n_asked)
        indices, distances = search.query(levels.points[asked], k, exclude=asked, n_jobs=n_jobs)
        self.epsilon = zero_distance_guard(distances[:, :5])
        if to_choose:
            self.n_neighbors = choose_neighbors(
                distances, levels.labels[indices], levels.labels[asked], self.n_classes, self.epsilon,
                weights=self.weights, power=self.power, neighbors=neighbors, class_votes=self.class_votes,
            )  # fmt: skip

    @property
    def n_classes(self) -> int:
        return len(self.levels.class_log_weights)

    @property
    def n_voters(self) -> int:
        """The number of neighbors, as far as there are that many points."""
        return min(self.n_neighbors, len(self.levels.X))

    def place(self, X: Floats) -> Floats:
        """Queries as the metric sees them: on the curves, along the axes."""
        return self.levels.place(X)

    def nearest(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """The k nearest points of queries along the axes, and their squared distances."""
        return self.search.query(queries, k, exclude=exclude, n_jobs=n_jobs)

    def shares(self, indices: Indices, distances: Floats) -> Floats:
        """Each neighbor's part of the vote: (n_queries, k)."""
        votes = None if self.class_votes is None else self.class_votes[self.levels.labels[indices]]
        return vote_shares(
            distances, weights=self.weights, power=self.power, epsilon=self.epsilon, votes=votes
        )

    def votes(self, shares: Floats, indices: Indices) -> Floats:
        """Each class's part of the vote: (n_queries, n_classes)."""
        return class_shares(shares, self.levels.labels[indices], self.n_classes)

    @property
    def search(self) -> ExactSearch | MeasuredSearch | Shortlist:
        """Built on first use and not saved. Two threads may both build it; either is right and whole."""
        search = self.__dict__.get("_search")
        if search is None:
            search = self._search = self._build_search()
        return search

    def _build_search(self, n_queries: int | None = None) -> ExactSearch | MeasuredSearch | Shortlist:
        metric = self.levels.local_metric()
        if self.n_candidates is None:
            return exhaustive_search(metric)
        return Shortlist(coarse_search(self.levels.class_metric(), n_queries), metric, self.n_candidates)

    def landmarks(self, n_jobs: int | None = None) -> Landmarks:
        """Training points of which it is known what their vote hangs on; found on first use and not saved."""
        landmarks = self.__dict__.get("_landmarks")
        if landmarks is None:
            landmarks = self._landmarks = Landmarks(self, n_jobs=n_jobs)
        return landmarks

    @property
    def metric(self) -> DiagonalMetric | MatrixMetric:
        """Every point's own metric."""
        return self.search.metric

    def relevances(self) -> Floats:
        """Per standard deviation of a feature where there are curves, in the data's units otherwise."""
        levels = self.levels
        scale = np.ones(levels.X.shape[1]) if levels.curves.is_identity else levels.X.std(axis=0)
        return levels.relevances(scale)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in ("_search", "_landmarks")}
