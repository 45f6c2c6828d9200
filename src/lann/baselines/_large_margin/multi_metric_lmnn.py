"""MultiMetricLMNN: large-margin maps for each class, cluster or given group, learned together."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann._validation import RANDOM_STATE, Array, Integer, Number, OneOf, ParameterTable
from lann.baselines._kmeans import cluster_centers, squared_distances
from lann.baselines._large_margin.estimator import LargeMarginEstimator
from lann.baselines._large_margin.learning import learn_maps
from lann.baselines._mapped_rows import GroupMaps


def given_groups(groups: Any, n_rows: int) -> Indices:
    """Return the position of each row's group among the sorted groups; raise ValueError on a wrong shape."""
    names = np.asarray(groups)
    if names.shape != (n_rows,):
        raise ValueError(
            f"groups must have a label for each of the {n_rows} training rows; "
            f"got an array of shape {names.shape}."
        )
    return np.unique(names, return_inverse=True)[1]


def cluster_groups(X: Floats, n_clusters: int, rng: np.random.Generator) -> Indices:
    """Return the cluster of each row, by k-means: 0, 1, … without gaps."""
    centered = X - X.mean(axis=0)
    centers = cluster_centers(centered, min(n_clusters, len(X)), rng)
    return np.unique(squared_distances(centered, centers).argmin(axis=1), return_inverse=True)[1]


class MultiMetricLMNN(LargeMarginEstimator):
    """Large margin nearest neighbors with several metrics: a linear map per class, cluster or given group.

    The group g(j) of a training row j measures the distances to it. All maps are learned together, so that
    distances to rows of different groups are comparable: they minimize, by L-BFGS,

        (1 − μ) mean_it d_t(x_i) + μ mean_it Σ_{l: y_l ≠ y_i} [1 + d_t(x_i) − d_l(x_i)]₊²
            + alpha Σ_g ‖Ω_g − Ω‖² / n_samples

    with d_j(x) = ‖Ω_g(j) (x − x_j)‖² / γ. The targets t, the impostors l and the unit γ of the margin are
    those of `LMNN`, and Ω is the map of `LMNN`, which is also the initial map of all groups.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all votes count the same, or 1/d with d the squared distance.
    groups : "class", int or array-like of shape (n_samples,), default="class"
        The groups: the classes; this many clusters of all training rows, found by k-means; or a given label
        for each training row, such as a hospital, a season or a sensor.
    n_targets : int, default=3
        Number of target neighbors per row; in a smaller class, all other rows of the class.
    n_components : int or None, default=None
        Number of rows of each map; None is n_features, or the number of rows of `init`.
    init : {"pca", "identity"} or array-like of shape (n_components, n_features), default="pca"
        Initial map of `LMNN`.
    push_weight : float, default=0.2
        Weight μ of the impostors, between 0 and 1; the targets have weight 1 − μ.
    shared_alpha : float, default=3.0
        Strength of the regularization of Ω toward the initial map: `alpha` of `LMNN`.
    alpha : float, default=5.0
        Strength of the regularization of the maps of the groups toward Ω.
    max_iter : int, default=100
        Maximum number of iterations of L-BFGS, for Ω and again for the maps of the groups.
    tol : float, default=1e-4
        L-BFGS stops when the relative decrease of the loss is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the initialization of k-means, if `groups` is an integer.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, metrics, search and vote.
    components_ : ndarray of shape (n_groups, n_components, n_features)
        The maps Ω_g.
    shared_components_ : ndarray of shape (n_components, n_features)
        The map Ω.
    groups_ : ndarray of shape (n_samples,)
        Group of each training row, as a position in `components_`; given groups are sorted by label.
    margin_ : float
        The unit γ of the margin.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonal of Ω_gᵀ Ω_g for the group g of each training row.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    n_iter_ : int
        Number of iterations for the maps of the groups.
    loss_curve_ : list of float
        Loss after every iteration, for Ω and then for the maps of the groups.

    See Also
    --------
    LMNN : One map for all rows.

    Notes
    -----
    Differences from the publications: those of `LMNN`; and the regularization replaces early stopping on
    validation rows.

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
        **LargeMarginEstimator._parameters,
        "groups": [OneOf("class"), Integer(1), Array(1, "(n_samples,)")],
        "shared_alpha": [Number(0)],
        "random_state": RANDOM_STATE,
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        groups="class",
        n_targets=3,
        n_components=None,
        init="pca",
        push_weight=0.2,
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
        self.groups = groups
        self.n_targets = n_targets
        self.n_components = n_components
        self.init = init
        self.push_weight = push_weight
        self.shared_alpha = shared_alpha
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        with single_threaded_blas():
            groups = self._find_groups(X, labels)
            initialization = self._initialize(X, labels)
            shared = learn_maps(
                self._loss(X, labels, np.zeros_like(groups), initialization),
                initialization.components[None],
                self.shared_alpha,
                self._iteration_settings("MultiMetricLMNN, shared map"),
            )
            shared_components = shared.arrays[0][0]
            minimum = learn_maps(
                self._loss(X, labels, groups, initialization),
                np.tile(shared_components, (groups.max() + 1, 1, 1)),
                self.alpha,
                self._iteration_settings(),
            )
        self.margin_, self.shared_components_ = initialization.margin, shared_components
        self.components_, self.groups_ = minimum.arrays[0], groups
        self.loss_curve_, self.n_iter_ = shared.losses + minimum.losses, minimum.n_iter
        return GroupMaps(X, groups, self.components_)

    def _find_groups(self, X: Floats, labels: Labels) -> Indices:
        """Return the group of each row: 0, 1, … without gaps."""
        if isinstance(self.groups, str):
            return labels
        if np.ndim(self.groups) > 0:
            return given_groups(self.groups, len(X))
        return cluster_groups(X, self.groups, self._rng())
