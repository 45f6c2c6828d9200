"""LMNN: one linear map for all points that leaves a margin around every neighborhood of a class."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lann._threads import single_threaded_blas
from lann._types import Floats, Labels
from lann._validation import ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._large_margin.initial import LARGE_MARGIN, starting_point
from lann.baselines._large_margin.learning import learn_maps
from lann.baselines._large_margin.loss import LargeMargin
from lann.baselines._mapped_rows import GroupMaps


class LMNN(ClassNamePrefixFeaturesOutMixin, TransformerMixin, NeighborBaseline):
    """Large margin nearest neighbors: a linear map, the same for all points.

    Every point has `n_targets` target neighbors t ⇝ i, the nearest of its class under the starting map. The
    map Ω pulls them near, and pushes points of other classes a margin beyond them:

        loss = (1 − μ) mean_{t ⇝ i} d_it + μ mean_{t ⇝ i} Σ_{l: y_l ≠ y_i} [1 + d_it − d_il]₊²
               + alpha ‖Ω − Ω_start‖² / n_samples,        d_ij = ‖Ω (x_i − x_j)‖² / γ

    by L-BFGS. γ, the margin, is the mean of ‖Ω_start (x_i − x_t)‖² over the targets, so that the data's units
    and number of features do not matter. All impostors l are found anew for every Ω: the loss is exact, and
    memory does not grow with their number.

    What differs from the article: the hinge is squared, as in the authors' later program, which makes it
    smooth, hence suited to L-BFGS; the margin is γ rather than 1; there is a penalty; the loss is minimized
    over Ω, not over Ωᵀ Ω.

    Parameters
    ----------
    n_neighbors : int, default 5
        How many neighbors vote.
    weights : {"uniform", "distance"}, default "uniform"
        Whether votes count alike, or 1/d.
    n_targets : int, default 3
        Target neighbors per point; in a smaller class, all others of the class.
    n_components : int or None, default None
        Rows of the map. None: as many as features.
    init : {"pca", "identity"} or (n_components, n_features), default "pca"
        The starting map: the principal axes, or the first features. Where `n_components` is None these
        lead to the same distances.
    push : float, default 0.2
        μ, between 0 and 1: how much impostors count, against the distances of targets. (The article has
        0.5, for hinges that are not squared.)
    alpha : float, default 3.0
        What departing from the starting map costs.
    max_iter : int, default 100
        Iterations of L-BFGS.
    tol : float, default 1e-4
        Ends when the loss falls by less than this part of itself.
    verbose : int, default 0
        1 prints a line per iteration.
    n_jobs : int or None
        Threads, as in scikit-learn. They have no influence on the result.

    Attributes
    ----------
    components_ : (n_components, n_features)
        Ω.
    classes_ : (n_classes,)
    n_features_in_ : int
    feature_names_in_ : (n_features_in_,)
    feature_weights_ : (n_samples, n_features)
        The diagonal of Ωᵀ Ω, the same for every point.
    class_feature_weights_, mean_feature_weights_ : (n_classes, n_features), (n_features,)
        Their means.
    n_iter_ : int
    loss_curve_ : list of float
        The loss after every iteration.
    margin_ : float
        γ.

    See Also
    --------
    MultiMetricLMNN : A map per class or per cluster.

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

    _parameters: ClassVar[ParameterTable] = {**NEIGHBORS, **LARGE_MARGIN}

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        n_targets=3,
        n_components=None,
        init="pca",
        push=0.2,
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
        self.push = push
        self.alpha = alpha
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs

    def transform(self, X: ArrayLike) -> Floats:
        """Points under the map, X Ωᵀ, where distances are Euclidean: (n_queries, n_components)."""
        return self._validate_queries(X) @ self.components_.T

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        with single_threaded_blas():
            start, targets, self.margin_ = starting_point(self, X, labels)
            scaled, group = X / np.sqrt(self.margin_), np.zeros(len(X), np.int64)
            found = learn_maps(
                LargeMargin(scaled, labels, targets, group, push=self.push, n_jobs=self.n_jobs),
                start[None],
                alpha=self.alpha,
                max_iter=self.max_iter,
                tol=self.tol,
                name="LMNN",
                verbose=self.verbose,
            )
        self.components_ = found.arrays[0][0]
        self.loss_curve_, self.n_iter_ = found.losses, found.n_iter
        return GroupMaps.shared(X, self.components_)

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
