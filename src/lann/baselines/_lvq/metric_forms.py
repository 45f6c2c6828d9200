"""The metrics of prototypes, Λ = Ωᵀ Ω: with Ω a weight per feature, or a matrix; one for all or several.

Prototypes come sorted by the metric that they measure with (`owners`).
"""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Indices
from lann.baselines._mapped_rows import diagonals, split_distance

# Numbers in a tile of mapped points: half a megabyte.
TILE = 2**16


class MatrixForm:
    """Each metric's Ω is a matrix: maps of shape (n_metrics, rank, n_features)."""

    @staticmethod
    def start(n_metrics: int, axes: Floats) -> Floats:
        """Every metric sees the same axes, (rank, n_features)."""
        return np.repeat(axes[None], n_metrics, axis=0)

    @staticmethod
    def apply(steps: Floats, own: Floats) -> Floats:
        """Ω δ of every step: (n_steps, rank)."""
        return steps @ own.T

    @staticmethod
    def apply_transposed(turned: Floats, own: Floats) -> Floats:
        """Ωᵀ z: (n_steps, n_features)."""
        return turned @ own

    @staticmethod
    def slope(pulls: Floats, steps: Floats) -> Floats:
        """Σ z δᵀ, the shape of Ω."""
        return pulls.T @ steps

    @staticmethod
    def measure(points: Floats, prototypes: Floats, owners: Indices, maps: Floats) -> Floats:
        """Distances of all points to all prototypes, but for rounding: (n_points, n_prototypes).

        ‖Ωx‖² − 2 xᵀΛw + ‖Ωw‖²: one product maps points by all metrics, in tiles that stay in the cache.
        """
        n_metrics, rank, n_features = maps.shape
        stacked = maps.reshape(-1, n_features).T
        sizes = np.empty((len(points), n_metrics))
        tile = max(TILE // stacked.shape[1], 16)
        for first in range(0, len(points), tile):
            turned = (points[first : first + tile] @ stacked).reshape(-1, n_metrics, rank)
            sizes[first : first + tile] = np.einsum("ikr,ikr->ik", turned, turned)
        own = np.empty((len(prototypes), rank))
        moments = np.empty(prototypes.shape)
        for metric in range(n_metrics):
            some = owners == metric
            own[some] = prototypes[some] @ maps[metric].T
            moments[some] = own[some] @ maps[metric]
        found = sizes[:, owners]
        found -= 2.0 * (points @ moments.T)
        found += np.einsum("pr,pr->p", own, own)
        return found

    @staticmethod
    def volume(maps: Floats) -> tuple[Floats, Floats]:
        """log det Ω Ωᵀ of every metric, and its slope 2 (Ω⁺)ᵀ."""
        if maps.shape[1] == maps.shape[2]:  # then Ω⁺ is the inverse, which is cheaper and more exact
            return 2.0 * np.linalg.slogdet(maps)[1], 2.0 * np.swapaxes(np.linalg.inv(maps), 1, 2)
        grams = maps @ np.swapaxes(maps, 1, 2)
        inverses = np.asarray(np.linalg.solve(grams, maps), np.float64)  # (Ω Ωᵀ)⁻¹ Ω
        return np.linalg.slogdet(grams)[1], 2.0 * inverses

    @staticmethod
    def diagonals(maps: Floats) -> Floats:
        """The diagonal of every Λ: (n_metrics, n_features)."""
        return diagonals(maps)

    @staticmethod
    def matrices(maps: Floats) -> Floats:
        """Return every Λ: (n_metrics, n_features, n_features)."""
        return np.swapaxes(maps, 1, 2) @ maps

    @staticmethod
    def split(steps: Floats, own: Floats) -> Floats:
        """Return what each feature adds to the distance: (n_steps, n_features)."""
        return split_distance(steps, own)


class DiagonalForm:
    """Each metric's Ω is a weight per feature, so that Λ_ll = Ω_l²: maps of shape (n_metrics, n_features)."""

    @staticmethod
    def start(n_metrics: int, axes: Floats) -> Floats:
        return np.ones((n_metrics, axes.shape[1])) / np.sqrt(axes.shape[1])

    @staticmethod
    def apply(steps: Floats, own: Floats) -> Floats:
        return steps * own

    apply_transposed = apply

    @staticmethod
    def slope(pulls: Floats, steps: Floats) -> Floats:
        return np.einsum("if,if->f", pulls, steps)

    @staticmethod
    def measure(points: Floats, prototypes: Floats, owners: Indices, maps: Floats) -> Floats:
        weights = np.square(maps)
        moments = weights[owners] * prototypes
        found = (np.square(points) @ weights.T)[:, owners]
        found -= 2.0 * (points @ moments.T)
        found += np.einsum("pf,pf->p", moments, prototypes)
        return found

    @staticmethod
    def volume(maps: Floats) -> tuple[Floats, Floats]:
        return np.log(np.square(maps)).sum(axis=1), 2.0 / maps

    @staticmethod
    def diagonals(maps: Floats) -> Floats:
        return np.square(maps)

    @staticmethod
    def matrices(maps: Floats) -> Floats:
        return np.square(maps)[:, :, None] * np.eye(maps.shape[1])

    @staticmethod
    def split(steps: Floats, own: Floats) -> Floats:
        return np.square(steps * own)


Form = type[MatrixForm] | type[DiagonalForm]


def of_trace_one(raw: Floats) -> tuple[Floats, Floats]:
    """Maps with tr Λ = ‖Ω‖² = 1, and the norms that they were divided by: (n_metrics, 1, …)."""
    norms = np.sqrt(np.square(raw).sum(axis=tuple(range(1, raw.ndim)), keepdims=True))
    return raw / norms, norms


def through_trace_one(slopes: Floats, maps: Floats, norms: Floats) -> Floats:
    """The slopes with respect to what `of_trace_one` was given, from those with respect to its result."""
    along = (slopes * maps).sum(axis=tuple(range(1, maps.ndim)), keepdims=True)
    return (slopes - along * maps) / norms
