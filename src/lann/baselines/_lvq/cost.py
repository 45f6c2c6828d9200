"""The cost of generalized LVQ and its gradient: how much nearer is a prototype of the right class?"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.baselines._lvq.metric_forms import Form, of_trace_one, through_trace_one

# Numbers in the largest array of one block: points by all maps, by prototypes, or by features, 8 MB.
MAPPED = 2**20
# Keeps the quotient of two distances that are both zero finite.
TINY = 1e-300


@dataclass(frozen=True, eq=False)
class Cost:
    """mean_i Φ(μ_i) − alpha · mean_k log det Ω_k Ω_kᵀ / rank, with tr Ω_kᵀ Ω_k = 1.

    A function of the prototypes and of maps of any trace, which it divides by their norms itself.

    Parameters
    ----------
    points : (n_points, n_features)
    labels : (n_points,)
    prototype_labels : (n_prototypes,)
    owners : (n_prototypes,) each one's metric, ascending
    form : the metrics' form
    steepness : of Φ(μ) = 1 / (1 + exp(−steepness · μ)); None is Φ(μ) = μ
    alpha : of metrics that ignore directions
    n_jobs : threads
    """

    points: Floats
    labels: Labels
    prototype_labels: Labels
    owners: Indices
    form: Form
    steepness: float | None = None
    alpha: float = 0.0
    n_jobs: int | None = None

    def __call__(self, prototypes: Floats, raw: Floats) -> tuple[float, list[Floats]]:
        """The cost and its gradients with respect to both."""
        return self.of(np.arange(len(self.points)), prototypes, raw)

    def of(self, rows: Indices, prototypes: Floats, raw: Floats) -> tuple[float, list[Floats]]:
        """The cost of some of the points."""
        maps, norms = of_trace_one(raw)
        n_features = maps.shape[-1]
        block = max(MAPPED // max(maps.size // n_features, len(prototypes), n_features), 1)
        parts = map_blocks(
            lambda part: self._block(rows[part], prototypes, maps), len(rows), block, n_jobs=self.n_jobs
        )
        # In the order of the blocks, so that the sum does not depend on the threads.
        loss, pulls, slopes = parts[0]
        for part in parts[1:]:
            loss, pulls, slopes = loss + part[0], pulls + part[1], slopes + part[2]
        loss, pulls, slopes = loss / len(rows), pulls / len(rows), slopes / len(rows)
        if self.alpha > 0:
            volumes, volume_slopes = self.form.volume(maps)
            strength = self.alpha / (len(maps) * maps.shape[1])
            loss -= strength * float(volumes.sum())
            slopes = slopes - strength * volume_slopes
        return loss, [pulls, through_trace_one(slopes, maps, norms)]

    def _block(self, rows: Indices, prototypes: Floats, maps: Floats) -> tuple[float, Floats, Floats]:
        """Σ Φ(μ) over some points, and its slopes with respect to the prototypes and to maps of trace 1."""
        points = self.points[rows]
        chosen = self._winners(points, self.labels[rows], prototypes, maps)
        # Every point meets its two winners; pairs that share a prototype, hence a metric, come together.
        order = np.argsort(chosen, axis=None, kind="stable")
        who, whom = order // 2, chosen.ravel()[order]
        steps = points[who] - prototypes[whom]  # (2 n_points, n_features)
        groups = self._by_metric(whom)
        turned = np.empty((len(whom), maps.shape[1]))  # Ω δ
        for metric, pairs in groups:
            turned[pairs] = self.form.apply(steps[pairs], maps[metric])
        distances = np.empty(chosen.size)
        distances[order] = np.einsum("ir,ir->i", turned, turned)

        loss, pulls = self._squashed(distances.reshape(-1, 2))
        turned *= 2.0 * pulls.ravel()[order, None]  # d ‖Ωδ‖² = 2 (Ωδ)ᵀ d(Ωδ)
        map_slopes, prototype_slopes = np.zeros_like(maps), np.zeros_like(prototypes)
        for metric, pairs in groups:
            map_slopes[metric] = self.form.slope(turned[pairs], steps[pairs])
        firsts = np.flatnonzero(np.diff(whom, prepend=-1))
        met, sums = whom[firsts], np.add.reduceat(turned, firsts, axis=0)
        for metric, some in self._by_metric(met):
            prototype_slopes[met[some]] = -self.form.apply_transposed(sums[some], maps[metric])
        return loss, prototype_slopes, map_slopes

    def _by_metric(self, prototypes: Indices) -> list[tuple[int, slice]]:
        """Metrics, and which stretch of some ascending prototypes measures with each."""
        owners = self.owners[prototypes]
        firsts = np.flatnonzero(np.diff(owners, prepend=-1)).tolist()
        lasts = [*firsts[1:], len(owners)]
        return [(int(owners[a]), slice(a, b)) for a, b in zip(firsts, lasts, strict=True)]

    def _winners(self, points: Floats, labels: Labels, prototypes: Floats, maps: Floats) -> Indices:
        """The nearest prototype of the same class and the nearest of another: (n_points, 2)."""
        measured = self.form.measure(points, prototypes, self.owners, maps)
        same = labels[:, None] == self.prototype_labels
        like = np.where(same, measured, np.inf).argmin(axis=1)
        unlike = np.where(same, np.inf, measured).argmin(axis=1)
        return np.stack([like, unlike], axis=1)

    def _squashed(self, distances: Floats) -> tuple[float, Floats]:
        """Σ Φ(μ), and its slope with respect to every distance: (n_points, 2)."""
        like, unlike = distances.T
        total = like + unlike + TINY
        losses, rise = (like - unlike) / total, np.ones(len(distances))
        if self.steepness is not None:
            losses = 0.5 * (1.0 + np.tanh(0.5 * self.steepness * losses))  # the sigmoid, without overflow
            rise = self.steepness * losses * (1.0 - losses)
        slopes = (2.0 * rise / total)[:, None] * np.stack([unlike / total, -like / total], axis=1)
        return float(losses.sum()), slopes
