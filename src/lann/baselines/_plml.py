"""PLML: metrics interpolated between anchor points."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import ClassVar

import numpy as np
from scipy.sparse import csr_array

from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import STRENGTH, Integer, Number, OneOf, ParameterTable, store_parameters
from lann.baselines._baseline import (
    NeighborBaseline,
    cluster_centers,
    euclidean_search,
    nearest_by_class,
    principal_axes,
    squared_distances,
)
from lann.baselines._mapped_rows import QueryMaps, diagonals
from lann.search import ExactSearch

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
        self, X: Floats, weights: Floats, same_class: Indices, other_class: Indices, *, pull_weight: float,
        alpha: float, n_jobs: int | None = None,
    ) -> None:  # fmt: skip
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
        parts = map_blocks(
            lambda part: self._sum_block(part, maps), len(self.X), self.block, n_jobs=self.n_jobs
        )
        loss, gradient = (sum(terms) for terms in zip(*parts, strict=True))
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
        n_same = self.n_same_class
        same, other = distances[:, :n_same, None], distances[:, None, n_same:]
        present = neighbors >= 0
        present_triplets = present[:, :n_same, None] & present[:, None, n_same:]
        shortfalls = np.where(present_triplets, 1.0 + same - other, 0.0)  # (n_rows, n_same, n_other)
        triplet_slopes = np.clip(shortfalls, 0.0, 1.0)
        loss = float((triplet_slopes * (shortfalls - 0.5 * triplet_slopes)).sum()) / self.n_triplets
        pairs = distances[:, :n_same][present[:, :n_same]]
        loss += self.pull_weight * float(pairs.sum()) / self.n_pairs
        triplet_slopes /= self.n_triplets
        slopes = np.concatenate([triplet_slopes.sum(axis=2), -triplet_slopes.sum(axis=1)], axis=1)
        slopes[:, :n_same] += present[:, :n_same] * (self.pull_weight / self.n_pairs)
        gradient = np.zeros(maps.shape)
        for anchor, rows in enumerate(rows_of_anchors):
            factors = 2.0 * weights[rows, anchor][:, None] * slopes[rows]
            weighted = mapped[anchor] * factors.reshape(-1, 1)
            gradient[anchor] = weighted.T @ differences[rows].reshape(-1, n_features)
        return loss, gradient


class AnchorMaps(QueryMaps):
    """Training rows with a weight per anchor; a query takes the mean metric of the nearest training rows.

    Parameters
    ----------
    X : (n_rows, n_features)
    axes : (n_axes, n_features)
        The axes on which the anchors measure.
    weights : (n_rows, n_anchors)
    maps : (n_anchors, rank, n_axes)
    n_metric_neighbors : int
        Number of training rows over which the metric of a query is averaged.
    """

    def __init__(
        self, X: Floats, axes: Floats, weights: Floats, maps: Floats, *, n_metric_neighbors: int
    ) -> None:
        super().__init__(X)
        self.axes, self.weights, self.maps = axes, weights, maps
        self.n_metric_neighbors = n_metric_neighbors
        self.metrics = maps.transpose(0, 2, 1) @ maps

    @cached_property
    def _search(self) -> ExactSearch:
        return euclidean_search(self.X @ self.axes.T)

    def maps_at(self, queries: Floats) -> Floats:
        nearest, _ = self._search.query(queries @ self.axes.T, self.n_metric_neighbors, n_jobs=1)
        n_anchors, n_axes, _ = self.metrics.shape
        means = self.weights[nearest].mean(axis=1) @ self.metrics.reshape(n_anchors, -1)
        values, vectors = np.linalg.eigh(means.reshape(-1, n_axes, n_axes))
        maps = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
        return maps @ self.axes


# Neighbors of a row in the graph along which weights are smooth; as published.
GRAPH_NEIGHBORS = 6
# With more features than this, "auto" keeps this share of the variance; as published for images.
MAX_FEATURES = 64
VARIANCE_SHARE = 0.95


def select_axes(X: Floats, n_components: float | str | None) -> Floats:
    """Return the first principal axes, or the features if all are selected: (n_axes, n_features).

    Parameters
    ----------
    X : (n_rows, n_features)
    n_components : int, float, "auto" or None
        As in `PLML`.
    """
    n_features = X.shape[1]
    if n_components == "auto":
        n_components = None if n_features <= MAX_FEATURES else VARIANCE_SHARE
    if n_components is None or (isinstance(n_components, Integral) and int(n_components) >= n_features):
        return np.eye(n_features)
    variances, axes = principal_axes(X - X.mean(axis=0))
    if isinstance(n_components, Integral):
        return axes[: int(n_components)]
    cumulative = np.cumsum(np.maximum(variances, 0.0))
    return axes[: int(np.searchsorted(cumulative, float(n_components) * cumulative[-1])) + 1]


class PLML(NeighborBaseline):
    """Parametric local metric learning: metrics that are weighted means of the metrics of a few anchors.

    The anchors u_b are the centers of k-means. The metric of training row i is M_i = Σ_b W_ib M_b, with
    weights W_ib ≥ 0 that add up to 1. First, the weights are learned: rows are approximated by nearby
    anchors, and the weights of neighbors are similar (L is the Laplacian of their similarity graph):

        min_W  ‖X − W U‖² + λ₁ Σ_ib W_ib ‖x_i − u_b‖² + λ₂ tr(Wᵀ L W)

    Then, the metrics of the anchors are learned: same-class neighbors j are to be nearer than other-class
    neighbors l by a margin, with d_i(x) = (x_i − x)ᵀ M_i (x_i − x):

        min_M  mean [1 + d_i(x_j) − d_i(x_l)]₊ + α₂ mean d_i(x_j) + α₁ mean ‖M_b‖² / n_features

    with means over triplets (i, j, l), pairs (i, j) and anchors b. A query is compared with all training rows
    by the mean metric of the nearest ones.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all votes count the same, or 1/d with d the squared distance.
    n_anchors : int, default=20
        Number of anchors, at most the number of distinct rows; the default is as published.
    n_components : int, float, "auto" or None, default="auto"
        Number of principal components on which the anchors measure; a float up to 1 selects as many as have
        this share of the variance. None is all features. "auto" is all features if there are at most 64, else
        0.95: the training time grows with the square of the number.
    n_same_class : int, default=3
        Number of same-class neighbors per row in the triplets.
    n_other_class : int, default=10
        Number of other-class neighbors per row in the triplets.
    locality : float, default=1.0
        How much distant anchors are penalized (λ₁), with rows in units of their spread.
    smoothness : float, default=3.0
        How much different weights of neighbors are penalized (λ₂).
    n_metric_neighbors : int, default=6
        Number of training rows, the nearest to a query, over which its metric is averaged; at most all. The
        publication has 1.
    pull_weight : float, default=0.1
        Weight α₂ of the distances to same-class neighbors, in units of their mean.
    alpha : float, default=0.03
        Strength α₁ of the regularization of the metrics of the anchors toward 0.
    max_iter : int, default=100
        Maximum number of iterations of L-BFGS for the metrics of the anchors; 0 is plain kNN.
    tol : float, default=1e-4
        L-BFGS stops when the relative decrease of the loss is smaller.
    verbose : int, default=0
        1 prints a line for the weights, and a line per iteration of L-BFGS.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the initialization of k-means.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, metrics, search and vote.
    anchors_ : ndarray of shape (n_anchors, n_features)
        The anchors u_b, projected to the principal components.
    anchor_weights_ : ndarray of shape (n_samples, n_anchors)
        The weights W of each training row.
    anchor_feature_weights_ : ndarray of shape (n_anchors, n_features)
        The diagonals of the metrics M_b of the anchors.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonal of the metric at each training row.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    n_iter_ : int
        Number of iterations of L-BFGS.
    loss_curve_ : list of float
        Loss of the metrics of the anchors after every iteration.

    See Also
    --------
    GLML : Metrics at queries from densities of the classes.
    DANN : Metrics at queries from a local discriminant analysis.

    Notes
    -----
    Differences from the publication: M_b = Ω_bᵀ Ω_b, and the hinge is smoothed by a parabola, so that L-BFGS
    can be used in place of a solver of the dual problem; the metric of a query is averaged over several rows.

    References
    ----------
    J. Wang, A. Kalousis, A. Woznica: Parametric Local Metric Learning for Nearest Neighbor Classification.
    NIPS 2012.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import PLML
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = make_pipeline(StandardScaler(), PLML(random_state=0)).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    """

    _own_parameters: ClassVar[ParameterTable] = {
        "n_anchors": [Integer(1)],
        "n_components": [Integer(1), Number(0, 1, closed="right"), OneOf("auto", None)],
        "n_same_class": [Integer(1)],
        "n_other_class": [Integer(1)],
        "locality": [STRENGTH],
        "smoothness": [STRENGTH],
        "n_metric_neighbors": [Integer(1)],
        "pull_weight": [Number(0)],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", n_anchors=20, n_components="auto", n_same_class=3,
        n_other_class=10, locality=1.0, smoothness=3.0, n_metric_neighbors=6, pull_weight=0.1, alpha=0.03,
        max_iter=100, tol=1e-4, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _fit_metric(self, X: Floats, labels: Labels) -> AnchorMaps:
        with single_threaded_blas():
            # In the order that files have: products of the loaded model have the same bits.
            axes = np.ascontiguousarray(select_axes(X, self.n_components))
            reduced = X @ axes.T
            anchors = cluster_centers(reduced, min(self.n_anchors, len(X)), self._rng())
            weights = self._learn_weights(reduced, anchors)
            maps = self._learn_maps(reduced, labels, weights)
        self.anchors_ = anchors @ axes
        self.anchor_weights_ = weights
        self.anchor_feature_weights_ = diagonals(maps @ axes)
        return AnchorMaps(X, axes, weights, maps, n_metric_neighbors=min(self.n_metric_neighbors, len(X)))

    def _learn_weights(self, X: Floats, anchors: Floats) -> Floats:
        """Return the weights of the anchors, (n_rows, n_anchors)."""
        spread = float(np.sqrt(X.var(axis=0).sum())) or 1.0
        X, anchors = X / spread, anchors / spread
        k = min(GRAPH_NEIGHBORS, len(X) - 1)
        neighbors, distances = euclidean_search(X).query(X, k, exclude=np.arange(len(X)), n_jobs=self.n_jobs)
        graph = similarity_graph(neighbors, distances)
        objective = AnchorWeightObjective(
            X, anchors, graph, locality=self.locality, smoothness=self.smoothness
        )
        weights, losses = learn_anchor_weights(objective)
        if self.verbose:
            print(f"[PLML] anchor weights: loss {losses[-1]:.6g} after {len(losses) - 1} iterations")
        return weights

    def _learn_maps(self, X: Floats, labels: Labels, weights: Floats) -> Floats:
        """Return the maps of the anchors, (n_anchors, n_axes, n_axes)."""
        same_class = nearest_by_class(X, labels, self.n_same_class, same=True, n_jobs=self.n_jobs)
        other_class = nearest_by_class(X, labels, self.n_other_class, same=False, n_jobs=self.n_jobs)
        present, unit = same_class >= 0, 1.0
        if present.any():  # the root mean squared distance to same-class neighbors
            squares = np.square(X[:, None, :] - X[same_class]).sum(axis=2)
            unit = float(np.sqrt(squares[present].mean())) or 1.0
        loss = AnchorMetricLoss(
            X / unit, weights, same_class, other_class, pull_weight=self.pull_weight, alpha=self.alpha,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        initial = np.tile(np.eye(X.shape[1]), (weights.shape[1], 1, 1))
        (maps,), self.loss_curve_ = self._minimize(loss, [initial])
        self.n_iter_ = len(self.loss_curve_)
        return maps / unit
