"""PLML, second step: the anchors' metrics, by margins between like and unlike neighbors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices

# Numbers in the steps of one block of points: 8 MB.
STEPS = 2**20


class BasisObjective:
    """Margins of all triplets under each point's mixture of the anchors' metrics.

    With M_b = Ω_bᵀ Ω_b, d_i(x_j) = Σ_b W_ib ‖Ω_b (x_i − x_j)‖², and the means over all triplets, pairs and
    anchors there are:

        mean h(1 + d_i(x_j) − d_i(x_l)) + pull · mean d_i(x_j) + alpha · mean ‖M_b‖² / n_features

    where j are neighbors of the same class as i and l of others; h is the hinge, [z]₊, rounded off by a
    parabola between 0 and 1.

    Parameters
    ----------
    points : (n_points, n_features)
    weights : (n_points, n_anchors)
    like, unlike : (n_points, k) neighbors of the same class and of others; -1 where there are fewer
    """

    def __init__(
        self,
        points: Floats,
        weights: Floats,
        like: Indices,
        unlike: Indices,
        *,
        pull: float,
        alpha: float,
        n_jobs: int | None = None,
    ) -> None:
        self.points, self.weights, self.like, self.unlike = points, weights, like, unlike
        self.pull, self.alpha, self.n_jobs = pull, alpha, n_jobs
        n_same_class, n_other_class = (like >= 0).sum(axis=1), (unlike >= 0).sum(axis=1)
        self.n_pairs = max(int(n_same_class.sum()), 1)
        self.n_triplets = max(int((n_same_class * n_other_class).sum()), 1)
        self.block = max(STEPS // ((like.shape[1] + unlike.shape[1]) * points.shape[1]), 1)

    def __call__(self, maps: Floats) -> tuple[float, tuple[Floats]]:
        """The loss and its gradient: maps, gradient (n_anchors, rank, n_features)."""
        blocks = map_blocks(
            lambda part: self._block_loss(part, maps), len(self.points), self.block, n_jobs=self.n_jobs
        )
        loss, gradient = 0.0, np.zeros(maps.shape)
        for block_loss, block_gradient in blocks:
            loss += block_loss
            gradient += block_gradient
        n_anchors, _, n_features = maps.shape
        metrics = maps.transpose(0, 2, 1) @ maps
        strength = self.alpha / (n_anchors * n_features)
        loss += strength * float(np.square(metrics).sum())
        gradient += 4.0 * strength * (maps @ metrics)
        return loss, (gradient,)

    def _block_loss(self, part: slice, maps: Floats) -> tuple[float, Floats]:
        pairs = np.concatenate([self.like[part], self.unlike[part]], axis=1)
        steps = self.points[part, None, :] - self.points[pairs]  # missing ones have no influence below
        n_same_class, n_features = self.like.shape[1], steps.shape[2]
        users = [np.flatnonzero(own) for own in self.weights[part].T]  # of each anchor
        distances, mapped = np.zeros(pairs.shape), []
        for anchor, rows in enumerate(users):
            turned = steps[rows].reshape(-1, n_features) @ maps[anchor].T
            parts = np.einsum("pr,pr->p", turned, turned).reshape(len(rows), pairs.shape[1])
            distances[rows] += self.weights[part][rows, anchor][:, None] * parts
            mapped.append(turned)
        loss, slopes = self._margins(distances, pairs >= 0, n_same_class)
        gradient = np.zeros(maps.shape)
        for anchor, rows in enumerate(users):
            strengths = 2.0 * self.weights[part][rows, anchor][:, None] * slopes[rows]
            weighed = mapped[anchor] * strengths.reshape(-1, 1)
            gradient[anchor] = weighed.T @ steps[rows].reshape(-1, n_features)
        return loss, gradient

    def _margins(
        self, distances: Floats, there: NDArray[np.bool_], n_same_class: int
    ) -> tuple[float, Floats]:
        """The loss of a block, and its slope in every distance: (n_points, n_same_class + n_other_class)."""
        like, unlike = distances[:, :n_same_class, None], distances[:, None, n_same_class:]
        both = there[:, :n_same_class, None] & there[:, None, n_same_class:]
        short = np.where(both, 1.0 + like - unlike, 0.0)  # (n_points, n_same_class, n_other_class)
        slopes = np.clip(short, 0.0, 1.0)
        loss = float((slopes * (short - 0.5 * slopes)).sum()) / self.n_triplets
        loss += self.pull * float(distances[:, :n_same_class][there[:, :n_same_class]].sum()) / self.n_pairs
        slopes /= self.n_triplets
        found = np.concatenate([slopes.sum(axis=2), -slopes.sum(axis=1)], axis=1)
        found[:, :n_same_class] += there[:, :n_same_class] * (self.pull / self.n_pairs)
        return loss, found
