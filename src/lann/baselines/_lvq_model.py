"""The model of learning vector quantization: metric forms, cost and prototypes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels
from lann.baselines._mapped_rows import diagonals, split_by_group, split_distance
from lann.model import NeighborModel, NeighborSearch, Votes, typical_values
from lann.search import smallest
from lann.vote import VoteRule

# Numbers in a tile of mapped rows: half a megabyte.
TILE = 2**16


class MatrixForm:
    """Ω is a matrix: maps of shape (n_metrics, rank, n_features)."""

    @staticmethod
    def initial_maps(n_metrics: int, axes: Floats) -> Floats:
        """Return initial maps that weight all axes (rank, n_features) equally: (n_metrics, …)."""
        return np.repeat(axes[None], n_metrics, axis=0)

    @staticmethod
    def apply(rows: Floats, omega: Floats) -> Floats:
        """Return Ω δ of every row δ: (n_rows, rank)."""
        return rows @ omega.T

    @staticmethod
    def apply_transposed(mapped: Floats, omega: Floats) -> Floats:
        """Return Ωᵀ z of every mapped row z: (n_rows, n_features)."""
        return mapped @ omega

    @staticmethod
    def gradient(mapped: Floats, rows: Floats) -> Floats:
        """Return Σ z δᵀ over mapped rows z and rows δ, in the shape of Ω."""
        return mapped.T @ rows

    @staticmethod
    def squared_distances(X: Floats, prototypes: Floats, metric_indices: Indices, maps: Floats) -> Floats:
        """Return all squared distances, ‖Ωx‖² − 2 xᵀΛw + ‖Ωw‖²; they can be negative by rounding."""
        # One product maps rows by all metrics, in tiles that stay in the cache.
        n_metrics, rank, n_features = maps.shape
        stacked = maps.reshape(-1, n_features).T
        norms = np.empty((len(X), n_metrics))
        tile = max(TILE // stacked.shape[1], 16)
        for first in range(0, len(X), tile):
            mapped = (X[first : first + tile] @ stacked).reshape(-1, n_metrics, rank)
            norms[first : first + tile] = np.einsum("ikr,ikr->ik", mapped, mapped)
        mapped_prototypes = np.empty((len(prototypes), rank))
        moments = np.empty(prototypes.shape)  # Λw
        for metric in range(n_metrics):
            some = metric_indices == metric
            mapped_prototypes[some] = prototypes[some] @ maps[metric].T
            moments[some] = mapped_prototypes[some] @ maps[metric]
        distances = norms[:, metric_indices]
        distances -= 2.0 * (X @ moments.T)
        distances += np.einsum("pr,pr->p", mapped_prototypes, mapped_prototypes)
        return distances

    @staticmethod
    def log_determinants(maps: Floats) -> tuple[Floats, Floats]:
        """Return log det Ω Ωᵀ of every metric, (n_metrics,), and the gradients 2 (Ω⁺)ᵀ."""
        if maps.shape[1] == maps.shape[2]:  # then Ω⁺ is the inverse, which is cheaper and more exact
            return 2.0 * np.linalg.slogdet(maps)[1], 2.0 * np.swapaxes(np.linalg.inv(maps), 1, 2)
        grams = maps @ np.swapaxes(maps, 1, 2)
        transposed = np.asarray(np.linalg.solve(grams, maps), np.float64)  # (Ω⁺)ᵀ = (Ω Ωᵀ)⁻¹ Ω
        return np.linalg.slogdet(grams)[1], 2.0 * transposed

    @staticmethod
    def matrices(maps: Floats) -> Floats:
        """Return every Λ: (n_metrics, n_features, n_features)."""
        return np.swapaxes(maps, 1, 2) @ maps

    diagonals = staticmethod(diagonals)  # of every Λ: (n_metrics, n_features)
    contributions = staticmethod(split_distance)


class DiagonalForm:
    """Ω is diagonal, with Λ_ll = Ω_l²: maps of shape (n_metrics, n_features)."""

    @staticmethod
    def initial_maps(n_metrics: int, axes: Floats) -> Floats:
        return np.ones((n_metrics, axes.shape[1])) / np.sqrt(axes.shape[1])

    @staticmethod
    def apply(rows: Floats, omega: Floats) -> Floats:
        return rows * omega

    @staticmethod
    def apply_transposed(mapped: Floats, omega: Floats) -> Floats:
        return mapped * omega

    @staticmethod
    def gradient(mapped: Floats, rows: Floats) -> Floats:
        return np.einsum("if,if->f", mapped, rows)

    @staticmethod
    def squared_distances(X: Floats, prototypes: Floats, metric_indices: Indices, maps: Floats) -> Floats:
        weights = np.square(maps)
        moments = weights[metric_indices] * prototypes
        distances = (np.square(X) @ weights.T)[:, metric_indices]
        distances -= 2.0 * (X @ moments.T)
        distances += np.einsum("pf,pf->p", moments, prototypes)
        return distances

    @staticmethod
    def log_determinants(maps: Floats) -> tuple[Floats, Floats]:
        return np.log(np.square(maps)).sum(axis=1), 2.0 / maps

    @staticmethod
    def diagonals(maps: Floats) -> Floats:
        return np.square(maps)

    @staticmethod
    def matrices(maps: Floats) -> Floats:
        return np.square(maps)[:, :, None] * np.eye(maps.shape[1])

    @staticmethod
    def contributions(steps: Floats, omega: Floats) -> Floats:
        return np.square(steps * omega)


MetricForm = MatrixForm | DiagonalForm


def normalize_trace(maps: Floats) -> tuple[Floats, Floats]:
    """Return maps with tr Λ = ‖Ω‖² = 1, and the norms that they were divided by: (n_metrics, 1, …)."""
    norms = np.sqrt(np.square(maps).sum(axis=tuple(range(1, maps.ndim)), keepdims=True))
    return maps / norms, norms


def unnormalized_gradients(gradients: Floats, normalized: Floats, norms: Floats) -> Floats:
    """Return the gradients with respect to maps, from those with respect to the normalized maps."""
    along = (gradients * normalized).sum(axis=tuple(range(1, normalized.ndim)), keepdims=True)
    return (gradients - along * normalized) / norms


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
    form : type of MetricForm
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
    form: type[MetricForm]
    steepness: float | None = None
    alpha: float = 0.0
    n_jobs: int | None = None

    def __call__(self, prototypes: Floats, maps: Floats) -> tuple[float, list[Floats]]:
        """Return the cost and its gradients with respect to the prototypes and the maps."""
        return self.on_rows(np.arange(len(self.X)), prototypes, maps)

    def on_rows(self, rows: Indices, prototypes: Floats, maps: Floats) -> tuple[float, list[Floats]]:
        """Return the cost on some of the rows, and its gradients."""
        maps, norms = normalize_trace(maps)
        n_features = maps.shape[-1]
        block = max(MAPPED // max(maps.size // n_features, len(prototypes), n_features), 1)
        parts = map_blocks(
            lambda part: self._sum_block(rows[part], prototypes, maps), len(rows), block, n_jobs=self.n_jobs
        )
        # In the order of the blocks, so that the sum does not depend on the threads.
        cost, prototype_gradient, map_gradient = parts[0]
        for part in parts[1:]:
            cost += part[0]
            prototype_gradient = prototype_gradient + part[1]
            map_gradient = map_gradient + part[2]
        cost, prototype_gradient = cost / len(rows), prototype_gradient / len(rows)
        map_gradient = map_gradient / len(rows)
        if self.alpha > 0:
            log_determinants, gradients = self.form.log_determinants(maps)
            strength = self.alpha / (len(maps) * maps.shape[1])
            cost -= strength * float(log_determinants.sum())
            map_gradient = map_gradient - strength * gradients
        return cost, [prototype_gradient, unnormalized_gradients(map_gradient, maps, norms)]

    def _sum_block(self, rows: Indices, prototypes: Floats, maps: Floats) -> tuple[float, Floats, Floats]:
        """Return Σ Φ(μ) over some rows, and its gradients.

        Parameters
        ----------
        rows : (n_rows,)
        prototypes : (n_prototypes, n_features)
        maps : (n_metrics, ...)
            Of trace 1.

        Returns
        -------
        cost : float
        prototype_gradient, map_gradient : ndarray
            In the shapes of `prototypes` and `maps`.
        """
        X = self.X[rows]
        nearest = self._nearest_prototypes(X, self.labels[rows], prototypes, maps)
        # Each row forms a pair with each of its two prototypes. Sorted by prototype, pairs of a metric are
        # consecutive.
        order = np.argsort(nearest, axis=None, kind="stable")
        pair_rows, pair_prototypes = order // 2, nearest.ravel()[order]
        steps = X[pair_rows] - prototypes[pair_prototypes]  # (2 n_rows, n_features)
        slices = self._slices_by_metric(pair_prototypes)
        mapped = np.empty((len(steps), maps.shape[1]))  # Ω δ
        for metric, pairs in slices:
            mapped[pairs] = self.form.apply(steps[pairs], maps[metric])
        distances = np.empty(nearest.size)
        distances[order] = np.einsum("ir,ir->i", mapped, mapped)

        cost, distance_gradient = self._activate(distances.reshape(-1, 2))
        mapped *= 2.0 * distance_gradient.ravel()[order, None]  # d ‖Ωδ‖² = 2 (Ωδ)ᵀ d(Ωδ)
        map_gradient, prototype_gradient = np.zeros_like(maps), np.zeros_like(prototypes)
        for metric, pairs in slices:
            map_gradient[metric] = self.form.gradient(mapped[pairs], steps[pairs])
        firsts = np.flatnonzero(np.diff(pair_prototypes, prepend=-1))
        paired, sums = pair_prototypes[firsts], np.add.reduceat(mapped, firsts, axis=0)
        for metric, some in self._slices_by_metric(paired):
            prototype_gradient[paired[some]] = -self.form.apply_transposed(sums[some], maps[metric])
        return cost, prototype_gradient, map_gradient

    def _slices_by_metric(self, prototypes: Indices) -> list[tuple[int, slice]]:
        """Return each metric in use, and the slice of the ascending prototypes that have it."""
        metrics = self.metric_indices[prototypes]
        firsts = np.flatnonzero(np.diff(metrics, prepend=-1)).tolist()
        lasts = [*firsts[1:], len(metrics)]
        return [(int(metrics[a]), slice(a, b)) for a, b in zip(firsts, lasts, strict=True)]

    def _nearest_prototypes(self, X: Floats, labels: Labels, prototypes: Floats, maps: Floats) -> Indices:
        """Return the nearest prototype of the class of each row, and of the other classes: (n_rows, 2)."""
        distances = self.form.squared_distances(X, prototypes, self.metric_indices, maps)
        same_class = labels[:, None] == self.prototype_labels
        nearest_same = np.where(same_class, distances, np.inf).argmin(axis=1)
        nearest_other = np.where(same_class, np.inf, distances).argmin(axis=1)
        return np.stack([nearest_same, nearest_other], axis=1)

    def _activate(self, distances: Floats) -> tuple[float, Floats]:
        """Return Σ Φ(μ), and its gradient with respect to the distances d⁺ and d⁻: (n_rows, 2)."""
        same, other = distances.T
        total = same + other + TINY
        costs, slopes = (same - other) / total, np.ones(len(distances))
        if self.steepness is not None:
            costs = 0.5 * (1.0 + np.tanh(0.5 * self.steepness * costs))  # the sigmoid, without overflow
            slopes = self.steepness * costs * (1.0 - costs)
        gradient = (2.0 * slopes / total)[:, None] * np.stack([other / total, -same / total], axis=1)
        return float(costs.sum()), gradient


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
    form : type of MetricForm
        The form of the maps.
    training_rows : (n_samples, n_features)
        Only typical values of the features are kept.
    """

    has_training_rows = False

    def __init__(
        self, X: Floats, labels: Labels, metric_indices: Indices, maps: Floats, form: type[MetricForm], *,
        training_rows: Floats,
    ) -> None:  # fmt: skip
        self.X, self.labels = X, labels
        self.metric_indices, self.maps, self.form = metric_indices, maps, form
        self._typical_values = typical_values(training_rows)
        self.n_classes = self.n_neighbors = int(labels[-1]) + 1
        self.wide_neighborhood = len(X)
        self.derived: dict[str, Any] = {}

    @property
    def vote_rule(self) -> VoteRule:  # type: ignore[override]
        return VoteRule(1.0, 0.0)

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
            mapped = self.form.apply(queries, omega)
            for prototype in np.flatnonzero(self.metric_indices == metric):
                steps = mapped - self.form.apply(self.X[prototype], omega)
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
