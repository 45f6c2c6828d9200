"""PLML, first step: how much of each anchor's metric a point takes."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from lann._types import Floats, Indices
from lann.baselines._kmeans import squared_distances

# Ends when a round moves the objective by less than this part of itself.
TOLERANCE = 1e-5
MOST_ROUNDS = 500


def onto_simplex(rows: Floats) -> Floats:
    """The nearest points with no negative entry and the sum 1, row by row."""
    falling = -np.sort(-rows, axis=1)
    excess = (np.cumsum(falling, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    n_kept = np.maximum((falling > excess).sum(axis=1), 1)
    return np.maximum(rows - excess[np.arange(len(rows)), n_kept - 1][:, None], 0.0)


def neighbor_graph(neighbors: Indices, distances: Floats) -> csr_array:
    """How alike neighbors are, exp(−d/d̄), and the same both ways: (n_points, n_points), sparse.

    neighbors, distances : (n_points, k) of each point without itself; squared distances, of mean d̄
    """
    n_points, k = neighbors.shape
    scale = float(distances.mean()) or 1.0
    rows = np.repeat(np.arange(n_points), k)
    one_way = csr_array((np.exp(-distances / scale).ravel(), (rows, neighbors.ravel())), (n_points, n_points))
    return csr_array(one_way.maximum(one_way.T))


class WeightObjective:
    """‖X − W U‖² + λ₁ Σ_ib W_ib ‖x_i − u_b‖² + λ₂ tr(Wᵀ L W), per point.

    Parameters
    ----------
    points : (n_points, n_features), X
    anchors : (n_anchors, n_features), U
    graph : (n_points, n_points) sparse, symmetric; L is its Laplacian
    locality, smoothness : λ₁, λ₂
    """

    def __init__(
        self, points: Floats, anchors: Floats, graph: csr_array, *, locality: float, smoothness: float
    ) -> None:
        middle = points.mean(axis=0)  # rows of W sum to 1, so all may be seen from anywhere
        points, anchors = points - middle, anchors - middle
        self.points, self.anchors, self.graph = points, anchors, graph
        self.locality, self.smoothness = locality, smoothness
        self.degrees = np.asarray(graph.sum(axis=1)).reshape(-1, 1)
        self.far = squared_distances(points, anchors)
        steepest = np.linalg.eigvalsh(anchors @ anchors.T)[-1]
        # No eigenvalue of a Laplacian is larger than twice the largest degree.
        self.curvature = 2.0 * float(steepest + 2.0 * smoothness * self.degrees.max())

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """The objective's value and its gradient, both times the number of points."""
        errors = weights @ self.anchors - self.points
        rough = self.degrees * weights - self.graph @ weights
        loss = (
            np.square(errors).sum()
            + self.locality * (weights * self.far).sum()
            + self.smoothness * (weights * rough).sum()
        )
        gradient = 2.0 * (errors @ self.anchors.T + self.smoothness * rough) + self.locality * self.far
        return float(loss), gradient


def smooth_weights(objective: WeightObjective) -> tuple[Floats, list[float]]:
    """The best weights, by accelerated projected gradient steps, and the objective after each.

    Returns
    -------
    weights : (n_points, n_anchors), rows of sum 1 without negative entries
    losses
    """
    weights = np.eye(len(objective.anchors))[objective.far.argmin(axis=1)]
    if objective.curvature == 0.0:  # a single anchor
        return weights, [objective(weights)[0]]
    ahead, momentum = weights, 1.0
    losses = [objective(weights)[0]]
    for _ in range(MOST_ROUNDS):
        moved = onto_simplex(ahead - objective(ahead)[1] / objective.curvature)
        loss = objective(moved)[0]
        if loss > losses[-1] and momentum > 1.0:  # overshot: start again from here, without momentum
            ahead, momentum = weights, 1.0
            continue
        faster = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        ahead = moved + (momentum - 1.0) / faster * (moved - weights)
        weights, momentum = moved, faster
        losses.append(loss)
        if losses[-2] - loss <= TOLERANCE * abs(losses[-2]):
            break
    return weights, losses
