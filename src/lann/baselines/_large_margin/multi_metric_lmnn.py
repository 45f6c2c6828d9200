"""MultiMetricLMNN: large-margin maps, one for each class or cluster of points, learned together."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import RANDOM_STATE, Array, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._kmeans import cluster_centers, squared_distances
from lann.baselines._large_margin.initial import LARGE_MARGIN, starting_point
from lann.baselines._large_margin.learning import learn_maps
from lann.baselines._large_margin.loss import LargeMargin
from lann.baselines._mapped_rows import GroupMaps


class MultiMetricLMNN(NeighborBaseline):
    """Large margin nearest neighbors with several metrics: a linear map per class, or per cluster.

    The group g(j) of a training point measures the distances to it, and all maps are learned together, so
    that distances to points of different groups can be compared:

        loss = (1 − μ) mean_{t ⇝ i} d_t(x_i) + μ mean_{t ⇝ i} Σ_{l: y_l ≠ y_i} [1 + d_t(x_i) − d_l(x_i)]₊²
               + alpha Σ_g ‖Ω_g − Ω‖² / n_samples,        d_j(x) = ‖Ω_g(j) (x − x_j)‖² / γ

    with t ⇝ i the target neighbors of a point, the nearest of its class under the starting map, and γ their
    mean squared distance there. Ω is the map of LMNN, from which all groups start. What differs from the
    articles is what differs in LMNN; and they stop early, by held-out points, to keep the maps from fitting
    single points: the penalty does so here, and no point is held out.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many neighbors vote.
    weights : {"uniform", "distance"}, default "uniform"
        Whether votes count alike, or 1/d.
    partition : "class", int or (n_samples,), default "class"
        What the groups are: the classes; so many clusters of all points (k-means); or those that are given, a
        label for every training point (a hospital, a season, a sensor).
    n_targets : int, default 3
        Target neighbors per point; in a smaller class, all others of the class.
    n_components : int or None, default None
        Rows of every map. None: as many as features.
    init : {"pca", "identity"} or (n_components, n_features), default "pca"
        Where the shared map starts, as in LMNN.
    push : float, default 0.2
        μ, between 0 and 1: how much impostors count, against the distances of targets. (The article has
        0.5, for hinges that are not squared.)
    shared_alpha : float, default 3.0
        What departing from the starting map costs the shared map: LMNN's `alpha`.
    alpha : float, default 5.0
        What departing from the shared map costs a group's map.
    max_iter : int, default 100
        Iterations of L-BFGS, for the shared map and again for the groups' maps.
    tol : float, default 1e-4
        Ends when the loss falls by less than this part of itself.
    verbose : int, default 0
        1 prints a line per iteration.
    n_jobs : int or None
        Threads, as in scikit-learn. They have no influence on the result.
    random_state : int, RandomState or None
        Where k-means starts; of use only with clusters.

    Attributes
    ----------
    components_ : (n_groups, n_components, n_features)
        Ω_g.
    groups_ : (n_samples,)
        The group of every training point: a place in `components_`, in the order of the sorted labels.
    shared_components_ : (n_components, n_features)
        Ω.
    classes_ : (n_classes,)
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,)
    feature_weights_ : (n_samples, n_features)
        The diagonal of Ω_gᵀ Ω_g, with g the point's group.
    class_feature_weights_, mean_feature_weights_ : (n_classes, n_features), (n_features,)
        Their means.
    n_iter_ : int
        Of the groups' maps.
    loss_curve_ : list of float
        The loss after every iteration, of the shared map and then of the groups' maps.
    margin_ : float
        γ.

    See Also
    --------
    LMNN : One map for all points.

    References
    ----------
    K. Q. Weinberger, L. K. Saul: Fast Solvers and Efficient Implementations for Distance Metric Learning.
    International Conference on Machine Learning, 2008.

    K. Q. Weinberger, L. K. Saul: Distance Metric Learning for Large Margin Nearest Neighbor Classification.
    Journal of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.preprocessing import scale
    >>> from lann.baselines import MultiMetricLMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(scale(X), y, stratify=y, random_state=0)
    >>> clf = MultiMetricLMNN().fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    >>> clf.components_.shape
    (3, 13, 13)
    """

    _parameters: ClassVar[ParameterTable] = {
        **NEIGHBORS,
        **LARGE_MARGIN,
        "partition": [OneOf("class"), Integer(1), Array(1, "(n_samples,)")],
        "shared_alpha": [Number(0)],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        partition="class",
        n_targets=3,
        n_components=None,
        init="pca",
        push=0.2,
        shared_alpha=3.0,
        alpha=5.0,
        max_iter=100,
        tol=1e-4,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.partition = partition
        self.n_targets = n_targets
        self.n_components = n_components
        self.init = init
        self.push = push
        self.shared_alpha = shared_alpha
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        with single_threaded_blas():
            groups = self._groups(X, labels)
            start, targets, self.margin_ = starting_point(self, X, labels)
            scaled = X / np.sqrt(self.margin_)
            options = {"max_iter": self.max_iter, "tol": self.tol, "verbose": self.verbose}

            def loss(whose: Indices) -> LargeMargin:
                return LargeMargin(scaled, labels, targets, whose, push=self.push, n_jobs=self.n_jobs)

            shared = learn_maps(
                loss(np.zeros_like(groups)), start[None],
                alpha=self.shared_alpha, name="MultiMetricLMNN, shared map", **options,
            )  # fmt: skip
            self.shared_components_ = shared.arrays[0][0]
            found = learn_maps(
                loss(groups), np.tile(self.shared_components_, (groups.max() + 1, 1, 1)),
                alpha=self.alpha, name="MultiMetricLMNN", **options,
            )  # fmt: skip
        self.components_, self.groups_ = found.arrays[0], groups
        self.loss_curve_, self.n_iter_ = shared.losses + found.losses, found.n_iter
        return GroupMaps(X, groups, self.components_)

    def _groups(self, points: Floats, labels: Labels) -> Indices:
        """The group of each point, 0, 1, …; none of them is empty."""
        if isinstance(self.partition, str):
            return labels
        if np.ndim(self.partition) > 0:
            given = np.asarray(self.partition)
            if given.shape != labels.shape:
                raise ValueError(
                    f"partition must have a label for each of the {len(labels)} training points; "
                    f"got an array of shape {given.shape}."
                )
            return np.unique(given, return_inverse=True)[1]
        steps = points - points.mean(axis=0)
        centers = cluster_centers(steps, min(self.partition, len(points)), self._rng())
        return np.unique(squared_distances(steps, centers).argmin(axis=1), return_inverse=True)[1]
