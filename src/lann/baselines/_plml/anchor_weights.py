"""First step of PLML: the weights of the anchors in the metric of each training row."""

from __future__ import annotations

import numpy as np
from scipy.sparse import csr_array

from lann._types import Floats, Indices
from lann.baselines._kmeans import squared_distances

# The solver stops when the relative decrease of the objective is smaller.
TOLERANCE = 1e-5
MAX_ITER = 500


def project_to_simplex(rows: Floats) -> Floats:
    """Return for each row the nearest one that has no negative entries and adds up to 1."""
    descending = -np.sort(-rows, axis=1)
    excess = (np.cumsum(descending, axis=1) - 1.0) / np.arange(1, rows.shape[1] + 1)
    n_positive = np.maximum((descending > excess).sum(axis=1), 1)
    return np.maximum(rows - excess[np.arange(len(rows)), n_positive - 1][:, None], 0.0)


def similarity_graph(neighbors: Indices, distances: Floats) -> csr_array:
    """Return the symmetric graph of the similarities exp(−d/d̄) of neighbors.

    Parameters
    ----------
    neighbors, distances : (n_rows, k)
        The nearest other rows of each row, and their squared distances d with mean d̄.

    Returns
    -------
    graph : sparse (n_rows, n_rows)
    """
    n_rows, k = neighbors.shape
    scale = float(distances.mean()) or 1.0
    rows = np.repeat(np.arange(n_rows), k)
    directed = csr_array((np.exp(-distances / scale).ravel(), (rows, neighbors.ravel())), (n_rows, n_rows))
    return csr_array(directed.maximum(directed.T))


class AnchorWeightObjective:
    """The objective of the weights W: ‖X − W U‖² + λ₁ Σ_ib W_ib ‖x_i − u_b‖² + λ₂ tr(Wᵀ L W).

    Parameters
    ----------
    X : (n_rows, n_features)
    anchors : (n_anchors, n_features)
        U.
    graph : sparse (n_rows, n_rows)
        Symmetric; L is its Laplacian.
    locality : float
        λ₁.
    smoothness : float
        λ₂.
    """

    def __init__(
        self, X: Floats, anchors: Floats, graph: csr_array, *, locality: float, smoothness: float
    ) -> None:
        center = X.mean(axis=0)  # rows of W add up to 1, so the objective is invariant under translation
        X, anchors = X - center, anchors - center
        self.X, self.anchors, self.graph = X, anchors, graph
        self.locality, self.smoothness = locality, smoothness
        self.degrees = np.asarray(graph.sum(axis=1)).reshape(-1, 1)
        self.distances = squared_distances(X, anchors)
        largest_eigenvalue = np.linalg.eigvalsh(anchors @ anchors.T)[-1]
        # An upper bound: no eigenvalue of a Laplacian is larger than twice the largest degree.
        self.curvature = 2.0 * float(largest_eigenvalue + 2.0 * smoothness * self.degrees.max())

    def __call__(self, weights: Floats) -> tuple[float, Floats]:
        """Return the objective and its gradient; weights and gradient are (n_rows, n_anchors)."""
        errors = weights @ self.anchors - self.X
        laplacian = self.degrees * weights - self.graph @ weights  # L W
        loss = (
            np.square(errors).sum()
            + self.locality * (weights * self.distances).sum()
            + self.smoothness * (weights * laplacian).sum()
        )
        gradient = 2.0 * (errors @ self.anchors.T + self.smoothness * laplacian)
        gradient = gradient + self.locality * self.distances
        return float(loss), gradient


def learn_anchor_weights(objective: AnchorWeightObjective) -> tuple[Floats, list[float]]:
    """Minimize the objective over the simplex by accelerated projected gradient steps.

    Returns
    -------
    weights : (n_rows, n_anchors)
        Not negative; rows add up to 1.
    losses : list of float
        The objective, initially and after every iteration.
    """
    weights = np.eye(len(objective.anchors))[objective.distances.argmin(axis=1)]
    if objective.curvature == 0.0:  # a single anchor
        return weights, [objective(weights)[0]]
    extrapolated, momentum = weights, 1.0
    losses = [objective(weights)[0]]
    for _ in range(MAX_ITER):
        updated = project_to_simplex(extrapolated - objective(extrapolated)[1] / objective.curvature)
        loss = objective(updated)[0]
        if loss > losses[-1] and momentum > 1.0:  # too far: continue from the last weights without momentum
            extrapolated, momentum = weights, 1.0
            continue
        next_momentum = 0.5 * (1.0 + np.sqrt(1.0 + 4.0 * momentum**2))
        extrapolated = updated + (momentum - 1.0) / next_momentum * (updated - weights)
        weights, momentum = updated, next_momentum
        losses.append(loss)
        if losses[-2] - loss <= TOLERANCE * abs(losses[-2]):
            break
    return weights, losses
