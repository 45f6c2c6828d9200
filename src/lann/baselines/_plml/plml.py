"""PLML: metrics that change smoothly from place to place, mixed from those of a few anchors."""

from __future__ import annotations

from functools import cached_property
from numbers import Integral
from typing import ClassVar

import numpy as np

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import RANDOM_STATE, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._class_neighbors import euclidean_search, nearest_other_class, nearest_same_class
from lann.baselines._kmeans import cluster_centers
from lann.baselines._lbfgs import minimize_lbfgs
from lann.baselines._mapped_rows import QueryMaps, diagonals
from lann.baselines._plml.anchor_metrics import BasisObjective
from lann.baselines._plml.anchor_weights import WeightObjective, neighbor_graph, smooth_weights
from lann.search import ExactSearch

# Neighbors in the graph along which weights are smooth; as published.
GRAPH_NEIGHBORS = 6
# Of more features than this, anchors see so much of the variance; as published for data sets of images.
MOST_FEATURES = 64
SHARE_KEPT = 0.95


class PLML(NeighborBaseline):
    """Parametric local metric learning: every place has its mixture of the metrics of a few anchors.

    Anchors u_b are the centers of clusters. A point's metric is M_i = Σ_b W_ib M_b, with weights W_ib ≥ 0
    that sum to 1; first the weights are learned, then the anchors' metrics. The weights make points mixtures
    of anchors that are near, and differ little between neighbors (L is the Laplacian of their graph):

        min_W  ‖X − W U‖² + λ₁ Σ_ib W_ib ‖x_i − u_b‖² + λ₂ tr(Wᵀ L W)

    The anchors' metrics then bring neighbors j of the same class nearer than neighbors l of others, by a
    margin, with d_i(x) = (x_i − x)ᵀ M_i (x_i − x) and means over all triplets, pairs and anchors:

        min_M  mean [1 + d_i(x_j) − d_i(x_l)]₊ + α₂ mean d_i(x_j) + α₁ mean ‖M_b‖²

    A query measures with the mean of the metrics of the training points that are nearest to it.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbors vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether a neighbor's vote is the same for all, or 1/d with d the squared distance.
    n_anchors : int, default=20
        How many anchors there are, at most as many as different points; as published.
    n_components : int, float, "auto" or None, default="auto"
        Anchors see this many principal components of the data; or, below 1, as many as hold this share of the
        variance. None is all features. "auto" is all features up to 64 of them, and 0.95 beyond: the time
        to learn grows with the square.
    n_same_class : int, default=3
        How many neighbors of the same class every point has in the triplets.
    n_other_class : int, default=10
        How many neighbors of other classes.
    locality : float, default=1.0
        λ₁: how little distant anchors count; points are measured in units of their spread.
    smoothness : float, default=3.0
        λ₂: how much the weights of neighbors are alike.
    n_blended : int, default=6
        How many training points, the nearest to a query, give it the mean of their metrics; at most all. 1 is
        as published, 6 as many as there are neighbors in the graph.
    pull : float, default=0.1
        α₂: how much neighbors of the same class are pulled near, besides the margin. Distances are
        measured in units of their mean.
    alpha : float, default=0.03
        α₁: strength of the pull of the anchors' metrics toward 0, per feature.
    max_iter : int, default=100
        The largest number of iterations of L-BFGS for the anchors' metrics. 0 is plain nearest neighbors.
    tol : float, default=1e-4
        L-BFGS ends when the loss falls by less than this part of itself.
    verbose : int, default=0
        1 prints how the weights were found, and a line per iteration of L-BFGS.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Where the search for clusters begins.

    Attributes
    ----------
    classes_ : (n_classes,)
    n_features_in_, feature_names_in_ : what the model was fitted with
    anchors_ : (n_anchors, n_features)
        Without what lies outside the principal components.
    anchor_weights_ : (n_train, n_anchors)
        W: how much of each anchor's metric every training point takes.
    anchor_feature_weights_ : (n_anchors, n_features)
        The diagonals of the anchors' metrics.
    feature_weights_ : (n_train, n_features)
        The diagonal of the metric at each training point.
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the points of each class.
    mean_feature_weights_ : (n_features,)
        Their mean over all points.
    loss_curve_ : list of float
        The loss of the anchors' metrics after every iteration.
    n_iter_ : int

    Notes
    -----
    The hinge is rounded off by a parabola, and M_b = Ω_bᵀ Ω_b, so that L-BFGS can be used; the paper solves
    the dual instead. It is the same minimum otherwise: with square Ω_b no other one is added.

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

    loss_curve_: list[float]

    _parameters: ClassVar[ParameterTable] = {
        **NEIGHBORS,
        "n_anchors": [Integer(1)],
        "n_components": [Integer(1), Number(0, 1, closed="right"), OneOf("auto", None)],
        "n_same_class": [Integer(1)],
        "n_other_class": [Integer(1)],
        "locality": [Number(0)],
        "smoothness": [Number(0)],
        "n_blended": [Integer(1)],
        "pull": [Number(0)],
        "alpha": [Number(0)],
        "max_iter": [Integer(0)],
        "tol": [Number(0)],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        n_anchors=20,
        n_components="auto",
        n_same_class=3,
        n_other_class=10,
        locality=1.0,
        smoothness=3.0,
        n_blended=6,
        pull=0.1,
        alpha=0.03,
        max_iter=100,
        tol=1e-4,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_anchors = n_anchors
        self.n_components = n_components
        self.n_same_class = n_same_class
        self.n_other_class = n_other_class
        self.locality = locality
        self.smoothness = smoothness
        self.n_blended = n_blended
        self.pull = pull
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_metric(self, X: Floats, labels: Labels) -> QueryMaps:
        with single_threaded_blas():
            axes = principal_axes(X, self.n_components)
            reduced = X @ axes.T
            anchors = cluster_centers(reduced, min(self.n_anchors, len(X)), self._rng())
            weights = self._anchor_weights(reduced, anchors)
            maps = self._basis_maps(reduced, labels, weights)
        self.anchors_ = anchors @ axes
        self.anchor_weights_ = weights
        self.anchor_feature_weights_ = diagonals(maps @ axes)
        return AnchorMaps(X, axes, weights, maps, n_blended=min(self.n_blended, len(X)))

    def _anchor_weights(self, points: Floats, anchors: Floats) -> Floats:
        size = float(np.sqrt(points.var(axis=0).sum())) or 1.0
        points, anchors = points / size, anchors / size
        k = min(GRAPH_NEIGHBORS, len(points) - 1)
        everyone = np.arange(len(points))
        neighbors, distances = euclidean_search(points).query(points, k, exclude=everyone, n_jobs=self.n_jobs)
        objective = WeightObjective(
            points,
            anchors,
            neighbor_graph(neighbors, distances),
            locality=self.locality,
            smoothness=self.smoothness,
        )
        weights, losses = smooth_weights(objective)
        if self.verbose:
            print(f"[PLML] weights of anchors: loss {losses[-1]:.6g} after {len(losses) - 1} rounds")
        return weights

    def _basis_maps(self, points: Floats, labels: Labels, weights: Floats) -> Floats:
        like = nearest_same_class(points, labels, self.n_same_class, n_jobs=self.n_jobs)
        unlike = nearest_other_class(points, labels, self.n_other_class, n_jobs=self.n_jobs)
        size = _mean_length(points, like)
        objective = BasisObjective(
            points / size,
            weights,
            like,
            unlike,
            pull=self.pull,
            alpha=self.alpha,
            n_jobs=self.n_jobs,
        )
        start = np.tile(np.eye(points.shape[1]), (weights.shape[1], 1, 1))
        found = minimize_lbfgs(
            objective,
            [start],
            max_iter=self.max_iter,
            tol=self.tol,
            name="PLML",
            verbose=self.verbose,
        )
        self.loss_curve_, self.n_iter_ = found.losses, found.n_iter
        return found.arrays[0] / size


def principal_axes(points: Floats, n_components: float | str | None) -> Floats:
    """The directions in which points vary most, or the features if all are wanted: (n_axes, n_features).

    n_components : how many, or what share of the variance they have together; "auto" or None
    """
    n_features = points.shape[1]
    if n_components == "auto":
        n_components = None if n_features <= MOST_FEATURES else SHARE_KEPT
    if n_components is None or (isinstance(n_components, Integral) and int(n_components) >= n_features):
        return np.eye(n_features)
    steps = points - points.mean(axis=0)
    values, axes = np.linalg.eigh(steps.T @ steps)
    values, axes = np.maximum(values[::-1], 0.0), axes[:, ::-1].T
    if isinstance(n_components, Integral):
        return axes[: int(n_components)]
    reached = np.cumsum(values)
    return axes[: int(np.searchsorted(reached, float(n_components) * reached[-1])) + 1]


class AnchorMaps(QueryMaps):
    """Points that are measured by a mixture of the anchors' metrics, like those that are nearest to a query.

    Parameters
    ----------
    X : (n_rows, n_features)
    axes : (n_axes, n_features) what anchors see of a point
    weights : (n_points, n_anchors)
    maps : (n_anchors, rank, n_axes)
    n_blended : how many of the nearest
    """

    def __init__(self, X: Floats, axes: Floats, weights: Floats, maps: Floats, *, n_blended: int) -> None:
        super().__init__(X)
        self.axes, self.weights, self.n_blended = axes, weights, n_blended
        self.metrics = maps.transpose(0, 2, 1) @ maps

    @cached_property
    def _reduced_search(self) -> ExactSearch:
        return euclidean_search(self.X @ self.axes.T)

    def maps_at(self, queries: Floats) -> Floats:
        nearest, _ = self._reduced_search.query(queries @ self.axes.T, self.n_blended, n_jobs=1)
        n_anchors, n_axes, _ = self.metrics.shape
        mixed = self.weights[nearest].mean(axis=1) @ self.metrics.reshape(n_anchors, -1)
        values, vectors = np.linalg.eigh(mixed.reshape(-1, n_axes, n_axes))
        maps = np.sqrt(np.maximum(values, 0.0))[:, :, None] * vectors.transpose(0, 2, 1)
        return maps @ self.axes


def _mean_length(points: Floats, like: Indices) -> float:
    """How far neighbors of the same class are from each other: the root of the mean square."""
    there = like >= 0
    if not there.any():
        return 1.0
    squares = np.square(points[:, None, :] - points[like]).sum(axis=2)
    return float(np.sqrt(squares[there].mean())) or 1.0
