"""Large margin nearest neighbors, with one map or a map per class."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike

from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import Array, Integer, Number, OneOf, ParameterTable, store_parameters
from lann.baselines._baseline import (
    LinearTransform,
    NeighborBaseline,
    check_n_components,
    cluster_centers,
    nearest_by_class,
    principal_axes,
    squared_distances,
)
from lann.baselines._lmnn_loss import LargeMarginLoss
from lann.baselines._mapped_rows import GroupMaps


def initial_components(X: Floats, init: str | ArrayLike, n_components: int | None) -> Floats:
    """Return the initial map, (n_components, n_features).

    Parameters
    ----------
    X : (n_rows, n_features)
    init : {"pca", "identity"} or array-like of shape (n_components, n_features)
    n_components : int or None
        None is n_features, or the number of rows of `init` if that is an array.
    """
    n_features = X.shape[1]
    if not isinstance(init, str):
        components = np.array(init, dtype=np.float64)
        if components.shape != (n_components or len(components), n_features):
            raise ValueError(
                f"init must have the shape ({n_components or 'n_components'}, {n_features}); got an array of "
                f"shape {components.shape}."
            )
        return components
    rank = check_n_components(n_components, n_features)
    # All principal axes together are a rotation of the features, which changes no distance.
    if init == "identity" or rank == n_features:
        return np.eye(rank, n_features)
    return np.ascontiguousarray(principal_axes(X - X.mean(axis=0))[1][:rank])


class LargeMarginEstimator(NeighborBaseline):
    """Nearest neighbors under linear maps that are learned by a large-margin loss."""

    _own_parameters: ClassVar[ParameterTable] = {
        "n_targets": [Integer(1)],
        "init": [OneOf("pca", "identity"), Array(2, "(n_components, n_features)")],
        "push_weight": [Number(0, 1)],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", n_targets=3, n_components=None, init="pca",
        push_weight=0.2, alpha=3.0, max_iter=100, tol=1e-4, verbose=0, n_jobs=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _initialize(self, X: Floats, labels: Labels) -> tuple[Floats, Indices]:
        """Set the margin; return the initial map and the targets, -1 where there are fewer."""
        components = initial_components(X, self.init, self.n_components)
        mapped = X @ components.T
        targets = nearest_by_class(mapped, labels, self.n_targets, same=True, n_jobs=self.n_jobs)
        total = 0.0
        for column in targets.T:
            present = column >= 0
            total += float(np.square(mapped[present] - mapped[column[present]]).sum())
        # The mean squared distance of rows to their targets, or 1 if that is 0.
        self.margin_ = total / max(int(np.count_nonzero(targets >= 0)), 1) or 1.0
        return components, targets

    def _learn_maps(
        self, X: Floats, labels: Labels, groups: Indices, targets: Indices, initial: Floats, alpha: float,
        name: str | None = None,
    ) -> tuple[Floats, list[float]]:  # fmt: skip
        """Minimize loss(maps) + alpha ‖maps − initial‖² / n_rows; return the maps and the losses."""
        loss = LargeMarginLoss(
            X / np.sqrt(self.margin_), labels, targets, groups, push_weight=self.push_weight,
            n_jobs=self.n_jobs,
        )  # fmt: skip
        strength = alpha / len(X)

        def objective(maps: Floats) -> tuple[float, list[Floats]]:
            value, gradient = loss(maps)
            change = maps - initial
            return value + strength * float(np.square(change).sum()), [gradient + 2.0 * strength * change]

        (maps,), losses = self._minimize(objective, [initial], name)
        return maps, losses


class LMNN(LinearTransform, LargeMarginEstimator):
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

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        groups = np.zeros(len(X), np.int64)
        with single_threaded_blas():
            initial, targets = self._initialize(X, labels)
            maps, losses = self._learn_maps(X, labels, groups, targets, initial[None], self.alpha)
        self.components_, self.loss_curve_, self.n_iter_ = maps[0], losses, len(losses)
        return GroupMaps(X, groups, maps)


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

    _own_parameters: ClassVar[ParameterTable] = {
        **LargeMarginEstimator._own_parameters,
        "groups": [OneOf("class"), Integer(1), Array(1, "(n_samples,)")],
        "shared_alpha": [Number(0)],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", groups="class", n_targets=3, n_components=None,
        init="pca", push_weight=0.2, shared_alpha=3.0, alpha=5.0, max_iter=100, tol=1e-4, verbose=0,
        n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _fit_metric(self, X: Floats, labels: Labels) -> GroupMaps:
        with single_threaded_blas():
            groups = self._find_groups(X, labels)
            initial, targets = self._initialize(X, labels)
            shared, shared_losses = self._learn_maps(
                X, labels, np.zeros_like(groups), targets, initial[None], self.shared_alpha,
                "MultiMetricLMNN, shared map",
            )  # fmt: skip
            initial_maps = np.tile(shared[0], (groups.max() + 1, 1, 1))
            maps, losses = self._learn_maps(X, labels, groups, targets, initial_maps, self.alpha)
        self.shared_components_, self.components_, self.groups_ = shared[0], maps, groups
        self.loss_curve_, self.n_iter_ = shared_losses + losses, len(losses)
        return GroupMaps(X, groups, maps)

    def _find_groups(self, X: Floats, labels: Labels) -> Indices:
        """Return the group of each row: 0, 1, … without gaps."""
        names = self.groups
        if isinstance(names, str):
            return labels
        if np.ndim(names) == 0:
            centered = X - X.mean(axis=0)
            centers = cluster_centers(centered, min(names, len(X)), self._rng())
            names = squared_distances(centered, centers).argmin(axis=1)
        if np.shape(names) != (len(X),):
            raise ValueError(
                f"groups must have a label for each of the {len(X)} training rows; got an array of shape "
                f"{np.shape(names)}."
            )
        return np.unique(np.asarray(names), return_inverse=True)[1]
