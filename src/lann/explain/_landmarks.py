"""Landmarks: training rows at which relevances and supports are known.

The readings at a single row are noisy, as few neighbors vote. Those of a query are therefore the mean over
the landmarks near it, as these measure, which costs a search among a few hundred rows and no further vote.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from lann._inputs import mean_by_class
from lann._sampling import stratified_rows
from lann._types import Floats, Indices, Labels
from lann.explain._correlation import Groups, correlated_features
from lann.explain._readings import Readings, read
from lann.model import N_TYPICAL, CategoryValues, NeighborModel, NeighborSearch
from lann.vote import VoteRule

# The name under which they are kept in a model.
LANDMARKS = "landmarks"
MOST_LANDMARKS = 500
# Training rows among which the neighbors of changed rows are searched.
MOST_VOTERS = 1000
# Multiplications of all readings together: some seconds.
WORK = 4e10
# Number of neighbors that vote at a landmark: more than for a prediction, so that none decides alone.
N_NEIGHBORS = 20
# Number of landmarks over which the readings of a query are averaged.
N_NEAR = 10
# Number of values that represent the categories of a feature, if there is time; otherwise as many as of a
# number.
MOST_CATEGORIES = 24


@dataclass
class Landmarks:
    """Training rows with readings.

    Attributes
    ----------
    rows : ndarray of shape (n_landmarks,)
        Positions of the training rows, ascending.
    readings : Readings
    correlated : tuple of tuple of int
        Groups of features that are correlated in the training data.
    """

    rows: Indices
    readings: Readings
    correlated: Groups
    _search: NeighborSearch | None = field(default=None, init=False, repr=False, compare=False)

    # The search is built on first use, and never taken from a file.
    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_search"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(state["rows"], state["readings"], state["correlated"])  # type: ignore[misc]

    def near(self, model: NeighborModel, queries: Floats, *, n_jobs: int | None = None) -> Indices:
        """Return the landmarks nearest to each query.

        Parameters
        ----------
        model : NeighborModel
        queries : ndarray of shape (n_queries, n_features)
        n_jobs : int or None, default=None
            Number of threads.

        Returns
        -------
        near : ndarray of shape (n_queries, n_near)
            Positions in `rows`.
        """
        if self._search is None:
            self._search = model.search_among(self.rows)
        n_near = min(len(self.rows), max(3, min(N_NEAR, len(self.rows) // 50)))
        return self._search.kneighbors(queries, n_near, n_jobs=n_jobs)[0]

    def class_relevances(self, labels: Labels, n_classes: int) -> Floats:
        """Return the mean relevances of the landmarks of each class.

        Parameters
        ----------
        labels : ndarray of shape (n_rows,)
            Class indices of all training rows.
        n_classes : int

        Returns
        -------
        relevances : ndarray of shape (n_classes, n_features)
        """
        return mean_by_class(self.readings.relevances, labels[self.rows], n_classes)


def landmarks_of(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Return the landmarks of a model; they are computed on first use, and kept and saved with it."""
    landmarks: Landmarks | None = model.derived.get(LANDMARKS)
    if landmarks is None:
        landmarks = model.derived[LANDMARKS] = compute_landmarks(model, n_jobs=n_jobs)
    return landmarks


def compute_landmarks(model: NeighborModel, *, n_jobs: int | None = None) -> Landmarks:
    """Compute the readings of up to 500 training rows; fewer where the work would take too long."""
    n_rows, n_features = model.X.shape
    # Each changed row is transformed, and compared with all voters; a category has several axes.
    width = max(n_features, model.n_axes)
    per_change = float(width * model.n_axes + MOST_VOTERS * (2 * width + 1))
    categories = model.category_values(MOST_CATEGORIES)
    n_changes = _n_changes(n_features, categories)
    if MOST_LANDMARKS * n_changes * per_change > WORK:
        categories = model.category_values(N_TYPICAL)
        n_changes = _n_changes(n_features, categories)
    shrink = min(1.0, (WORK / (MOST_LANDMARKS * n_changes * per_change)) ** 0.5)
    n_landmarks = int(MOST_LANDMARKS * shrink)
    if model.n_axes > n_features:  # fewer voters do not make the transform cheaper
        n_landmarks = max(min(n_landmarks, int(WORK / (n_changes * width * model.n_axes))), 1)
    if model.work_per_query > 0:
        n_landmarks = max(min(n_landmarks, int(WORK / (n_changes * model.work_per_query))), 1)
    voters = stratified_rows(model.labels, min(n_rows, int(MOST_VOTERS * shrink)))
    rows = stratified_rows(model.labels, min(n_rows, n_landmarks))
    search = model.search_among(voters)
    k = min(N_NEIGHBORS, len(voters) - 1)
    rule = VoteRule(1.0, model.vote_rule.epsilon, model.vote_rule.class_weight)
    own = np.searchsorted(voters, rows)
    own[voters[np.minimum(own, len(voters) - 1)] != rows] = -1

    def votes(changed: Floats, origins: Indices) -> Floats:
        # A landmark does not vote on itself: it would decide alone.
        indices, distances = search.kneighbors(changed, k, exclude=own[origins], n_jobs=n_jobs)
        return model.count_votes(voters[indices], distances, model.mean_weight * k, rule).probabilities

    readings = read(votes, model.X[rows], model.typical_values, categories)
    is_category = np.isin(np.arange(n_features), list(categories))
    return Landmarks(rows, readings, correlated_features(model.X, is_category=is_category))


def _n_changes(n_features: int, categories: dict[int, CategoryValues]) -> int:
    """Return the number of changed rows per landmark."""
    n_numbers = n_features - len(categories)
    return n_numbers * N_TYPICAL + sum(len(values.codes) for values in categories.values())
