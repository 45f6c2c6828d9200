"""LMNN: one linear map under which the neighborhoods of each class have a large margin."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lann._threads import single_threaded_blas
from lann._types import Floats, Labels
from lann.baselines._large_margin.estimator import LargeMarginEstimator
from lann.baselines._large_margin.learning import learn_maps
from lann.baselines._mapped_rows import GroupMaps


class LMNN(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LargeMarginEstimator):
    """Large margin nearest neighbors: one linear map for all rows.

    Each training row i has `n_targets` target neighbors t, its nearest rows of the same class under the
    initial map. The map Ω minimizes, by L-BFGS,

        (1 − μ) mean_it d_it + μ mean_it Σ_{l: y_l ≠ y_i} [1 + d_it − d_il]₊² + alpha ‖Ω − Ω₀‖² / n_samples

    with d_ij = ‖Ω (x_i − x_j)‖² / γ and the initial map Ω₀. The first term brings the targets near; the
    second keeps rows l of other classes, called impostors, at a margin beyond the targets. The unit of the
    margin, γ, is the mean squared distance to the targets under the initial map, so that the loss depends
    neither on the units nor on the number of features.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all votes count the same, or 1/d with d the squared distance.
    n_targets : int, default=3
        Number of target neighbors per row; in a smaller class, all other rows of the class.
    n_components : int or None, default=None
        Number of rows of the map; None is n_features, or the number of rows of `init`.
    init : {"pca", "identity"} or array-like of shape (n_components, n_features), default="pca"
        Initial map: the first principal axes, the first features, or the given map. With all n_features
        components, "pca" and "identity" give the same distances.
    push_weight : float, default=0.2
        Weight μ of the impostors, between 0 and 1; the targets have weight 1 − μ.
    alpha : float, default=3.0
        Strength of the regularization toward the initial map.
    max_iter : int, default=100
        Maximum number of iterations of L-BFGS; 0 keeps the initial map.
    tol : float, default=1e-4
        L-BFGS stops when the relative decrease of the loss is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, metric, search and vote.
    components_ : ndarray of shape (n_components, n_features)
        The linear map Ω.
    margin_ : float
        The unit γ of the margin.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonal of Ωᵀ Ω, the same for every training row.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.
    n_iter_ : int
        Number of iterations.
    loss_curve_ : list of float
        Loss after every iteration.

    See Also
    --------
    MultiMetricLMNN : A map per class or cluster.

    Notes
    -----
    Differences from the publication: hinges are squared, as in later programs of the authors, which makes the
    loss smooth; the margin is γ, not 1; there is a regularization; and the loss is minimized over Ω, not over
    Ωᵀ Ω. The published weight μ is 0.5, for hinges that are not squared.

    References
    ----------
    K. Q. Weinberger, L. K. Saul: Distance Metric Learning for Large Margin Nearest Neighbor Classification.
    Journal of Machine Learning Research 10, 2009.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.preprocessing import scale
    >>> from lann.baselines import LMNN
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(scale(X), y, stratify=y, random_state=0)
    >>> clf = LMNN(n_components=2).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    >>> clf.transform(X_test).shape
    (45, 2)
    """

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        n_targets=3,
        n_components=None,
        init="pca",
        push_weight=0.2,
        alpha=3.0,
        max_iter=100,
        tol=1e-4,
        verbose=0,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_targets = n_targets
        self.n_components = n_components
        self.init = init
        self.push_weight = push_weight
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    def transform(self, X: ArrayLike) -> Floats:
        """Return X Ωᵀ, where the learned metric is Euclidean.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
        """
        return self._validate_queries(X) @ self.components_.T

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        with single_threaded_blas():
            initialization = self._initialize(X, labels)
            loss = self._loss(X, labels, np.zeros(len(X), np.int64), initialization)
            initial = initialization.components[None]
            minimum = learn_maps(loss, initial, self.alpha, self._iteration_settings())
        self.margin_ = initialization.margin
        self.components_ = minimum.arrays[0][0]
        self.loss_curve_, self.n_iter_ = minimum.losses, minimum.n_iter
        return GroupMaps.shared(X, self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
