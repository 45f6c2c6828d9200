"""Prototypes with learned metrics, as a model: the nearest prototype of every class votes."""

from __future__ import annotations

from typing import Any

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.baselines._lvq.metric_forms import MetricForm
from lann.baselines._mapped_rows import split_by_group
from lann.metrics import overflow_is_far
from lann.model import NeighborModel, NeighborSearch, Votes, typical_values
from lann.search import smallest
from lann.vote import VoteRule

# Numbers in the mapped queries of one block: 1 MB.
MAPPED = 2**17


class Prototypes(NeighborModel):
    """Prototypes with learned metrics.

    Parameters
    ----------
    X : (n_prototypes, n_features)
    labels : (n_prototypes,)
        Class indices, ascending.
    metric_indices : (n_prototypes,)
        Position of the metric of each prototype in `maps`.
    maps : (n_metrics, ...)
        Of trace 1.
    form : type of MetricForm
        The form of the maps.
    training_rows : (n_samples, n_features)
        Only typical values of the features are kept.
    """

    has_training_rows = False

    def __init__(
        self,
        X: Floats,
        labels: Labels,
        metric_indices: Indices,
        maps: Floats,
        form: type[MetricForm],
        *,
        training_rows: Floats,
    ) -> None:
        self.X, self.labels = X, labels
        self.metric_indices, self.maps, self.form = metric_indices, maps, form
        self._typical_values = typical_values(training_rows)
        self.n_classes = self.n_neighbors = int(labels[-1]) + 1
        self.wide_neighborhood = len(X)
        self.derived: dict[str, Any] = {}

    @property
    def vote_rule(self) -> VoteRule:
        return VoteRule(1.0, 0.0)

    @property
    def typical_values(self) -> Floats:
        return self._typical_values

    def all_distances(self, queries: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return the squared distances to all prototypes, (n_queries, n_prototypes); inf on overflow."""
        block = max(MAPPED // queries.shape[1], 64)
        parts = map_blocks(
            lambda part: self._squared_distances(queries[part]), len(queries), block, n_jobs=n_jobs
        )
        return np.concatenate(parts)

    @overflow_is_far
    def _squared_distances(self, queries: Floats) -> Floats:
        distances = np.empty((len(queries), len(self.X)))
        for metric, omega in enumerate(self.maps):
            mapped = self.form.apply(queries, omega)
            for prototype in np.flatnonzero(self.metric_indices == metric):
                steps = mapped - self.form.apply(self.X[prototype], omega)
                distances[:, prototype] = np.einsum("ir,ir->i", steps, steps)
        return np.where(np.isnan(distances), np.inf, distances)

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        indices = np.tile(np.arange(len(self.X)), (len(queries), 1))
        if exclude is not None:
            indices[indices == exclude[:, None]] = -1
        return smallest(self.all_distances(queries, n_jobs=n_jobs), indices, k)

    def voters(
        self, queries: Floats, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the nearest prototype of every class, nearest first, and their squared distances."""
        distances = self.all_distances(queries, n_jobs=n_jobs)
        firsts = np.flatnonzero(np.diff(self.labels, prepend=-1))
        lasts = [*firsts[1:], len(self.labels)]
        nearest = np.stack(
            [a + distances[:, a:b].argmin(axis=1) for a, b in zip(firsts, lasts, strict=True)], axis=1
        )
        distances = np.take_along_axis(distances, nearest, axis=1)
        order = np.argsort(distances, axis=1, kind="stable")
        return np.take_along_axis(nearest, order, axis=1), np.take_along_axis(distances, order, axis=1)

    def vote(self, indices: Indices, distances: Floats) -> Votes:
        """Let the nearest prototype of every class vote with 1/d; one at distance 0 has the whole vote."""
        classes = self.labels[indices]
        by_class = np.empty(distances.shape)
        np.put_along_axis(by_class, classes, distances, axis=1)
        least = by_class.min(axis=1, keepdims=True)
        # Relative to the nearest, so that neither tiny nor huge distances leave the range of a float.
        support = np.ones(by_class.shape)
        np.divide(least, by_class, out=support, where=by_class > least)
        probabilities = support / support.sum(axis=1, keepdims=True)
        return Votes(np.take_along_axis(probabilities, classes, axis=1), probabilities)

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        return np.take_along_axis(self.all_distances(queries, n_jobs=n_jobs), indices, axis=1)

    @overflow_is_far
    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        steps = queries[:, None, :] - self.X[indices]
        return split_by_group(steps, self.metric_indices[indices], self.maps, self.form.contributions)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        return self.form.diagonals(self.maps)[self.metric_indices]

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return the feature weights of the nearest prototype of each query: (n_queries, n_features)."""
        return self.feature_weights()[indices[:, 0]]

    def local_matrices(self, rows: Indices) -> Floats:
        return self.form.matrices(self.maps)[self.metric_indices[rows]]

    def search_among(self, rows: Indices) -> NeighborSearch:
        return Prototypes(
            self.X[rows], self.labels[rows], self.metric_indices[rows], self.maps, self.form,
            training_rows=self.X,
        )  # fmt: skip
