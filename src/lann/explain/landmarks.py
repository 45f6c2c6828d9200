"""Readings that are kept: some training points at which it is known what the vote hangs on.

A single reading is a noisy sample, as few neighbors vote. That of a query is therefore the mean over the
landmarks near it, as they measure. It costs a search among few points, and no further vote.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann._types import Floats, Indices, Labels
from lann.explain.correlation import correlated_places
from lann.explain.sensitivity import N_VALUES, Readings, read, usual_values
from lann.search import exhaustive_search
from lann.vote import class_shares, vote_shares

if TYPE_CHECKING:
    from lann.model import LocalModel

MOST_LANDMARKS = 500
# Training points that are asked to vote on changed places.
MOST_VOTERS = 1000
# Multiplications of all readings together: some seconds.
WORK = 4e10
# How many neighbors vote there: more than for a prediction, so that a single one decides nothing.
N_NEIGHBORS = 20
# How many landmarks are asked about a query.
N_NEAR = 10


class Landmarks:
    """Training points with readings.

    Parameters
    ----------
    model
        Whose votes are read.
    n_jobs
        Threads.
    """

    def __init__(self, model: LocalModel, *, n_jobs: int | None = None) -> None:
        levels = model.levels
        n_points, n_features = levels.X.shape
        # Each changed place is put along the axes, and held against all voters.
        per_change = float(n_features * levels.points.shape[1] + MOST_VOTERS * (2 * n_features + 1))
        cost = MOST_LANDMARKS * n_features * N_VALUES * per_change
        shrink = min(1.0, (WORK / cost) ** 0.5)
        voters = spread(levels.labels, min(n_points, int(MOST_VOTERS * shrink)))
        self.rows = spread(levels.labels, min(n_points, int(MOST_LANDMARKS * shrink)))
        self._search = exhaustive_search(model.metric.subset(self.rows))
        self._n_near = min(len(self.rows), max(3, min(N_NEAR, len(self.rows) // 50)))
        search = exhaustive_search(model.metric.subset(voters))
        labels, k = levels.labels[voters], min(N_NEIGHBORS, len(voters) - 1)

        own = np.searchsorted(voters, self.rows)
        own[voters[np.minimum(own, len(voters) - 1)] != self.rows] = -1

        def votes(places: Floats, origins: Indices) -> Floats:
            # No landmark votes on itself: it would decide alone.
            indices, distances = search.query(model.place(places), k, exclude=own[origins], n_jobs=n_jobs)
            shares = vote_shares(
                distances, weights="distance", power=1.0, epsilon=model.epsilon,
                votes=None if model.class_votes is None else model.class_votes[labels[indices]],
            )  # fmt: skip
            return class_shares(shares, labels[indices], model.n_classes)

        self.readings: Readings = read(votes, levels.X[self.rows], usual_values(levels.X))
        self.correlated_places = correlated_places(levels.X)

    def near(self, queries: Floats, *, n_jobs: int | None = None) -> Indices:
        """The landmarks that are asked about each query, given along the axes: (n_queries, n_near)."""
        return self._search.query(queries, self._n_near, n_jobs=n_jobs)[0]


def spread(labels: Labels, n_wanted: int) -> Indices:
    """Some of the points, as many of each class as its share: (n_wanted,) ascending."""
    by_class = np.argsort(labels, kind="stable")
    places = np.linspace(0, len(labels) - 1, max(n_wanted, 1)).round().astype(np.int64)
    return np.sort(by_class[places])
