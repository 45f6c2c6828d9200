"""Forms of the metrics of prototypes, Λ = Ωᵀ Ω: Ω is a matrix, or diagonal.

`maps` holds the Ω of all metrics. `metric_indices`, (n_prototypes,) and ascending, gives the position of the
metric of each prototype in `maps`.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from lann._types import Floats, Indices
from lann.baselines._mapped_rows import diagonals, split_distance

# Numbers in a tile of mapped rows: half a megabyte.
TILE = 2**16


class MetricForm(ABC):
    """What depends on the form of Ω. Forms have no state and are used as classes."""

    @staticmethod
    @abstractmethod
    def initial_maps(n_metrics: int, axes: Floats) -> Floats:
        """Return initial maps that weight all axes equally.

        Parameters
        ----------
        n_metrics : int
        axes : (rank, n_features)

        Returns
        -------
        maps : (n_metrics, rank, n_features), or (n_metrics, n_features) if diagonal
        """

    @staticmethod
    @abstractmethod
    def apply(rows: Floats, omega: Floats) -> Floats:
        """Return Ω δ of every row δ: (n_rows, rank)."""

    @staticmethod
    @abstractmethod
    def apply_transposed(mapped: Floats, omega: Floats) -> Floats:
        """Return Ωᵀ z of every mapped row z: (n_rows, n_features)."""

    @staticmethod
    @abstractmethod
    def gradient(mapped: Floats, rows: Floats) -> Floats:
        """Return Σ z δᵀ over mapped rows z and rows δ, in the shape of Ω."""

    @staticmethod
    @abstractmethod
    def squared_distances(X: Floats, prototypes: Floats, metric_indices: Indices, maps: Floats) -> Floats:
        """Return the squared distances of all rows to all prototypes: (n_rows, n_prototypes).

        They are computed from products, as ‖Ωx‖² − 2 xᵀΛw + ‖Ωw‖², and can be negative by rounding.
        """

    @staticmethod
    @abstractmethod
    def log_determinants(maps: Floats) -> tuple[Floats, Floats]:
        """Return log det Ω Ωᵀ of every metric, (n_metrics,), and the gradients 2 (Ω⁺)ᵀ, shaped as maps."""

    @staticmethod
    @abstractmethod
    def diagonals(maps: Floats) -> Floats:
        """Return the diagonal of every Λ: (n_metrics, n_features)."""

    @staticmethod
    @abstractmethod
    def matrices(maps: Floats) -> Floats:
        """Return every Λ: (n_metrics, n_features, n_features)."""

    @staticmethod
    @abstractmethod
    def contributions(steps: Floats, omega: Floats) -> Floats:
        """Return what each feature adds to ‖Ω δ‖² of every step δ: (n_steps, n_features)."""


class MatrixForm(MetricForm):
    """Ω is a matrix: maps of shape (n_metrics, rank, n_features)."""

    @staticmethod
    def initial_maps(n_metrics: int, axes: Floats) -> Floats:
        return np.repeat(axes[None], n_metrics, axis=0)

    @staticmethod
    def apply(rows: Floats, omega: Floats) -> Floats:
        return rows @ omega.T

    @staticmethod
    def apply_transposed(mapped: Floats, omega: Floats) -> Floats:
        return mapped @ omega

    @staticmethod
    def gradient(mapped: Floats, rows: Floats) -> Floats:
        return mapped.T @ rows

    @staticmethod
    def squared_distances(X: Floats, prototypes: Floats, metric_indices: Indices, maps: Floats) -> Floats:
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
        if maps.shape[1] == maps.shape[2]:  # then Ω⁺ is the inverse, which is cheaper and more exact
            return 2.0 * np.linalg.slogdet(maps)[1], 2.0 * np.swapaxes(np.linalg.inv(maps), 1, 2)
        grams = maps @ np.swapaxes(maps, 1, 2)
        transposed = np.asarray(np.linalg.solve(grams, maps), np.float64)  # (Ω⁺)ᵀ = (Ω Ωᵀ)⁻¹ Ω
        return np.linalg.slogdet(grams)[1], 2.0 * transposed

    @staticmethod
    def diagonals(maps: Floats) -> Floats:
        return diagonals(maps)

    @staticmethod
    def matrices(maps: Floats) -> Floats:
        return np.swapaxes(maps, 1, 2) @ maps

    @staticmethod
    def contributions(steps: Floats, omega: Floats) -> Floats:
        return split_distance(steps, omega)


class DiagonalForm(MetricForm):
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


def normalize_trace(maps: Floats) -> tuple[Floats, Floats]:
    """Return maps with tr Λ = ‖Ω‖² = 1, and the norms that they were divided by: (n_metrics, 1, …)."""
    norms = np.sqrt(np.square(maps).sum(axis=tuple(range(1, maps.ndim)), keepdims=True))
    return maps / norms, norms


def unnormalized_gradients(gradients: Floats, normalized: Floats, norms: Floats) -> Floats:
    """Return the gradients with respect to maps, from those with respect to the normalized maps."""
    along = (gradients * normalized).sum(axis=tuple(range(1, normalized.ndim)), keepdims=True)
    return (gradients - along * normalized) / norms
