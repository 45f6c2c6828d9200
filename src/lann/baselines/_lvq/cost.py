"""The cost of generalized learning vector quantization, and its gradient."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.baselines._lvq.metric_forms import MetricForm, normalize_trace, unnormalized_gradients

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
