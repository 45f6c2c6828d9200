"""The model of learning vector quantization: distances, cost and prototypes.

A map Ω is a matrix of shape (rank, n_features) or, where it is diagonal, its diagonal of shape (n_features,).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels
from lann.baselines._baseline import squared_distances
from lann.baselines._mapped_rows import diagonals, split_by_group
from lann.model import NeighborModel, NeighborSearch, Votes
from lann.search import smallest
from lann.vote import VoteRule


def map_rows(rows: Floats, omega: Floats) -> Floats:
    """Return Ω δ of every row δ: (n_rows, rank)."""
    return rows * omega if omega.ndim == 1 else rows @ omega.T


def runs(ascending: Indices) -> list[tuple[int, slice]]:
    """Return each of the values, and the slice where it stands."""
    bounds = [*np.flatnonzero(np.diff(ascending, prepend=-1)).tolist(), len(ascending)]
    return [(int(ascending[a]), slice(a, b)) for a, b in pairwise(bounds)]


def log_determinants(maps: Floats) -> tuple[Floats, Floats]:
    """Return log det Ω Ωᵀ of every metric, (n_metrics,), and the gradients 2 (Ω⁺)ᵀ."""
    if maps.ndim == 2:
        return np.log(np.square(maps)).sum(axis=1), 2.0 / maps
    if maps.shape[1] == maps.shape[2]:  # then Ω⁺ is the inverse, which is cheaper and more exact
        return 2.0 * np.linalg.slogdet(maps)[1], 2.0 * np.swapaxes(np.linalg.inv(maps), 1, 2)
    grams = maps @ np.swapaxes(maps, 1, 2)
    transposed = np.asarray(np.linalg.solve(grams, maps), np.float64)  # (Ω⁺)ᵀ = (Ω Ωᵀ)⁻¹ Ω
    return np.linalg.slogdet(grams)[1], 2.0 * transposed


def normalize_trace(maps: Floats) -> tuple[Floats, Floats]:
    """Return maps with tr Λ = ‖Ω‖² = 1, and the norms that they were divided by: (n_metrics, 1, …)."""
    norms = np.sqrt(np.square(maps).sum(axis=tuple(range(1, maps.ndim)), keepdims=True))
    return maps / norms, norms


# Numbers in the largest array of one block (rows by all maps, by prototypes, or by features): 8 MB.
MAPPED = 2**20
# Keeps the quotient of two distances that are both zero finite.
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Cost:
    """The cost as a function of prototypes and maps.

        mean_i Φ(μ_i) − alpha · mean_k log det Ω_k Ω_kᵀ / rank,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    with d⁺ and d⁻ the squared distances of row i to the nearest prototype of its class and of another class.
    Maps can have any trace: the cost is that of the maps divided by their norms, with tr Ω_kᵀ Ω_k = 1.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    prototype_labels : (n_prototypes,)
        Class indices.
    metric_indices : (n_prototypes,)
        Position of the metric of each prototype, ascending.
    steepness : float or None, default=None
        Of the sigmoid Φ(μ) = 1 / (1 + exp(−steepness · μ)); None is Φ(μ) = μ.
    alpha : float, default=0.0
        Strength of the regularization.
    n_jobs : int or None, default=None
        Number of threads.
    """

    X: Floats
    labels: Labels
    prototype_labels: Labels
    metric_indices: Indices
    steepness: float | None = None
    alpha: float = 0.0
    n_jobs: int | None = None

    def __call__(self, prototypes: Floats, maps: Floats) -> tuple[float, list[Floats]]:
        """Return the cost and its gradients with respect to the prototypes and the maps."""
        n_rows, n_features = self.X.shape
        maps, norms = normalize_trace(maps)
        block = max(MAPPED // max(maps.size // n_features, len(prototypes), n_features), 1)
        parts = map_blocks(
            lambda part: self._sum_block(part, prototypes, maps), n_rows, block, n_jobs=self.n_jobs
        )
        # In the order of the blocks, so that the sums do not depend on the threads.
        cost, prototype_gradient, map_gradient = (sum(terms) / n_rows for terms in zip(*parts, strict=True))
        if self.alpha > 0:
            logarithms, gradients = log_determinants(maps)
            strength = self.alpha / (len(maps) * maps.shape[1])
            cost -= strength * float(logarithms.sum())
            map_gradient = map_gradient - strength * gradients
        # The gradient with respect to the maps of any trace has no part along these.
        along = (map_gradient * maps).sum(axis=tuple(range(1, maps.ndim)), keepdims=True)
        return cost, [prototype_gradient, (map_gradient - along * maps) / norms]

    def _sum_block(self, part: slice, prototypes: Floats, maps: Floats) -> tuple[float, Floats, Floats]:
        """Return Σ Φ(μ) over some rows, and its gradients.

        Parameters
        ----------
        part : slice
            The rows.
        prototypes : (n_prototypes, n_features)
        maps : (n_metrics, ...)
            Of trace 1.

        Returns
        -------
        cost : float
        prototype_gradient, map_gradient : ndarray
            In the shapes of `prototypes` and `maps`.
        """
        X = self.X[part]
        distances = np.empty((len(X), len(prototypes)))  # from products, up to rounding
        for metric, omega in enumerate(maps):
            some = self.metric_indices == metric
            distances[:, some] = squared_distances(map_rows(X, omega), map_rows(prototypes[some], omega))
        same_class = self.labels[part, None] == self.prototype_labels
        nearest_same = np.where(same_class, distances, np.inf).argmin(axis=1)
        nearest_other = np.where(same_class, np.inf, distances).argmin(axis=1)
        # Each row forms a pair with each of its two prototypes. Sorted by prototype, pairs of a metric are
        # consecutive.
        nearest = np.stack([nearest_same, nearest_other], axis=1)
        order = np.argsort(nearest, axis=None, kind="stable")
        pair_rows, pair_prototypes = order // 2, nearest.ravel()[order]
        steps = X[pair_rows] - prototypes[pair_prototypes]  # (2 n_rows, n_features)
        slices = runs(self.metric_indices[pair_prototypes])
        mapped = np.empty((len(steps), maps.shape[1]))  # Ω δ
        for metric, pairs in slices:
            mapped[pairs] = map_rows(steps[pairs], maps[metric])
        exact = np.empty(len(steps))
        exact[order] = np.einsum("ir,ir->i", mapped, mapped)
        same, other = exact.reshape(-1, 2).T

        total = same + other + TINY
        costs, slopes = (same - other) / total, np.ones(len(X))
        if self.steepness is not None:
            costs = 0.5 * (1.0 + np.tanh(0.5 * self.steepness * costs))  # the sigmoid, without overflow
            slopes = self.steepness * costs * (1.0 - costs)
        gradient = (2.0 * slopes / total)[:, None] * np.stack([other / total, -same / total], axis=1)

        mapped *= 2.0 * gradient.ravel()[order, None]  # d ‖Ωδ‖² = 2 (Ωδ)ᵀ d(Ωδ)
        map_gradient, prototype_gradient = np.zeros_like(maps), np.zeros_like(prototypes)
        for metric, pairs in slices:
            if maps.ndim == 2:
                map_gradient[metric] = np.einsum("if,if->f", mapped[pairs], steps[pairs])
            else:
                map_gradient[metric] = mapped[pairs].T @ steps[pairs]
        firsts = np.flatnonzero(np.diff(pair_prototypes, prepend=-1))
        paired, sums = pair_prototypes[firsts], np.add.reduceat(mapped, firsts, axis=0)
        for metric, some in runs(self.metric_indices[paired]):
            prototype_gradient[paired[some]] = -map_rows(sums[some], maps[metric].T)  # Ωᵀ z
        return float(costs.sum()), prototype_gradient, map_gradient


# Numbers in the mapped queries of one block: 1 MB.
MAPPED_QUERIES = 2**17


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
    typical_values : (n_values, n_features)
        Of the features in the training data.
    """

    has_training_rows = False
    vote_rule = VoteRule(1.0, 0.0)

    def __init__(
        self, X: Floats, labels: Labels, metric_indices: Indices, maps: Floats, typical_values: Floats
    ) -> None:
        self.X, self.labels = X, labels
        self.metric_indices, self.maps, self._typical_values = metric_indices, maps, typical_values
        self.n_classes = self.n_neighbors = int(labels[-1]) + 1
        self.wide_neighborhood = len(X)
        self.derived: dict[str, Any] = {}

    @property
    def typical_values(self) -> Floats:
        return self._typical_values

    def all_distances(self, queries: Floats, *, n_jobs: int | None = None) -> Floats:
        """Return the squared distances to all prototypes: (n_queries, n_prototypes)."""
        block = max(MAPPED_QUERIES // queries.shape[1], 64)
        parts = map_blocks(
            lambda part: self._squared_distances(queries[part]), len(queries), block, n_jobs=n_jobs
        )
        return np.concatenate(parts)

    def _squared_distances(self, queries: Floats) -> Floats:
        distances = np.empty((len(queries), len(self.X)))
        for metric, omega in enumerate(self.maps):
            mapped = map_rows(queries, omega)
            for prototype in np.flatnonzero(self.metric_indices == metric):
                steps = mapped - map_rows(self.X[prototype], omega)
                distances[:, prototype] = np.einsum("ir,ir->i", steps, steps)
        return distances

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
        nearest = np.stack(
            [own.start + distances[:, own].argmin(axis=1) for _, own in runs(self.labels)], axis=1
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

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        steps = queries[:, None, :] - self.X[indices]
        if self.maps.ndim == 2:
            return np.square(steps * self.maps[self.metric_indices[indices]])
        return split_by_group(steps, self.metric_indices[indices], self.maps)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        weights = np.square(self.maps) if self.maps.ndim == 2 else diagonals(self.maps)
        return weights[self.metric_indices]

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        """Return the feature weights of the nearest prototype of each query: (n_queries, n_features)."""
        return self.feature_weights()[indices[:, 0]]

    def local_matrices(self, rows: Indices) -> Floats:
        maps = self.maps[self.metric_indices[rows]]
        if maps.ndim == 2:
            return np.square(maps)[:, :, None] * np.eye(maps.shape[1])
        return np.swapaxes(maps, 1, 2) @ maps

    def search_among(self, rows: Indices) -> NeighborSearch:
        metrics = self.metric_indices[rows]
        found = Prototypes(self.X[rows], self.labels[rows], metrics, self.maps, self._typical_values)
        return found.kneighbors
