"""Generalized learning vector quantization: GRLVQ, GMLVQ, LGRLVQ and LGMLVQ."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Labels
from lann._support.validation import Integer, Number, OneOf, ParameterTable, store_parameters
from lann.baselines._baseline import (
    Baseline,
    LinearTransform,
    check_n_components,
    cluster_centers,
    principal_axes,
)
from lann.baselines._lvq_model import Cost, Prototypes, normalize_trace
from lann.explain import Explanation
from lann.model import typical_values


def initial_prototypes(
    X: Floats, labels: Labels, n_per_class: int, rng: np.random.Generator
) -> tuple[Floats, Labels]:
    """Return the mean of every class, or the centers of k-means within every class.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_per_class : int
        A class with fewer distinct rows has one prototype for each of these.
    rng : Generator

    Returns
    -------
    prototypes : (n_prototypes, n_features)
    prototype_labels : (n_prototypes,)
        Ascending.
    """
    classes = [X[labels == label] for label in np.unique(labels)]
    if n_per_class == 1:
        return np.stack([members.mean(axis=0) for members in classes]), np.arange(len(classes))
    centers = [cluster_centers(members, n_per_class, rng) for members in classes]
    return np.concatenate(centers), np.repeat(np.arange(len(classes)), [len(own) for own in centers])


def initial_axes(centered: Floats, rank: int) -> Floats:
    """Return the features or, if `rank` is smaller, the first principal axes: (rank, n_features).

    Parameters
    ----------
    centered : (n_rows, n_features)
        Rows with mean 0.
    rank : int
    """
    n_features = centered.shape[1]
    if rank == n_features:
        return np.eye(n_features)
    axes = principal_axes(centered)[1][:rank]
    # The sign of an eigenvector is arbitrary: make its largest entry positive.
    largest = np.abs(axes).argmax(axis=1)
    return axes * np.sign(axes[np.arange(rank), largest])[:, None]


# Norm of the initial maps. Only their direction matters, so the larger they are, the slower they change
# compared with the prototypes.
INITIAL_NORM = 3.0


class GeneralizedLVQ(Baseline):
    """Generalized learning vector quantization: prototypes and their metrics are learned together.

    Subclasses can have diagonal metrics, and the parameters `n_components` and `metric_per`.
    """

    _is_diagonal: ClassVar[bool] = False
    _own_parameters: ClassVar[ParameterTable] = {
        "prototypes_per_class": [Integer(1)],
        "activation": [OneOf("sigmoid", "identity")],
        "steepness": [Number(0, closed="right")],
    }
    model_: Prototypes

    def __init__(
        self, *, prototypes_per_class=1, activation="sigmoid", steepness=5.0, alpha=0.03, max_iter=300,
        tol=1e-5, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _fit_model(self, X: Floats, labels: Labels) -> Prototypes:
        rank = check_n_components(getattr(self, "n_components", None), self.n_features_in_)
        metric_per = getattr(self, "metric_per", None)
        # Rows are centered and scaled as a whole, so that step sizes suit data in any units.
        center = X.mean(axis=0)
        scaled = X - center
        scale = float(np.sqrt(np.square(scaled).mean())) or 1.0
        scaled /= scale
        with single_threaded_blas():
            initial, prototype_labels = initial_prototypes(
                scaled, labels, self.prototypes_per_class, self._rng()
            )
            metric_indices = np.zeros(len(initial), np.int64)  # the metric of each prototype
            if metric_per is not None:
                metric_indices = prototype_labels if metric_per == "class" else np.arange(len(initial))
            omega = np.ones(len(center)) / np.sqrt(len(center))
            if not self._is_diagonal:
                omega = initial_axes(scaled, rank)
            maps, _ = normalize_trace(np.repeat(omega[None], metric_indices[-1] + 1, axis=0))
            steepness = self.steepness if self.activation == "sigmoid" else None
            cost = Cost(scaled, labels, prototype_labels, metric_indices, steepness, self.alpha, self.n_jobs)
            (prototypes, maps), losses = self._minimize(cost, [initial, INITIAL_NORM * maps])
        prototypes, (maps, _) = prototypes * scale + center, normalize_trace(maps)
        self.prototypes_, self.prototype_labels_ = prototypes, self.classes_[prototype_labels]
        self.n_iter_, self.loss_curve_ = len(losses), losses
        if not self._is_diagonal:
            self.components_ = maps[0] if metric_per is None else maps[metric_indices]
        return Prototypes(prototypes, prototype_labels, metric_indices, maps, typical_values(X))

    def explain(
        self, X: ArrayLike, y: ArrayLike | None = None, *, ids: ArrayLike | None = None
    ) -> Explanation:
        """Explain predictions: the prototypes that voted, and the features that each prediction depends on.

        The neighbors in the explanation are the nearest prototype of every class, as rows of `prototypes_`,
        nearest first; their vote shares are the probabilities of their classes.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)
        y : array-like of shape (n_queries,) or None, default=None
            True labels, which the explanation shows beside the predictions.
        ids : array-like of shape (n_prototypes,) or None, default=None
            Names of the prototypes; None is "prototype 0" and so on.

        Returns
        -------
        explanation : Explanation
        """
        if ids is None and hasattr(self, "prototypes_"):
            ids = np.array([f"prototype {number}" for number in range(len(self.prototypes_))])
        return super().explain(X, y, ids=ids)


class GRLVQ(GeneralizedLVQ):
    """Generalized relevance learning vector quantization: prototypes, and one weight per feature.

    The label of a query is that of the nearest prototype, with the squared distance

        d_p(x) = Σ_l λ_l (x_l − w_pl)²,    λ_l ≥ 0,    Σ_l λ_l = 1

    Prototypes w_p and weights λ minimize

        mean_i Φ(μ_i) − alpha · mean_l log λ_l,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    where d⁺ and d⁻ are the distances of a training row to the nearest prototype of its class and of another
    class: μ lies between −1 and 1, and is negative if the row is classified correctly. The initial weights
    are equal.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        Number of prototypes per class, at most the number of its distinct rows. The initial prototype of a
        class is its mean; several are the centers of k-means within the class.
    activation : {"sigmoid", "identity"}, default="sigmoid"
        The function Φ: "sigmoid" is 1 / (1 + exp(−steepness · μ)), by which rows near a class boundary count
        most; "identity" is μ.
    steepness : float, default=5.0
        Steepness of the sigmoid.
    alpha : float, default=0.03
        Strength of the regularization, which keeps weights of features away from 0.
    max_iter : int, default=300
        Maximum number of iterations of L-BFGS; 0 learns nothing.
    tol : float, default=1e-5
        L-BFGS stops when the relative decrease of the cost is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
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
        The fitted model: prototypes, metrics and vote.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Sorted by class, in the units of the data.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Labels of the prototypes.
    feature_weights_ : ndarray of shape (n_prototypes, n_features)
        The weights λ, the same in every row; rows add up to 1.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the prototypes of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all prototypes.
    n_iter_ : int
        Number of iterations.
    loss_curve_ : list of float
        Cost after every iteration.

    See Also
    --------
    LGRLVQ : A weight per feature for each prototype or class.
    GMLVQ : A matrix in place of the weights.

    References
    ----------
    B. Hammer, T. Villmann: Generalized Relevance Learning Vector Quantization. Neural Networks 15, 2002.

    A. Sato, K. Yamada: Generalized Learning Vector Quantization. NIPS 8, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import GRLVQ
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), GRLVQ()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.9
    True
    >>> model[-1].feature_weights_.shape
    (3, 13)
    """

    _is_diagonal = True


class GMLVQ(LinearTransform, GeneralizedLVQ):
    """Generalized matrix learning vector quantization: prototypes, and one matrix metric.

    The label of a query is that of the nearest prototype, with the squared distance

        d_p(x) = (x − w_p)ᵀ Λ (x − w_p),    Λ = Ωᵀ Ω,    tr Λ = 1

    Prototypes w_p and the matrix Ω of shape (n_components, n_features) minimize

        mean_i Φ(μ_i) − alpha · (1/n_components) log det Ω Ωᵀ,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    where d⁺ and d⁻ are the distances of a training row to the nearest prototype of its class and of another
    class: μ lies between −1 and 1, and is negative if the row is classified correctly. With `n_components` 2
    or 3, `transform` returns coordinates for a plot in which the classes are well separated.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        Number of prototypes per class, at most the number of its distinct rows. The initial prototype of a
        class is its mean; several are the centers of k-means within the class.
    n_components : int or None, default=None
        Number of rows of Ω; None is n_features. If it is smaller, the initial rows are the principal
        axes.
    activation : {"sigmoid", "identity"}, default="sigmoid"
        The function Φ: "sigmoid" is 1 / (1 + exp(−steepness · μ)), by which rows near a class boundary count
        most; "identity" is μ.
    steepness : float, default=5.0
        Steepness of the sigmoid.
    alpha : float, default=0.03
        Strength of the regularization, which keeps all directions in use.
    max_iter : int, default=300
        Maximum number of iterations of L-BFGS; 0 learns nothing.
    tol : float, default=1e-5
        L-BFGS stops when the relative decrease of the cost is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
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
        The fitted model: prototypes, metrics and vote.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Sorted by class, in the units of the data.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Labels of the prototypes.
    components_ : ndarray of shape (n_components, n_features)
        The matrix Ω.
    feature_weights_ : ndarray of shape (n_prototypes, n_features)
        The diagonal of Λ, the same in every row; rows add up to 1.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the prototypes of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all prototypes.
    n_iter_ : int
        Number of iterations.
    loss_curve_ : list of float
        Cost after every iteration.

    See Also
    --------
    LGMLVQ : A matrix for each prototype or class.
    GRLVQ : A weight per feature in place of the matrix.

    References
    ----------
    P. Schneider, M. Biehl, B. Hammer: Adaptive Relevance Matrices in Learning Vector Quantization. Neural
    Computation 21, 2009.

    P. Schneider, K. Bunte, H. Stiekema, B. Hammer, T. Villmann, M. Biehl: Regularization in Matrix Relevance
    Learning. IEEE Transactions on Neural Networks 21, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import GMLVQ
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), GMLVQ()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.9
    True
    >>> model[-1].feature_weights_.shape
    (3, 13)
    >>> model.set_params(gmlvq__n_components=2).fit(X_train, y_train).transform(X_test).shape
    (45, 2)
    """

    def __init__(
        self, *, prototypes_per_class=1, n_components=None, activation="sigmoid", steepness=5.0, alpha=0.03,
        max_iter=300, tol=1e-5, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())


class LGRLVQ(GeneralizedLVQ):
    """Localized GRLVQ: prototypes, and one weight per feature for each prototype or class.

    The label of a query is that of the nearest prototype, with the squared distance

        d_p(x) = Σ_l λ_pl (x_l − w_pl)²,    λ_pl ≥ 0,    Σ_l λ_pl = 1

    Prototypes w_p and weights λ_p minimize

        mean_i Φ(μ_i) − alpha · mean_pl log λ_pl,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    where d⁺ and d⁻ are the distances of a training row to the nearest prototype of its class and of another
    class: μ lies between −1 and 1, and is negative if the row is classified correctly. The initial weights
    are equal. As the weights of each prototype add up to 1, distances to different prototypes are comparable.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        Number of prototypes per class, at most the number of its distinct rows. The initial prototype of a
        class is its mean; several are the centers of k-means within the class.
    metric_per : {"prototype", "class"}, default="prototype"
        Whether each prototype has its own metric, or the prototypes of a class share one.
    activation : {"sigmoid", "identity"}, default="sigmoid"
        The function Φ: "sigmoid" is 1 / (1 + exp(−steepness · μ)), by which rows near a class boundary count
        most; "identity" is μ.
    steepness : float, default=5.0
        Steepness of the sigmoid.
    alpha : float, default=0.03
        Strength of the regularization, which keeps weights of features away from 0.
    max_iter : int, default=300
        Maximum number of iterations of L-BFGS; 0 learns nothing.
    tol : float, default=1e-5
        L-BFGS stops when the relative decrease of the cost is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
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
        The fitted model: prototypes, metrics and vote.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Sorted by class, in the units of the data.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Labels of the prototypes.
    feature_weights_ : ndarray of shape (n_prototypes, n_features)
        The weights λ_p; rows add up to 1.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the prototypes of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all prototypes.
    n_iter_ : int
        Number of iterations.
    loss_curve_ : list of float
        Cost after every iteration.

    See Also
    --------
    GRLVQ : The same weights for all prototypes.
    LGMLVQ : Matrices in place of the weights.

    References
    ----------
    B. Hammer, F.-M. Schleif, T. Villmann: On the Generalization Ability of Prototype-Based Classifiers with
    Local Relevance Determination. Technical report IfI-05-14, TU Clausthal, 2005.

    A. Sato, K. Yamada: Generalized Learning Vector Quantization. NIPS 8, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import LGRLVQ
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LGRLVQ()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.9
    True
    >>> model[-1].feature_weights_.shape
    (3, 13)
    """

    _is_diagonal = True
    _own_parameters: ClassVar[ParameterTable] = {
        **GeneralizedLVQ._own_parameters,
        "metric_per": [OneOf("prototype", "class")],
    }

    def __init__(
        self, *, prototypes_per_class=1, metric_per="prototype", activation="sigmoid", steepness=5.0,
        alpha=0.03, max_iter=300, tol=1e-5, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())


class LGMLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, GeneralizedLVQ):
    """Localized GMLVQ: prototypes, and one matrix metric for each prototype or class.

    The label of a query is that of the nearest prototype, with the squared distance

        d_p(x) = (x − w_p)ᵀ Λ_p (x − w_p),    Λ_p = Ω_pᵀ Ω_p,    tr Λ_p = 1

    Prototypes w_p and matrices Ω_p of shape (n_components, n_features) minimize

        mean_i Φ(μ_i) − alpha · mean_p (1/n_components) log det Ω_p Ω_pᵀ,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    where d⁺ and d⁻ are the distances of a training row to the nearest prototype of its class and of another
    class: μ lies between −1 and 1, and is negative if the row is classified correctly. As all traces are 1,
    distances to different prototypes are comparable. The regularization matters where there are few rows per
    entry of the matrices.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        Number of prototypes per class, at most the number of its distinct rows. The initial prototype of a
        class is its mean; several are the centers of k-means within the class.
    n_components : int or None, default=None
        Number of rows of each Ω_p; None is n_features. If it is smaller, the initial rows are the principal
        axes.
    metric_per : {"prototype", "class"}, default="prototype"
        Whether each prototype has its own metric, or the prototypes of a class share one.
    activation : {"sigmoid", "identity"}, default="sigmoid"
        The function Φ: "sigmoid" is 1 / (1 + exp(−steepness · μ)), by which rows near a class boundary count
        most; "identity" is μ.
    steepness : float, default=5.0
        Steepness of the sigmoid.
    alpha : float, default=0.03
        Strength of the regularization, which keeps all directions in use.
    max_iter : int, default=300
        Maximum number of iterations of L-BFGS; 0 learns nothing.
    tol : float, default=1e-5
        L-BFGS stops when the relative decrease of the cost is smaller.
    verbose : int, default=0
        1 prints a line per iteration.
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
        The fitted model: prototypes, metrics and vote.
    prototypes_ : ndarray of shape (n_prototypes, n_features)
        Sorted by class, in the units of the data.
    prototype_labels_ : ndarray of shape (n_prototypes,)
        Labels of the prototypes.
    components_ : ndarray of shape (n_prototypes, n_components, n_features)
        The matrices Ω_p.
    feature_weights_ : ndarray of shape (n_prototypes, n_features)
        The diagonals of Λ_p; rows add up to 1.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the prototypes of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all prototypes.
    n_iter_ : int
        Number of iterations.
    loss_curve_ : list of float
        Cost after every iteration.

    See Also
    --------
    GMLVQ : One matrix for all prototypes.
    LGRLVQ : A weight per feature in place of the matrices.

    References
    ----------
    P. Schneider, M. Biehl, B. Hammer: Adaptive Relevance Matrices in Learning Vector Quantization. Neural
    Computation 21, 2009.

    P. Schneider, K. Bunte, H. Stiekema, B. Hammer, T. Villmann, M. Biehl: Regularization in Matrix Relevance
    Learning. IEEE Transactions on Neural Networks 21, 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import LGMLVQ
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> model = make_pipeline(StandardScaler(), LGMLVQ()).fit(X_train, y_train)
    >>> model.score(X_test, y_test) > 0.9
    True
    >>> model[-1].feature_weights_.shape
    (3, 13)
    """

    _own_parameters: ClassVar[ParameterTable] = {
        **GeneralizedLVQ._own_parameters,
        "metric_per": [OneOf("prototype", "class")],
    }

    def __init__(
        self, *, prototypes_per_class=1, n_components=None, metric_per="prototype", activation="sigmoid",
        steepness=5.0, alpha=0.03, max_iter=300, tol=1e-5, verbose=0, n_jobs=None, random_state=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def transform(self, X: ArrayLike) -> Floats:
        """Return the distances to all prototypes, √d_p(x).

        Coordinates X Ω_pᵀ of different prototypes are not comparable, but distances are.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_prototypes)
        """
        queries = self._validate_queries(X)
        return np.sqrt(self.model_.all_distances(queries, n_jobs=self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)
