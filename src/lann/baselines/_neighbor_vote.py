"""Nearest neighbors under a learned metric: the vote, the neighbors and the account of both."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.validation import check_is_fitted

from lann._inputs import check_enough_points, check_ids, check_wanted_neighbors, feature_names
from lann._types import Floats, Indices, Labels
from lann._validation import Integer, OneOf, validate
from lann.baselines._estimator import Baseline
from lann.baselines._maps import MappedPoints
from lann.explain.aggregate import mean_by_class
from lann.explain.explanation import Explanation
from lann.vote import class_shares, vote_shares, zero_distance_guard

# Training points that are asked how far neighbors usually are.
ASKED_FOR_SCALE = 1_000


class NeighborVote(Baseline):
    """A baseline whose k nearest training points vote.

    Subclasses have the parameters `n_neighbors` and `weights`, and say in `_measure` what they learn.
    """

    _model: MappedPoints

    @abstractmethod
    def _measure(self, points: Floats, labels: Labels) -> MappedPoints:
        """Learn, and give the points with their metrics.

        points : (n_samples, n_features); labels : (n_samples,) places in `classes_`
        """

    def _check_parameters(self) -> None:
        validate("n_neighbors", self.n_neighbors, Integer(1))
        validate("weights", self.weights, OneOf("uniform", "distance"))

    def _learn(self, points: Floats, labels: Labels) -> None:
        check_enough_points(self.n_neighbors, len(points))
        self._model = model = self._measure(points, labels)
        model.labels = labels

    # Read on first use: a metric that belongs to whoever asks would be computed at every training point.
    @property
    def feature_weights_(self) -> Floats:
        return self._model.point_relevances(n_jobs=self.n_jobs)

    @property
    def class_feature_weights_(self) -> Floats:
        return mean_by_class(self.feature_weights_, self._model.labels, len(self.classes_))

    @property
    def mean_feature_weights_(self) -> Floats:
        return self.feature_weights_.mean(axis=0)

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Each class's share of the neighbors' votes: (n_queries, n_classes)."""
        indices, distances = self._voters(self._check_queries(X))
        return self._votes(self._shares(distances), indices)

    def kneighbors(
        self, X: ArrayLike | None = None, n_neighbors: int | None = None, return_distance: bool = True
    ) -> tuple[Floats, Indices] | Indices:
        """The nearest training points under the learned metric.

        Parameters
        ----------
        X : (n_queries, n_features), or None for the training points, each without itself
        n_neighbors : how many; by default as many as vote
        return_distance : whether to return lengths, too

        Returns
        -------
        lengths : (n_queries, n_neighbors) ascending
        indices : (n_queries, n_neighbors) rows of the training data
        """
        check_is_fitted(self)
        own = X is None
        queries = self._model.points if X is None else self._check_queries(X)
        k = self.n_neighbors if n_neighbors is None else n_neighbors
        check_wanted_neighbors(k, len(self._model.points), own=own)
        exclude = np.arange(len(queries)) if own else None
        indices, distances = self._model.nearest(queries, k, exclude=exclude, n_jobs=self.n_jobs)
        return (np.sqrt(distances), indices) if return_distance else indices

    def explain(self, X: ArrayLike, *, ids: ArrayLike | None = None) -> Explanation:
        """The neighbors behind each prediction, and what every feature had to do with it.

        Parameters
        ----------
        X : (n_queries, n_features)
        ids : (n_train,) what the training points are called: names, numbers, dates
        """
        queries = self._check_queries(X)
        names = None if ids is None else check_ids(ids, len(self._model.points))
        indices, found = self._voters(queries)
        contributions = self._model.contributions(queries, indices)
        shares = self._shares(found)
        votes = self._votes(shares, indices)
        relevances = self._model.relevances_at(queries, indices, shares)
        return Explanation(
            queries=queries,
            predictions=self.classes_[votes.argmax(axis=1)],
            probabilities=votes,
            neighbors=indices,
            neighbor_ids=None if names is None else names[indices],
            neighbor_labels=self.classes_[self._model.labels[indices]],
            distances=contributions.sum(axis=2),
            vote_shares=shares,
            contributions=contributions,
            relevances=relevances,
            feature_weights=relevances,
            feature_names=feature_names(self),
            classes=self.classes_,
        )

    def _voters(self, queries: Floats) -> tuple[Indices, Floats]:
        k = min(self.n_neighbors, len(self._model.points))  # it may have been set after the fit
        return self._model.nearest(queries, k, n_jobs=self.n_jobs)

    def _shares(self, distances: Floats) -> Floats:
        epsilon = self._epsilon() if self.weights == "distance" else 1.0
        return vote_shares(distances, weights=self.weights, power=1.0, epsilon=epsilon)

    def _epsilon(self) -> float:
        """What keeps votes of points at distance zero finite; found when it is first needed."""
        model = self._model
        if model.epsilon is None:
            n_points = len(model.points)
            asked = np.linspace(0, n_points - 1, min(n_points, ASKED_FOR_SCALE)).astype(np.int64)
            k = min(self.n_neighbors, n_points - 1)
            _, distances = model.nearest(model.points[asked], k, exclude=asked, n_jobs=self.n_jobs)
            model.epsilon = zero_distance_guard(distances)
        return model.epsilon

    def _votes(self, shares: Floats, indices: Indices) -> NDArray[np.float64]:
        return class_shares(shares, self._model.labels[indices], len(self.classes_))
