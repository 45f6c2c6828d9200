"""Second step of PLML: the loss of the metrics of the anchors."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices

# Numbers in the differences of one block of rows: 8 MB.
DIFFERENCES = 2**20


class AnchorMetricLoss:
    """The large-margin loss of the metrics of the anchors, as a function of their maps.

    With M_b = Ω_bᵀ Ω_b and d_i(x) = Σ_b W_ib ‖Ω_b (x_i − x)‖², the loss is

        mean h(1 + d_i(x_j) − d_i(x_l)) + pull_weight · mean d_i(x_j) + alpha · mean ‖M_b‖² / n_features

    with means over triplets (i, j, l), pairs (i, j) and anchors b; rows j are same-class neighbors of row i
    and rows l other-class neighbors. h is the hinge [z]₊, smoothed by a parabola between 0 and 1.

    Parameters
    ----------
    X : (n_rows, n_features)
    weights : (n_rows, n_anchors)
        W.
    same_class, other_class : (n_rows, k)
        Neighbors of each row; -1 where there are fewer.
    pull_weight : float
    alpha : float
    n_jobs : int or None, default=None
        Number of threads.
    """

    def __init__(
        self,
        X: Floats,
        weights: Floats,
        same_class: Indices,
        other_class: Indices,
        *,
        pull_weight: float,
        alpha: float,
        n_jobs: int | None = None,
    ) -> None:
        self.X, self.weights = X, weights
        self.neighbors = np.concatenate([same_class, other_class], axis=1)
        self.n_same_class = same_class.shape[1]  # columns of `neighbors`
        self.pull_weight, self.alpha, self.n_jobs = pull_weight, alpha, n_jobs
        n_same, n_other = (same_class >= 0).sum(axis=1), (other_class >= 0).sum(axis=1)
        self.n_pairs = max(int(n_same.sum()), 1)
        self.n_triplets = max(int((n_same * n_other).sum()), 1)
        self.block = max(DIFFERENCES // (self.neighbors.shape[1] * X.shape[1]), 1)

    def __call__(self, maps: Floats) -> tuple[float, tuple[Floats]]:
        """Return the loss and its gradient.

        Parameters
        ----------
        maps : (n_anchors, rank, n_features)

        Returns
        -------
        loss : float
        gradients : tuple of one array (n_anchors, rank, n_features)
        """
        blocks = map_blocks(
            lambda part: self._sum_block(part, maps), len(self.X), self.block, n_jobs=self.n_jobs
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

    def _sum_block(self, part: slice, maps: Floats) -> tuple[float, Floats]:
        """Return what a block of rows adds to the loss and to the gradient."""
        neighbors, weights = self.neighbors[part], self.weights[part]
        # Missing neighbors are replaced by the last row, and left out of the loss below.
        differences = self.X[part, None, :] - self.X[neighbors]
        n_features = differences.shape[2]
        rows_of_anchors = [np.flatnonzero(anchor_weights) for anchor_weights in weights.T]
        distances, mapped = np.zeros(neighbors.shape), []
        for anchor, rows in enumerate(rows_of_anchors):
            mapped.append(differences[rows].reshape(-1, n_features) @ maps[anchor].T)
            squares = np.einsum("pr,pr->p", mapped[-1], mapped[-1]).reshape(len(rows), neighbors.shape[1])
            distances[rows] += weights[rows, anchor][:, None] * squares
        loss, slopes = self._sum_margins(distances, neighbors >= 0)
        gradient = np.zeros(maps.shape)
        for anchor, rows in enumerate(rows_of_anchors):
            factors = 2.0 * weights[rows, anchor][:, None] * slopes[rows]
            weighted = mapped[anchor] * factors.reshape(-1, 1)
            gradient[anchor] = weighted.T @ differences[rows].reshape(-1, n_features)
        return loss, gradient

    def _sum_margins(self, distances: Floats, present: NDArray[np.bool_]) -> tuple[float, Floats]:
        """Return the loss of a block without the regularization, and its slopes.

        Parameters
        ----------
        distances : (n_rows, n_neighbors)
            Squared distances d_i to same-class and then to other-class neighbors.
        present : (n_rows, n_neighbors)
            False where a neighbor is missing.

        Returns
        -------
        loss : float
        slopes : (n_rows, n_neighbors)
            Derivatives with respect to the distances.
        """
        n_same = self.n_same_class
        same, other = distances[:, :n_same, None], distances[:, None, n_same:]
        present_triplets = present[:, :n_same, None] & present[:, None, n_same:]
        shortfalls = np.where(present_triplets, 1.0 + same - other, 0.0)  # (n_rows, n_same, n_other)
        triplet_slopes = np.clip(shortfalls, 0.0, 1.0)
        loss = float((triplet_slopes * (shortfalls - 0.5 * triplet_slopes)).sum()) / self.n_triplets
        pairs = distances[:, :n_same][present[:, :n_same]]
        loss += self.pull_weight * float(pairs.sum()) / self.n_pairs
        triplet_slopes /= self.n_triplets
        slopes = np.concatenate([triplet_slopes.sum(axis=2), -triplet_slopes.sum(axis=1)], axis=1)
        slopes[:, :n_same] += present[:, :n_same] * (self.pull_weight / self.n_pairs)
        return loss, slopes
