"""LGMLVQ: prototypes that each have a matrix metric of their own."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lann._types import Floats, Labels
from lann._validation import ParameterTable
from lann.baselines._lvq.estimator import LOCAL, LVQ, MATRIX, LocalLVQ, MatrixLVQ
from lann.baselines._lvq.model import Prototypes


class LGMLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, LocalLVQ, MatrixLVQ):
    """Localized GMLVQ: every prototype (or class) has a matrix metric of its own.

    A query has the label of its nearest prototype, and each prototype measures in its own way:

        d_p(x) = (x − w_p)ᵀ Λ_p (x − w_p),    Λ_p = Ω_pᵀ Ω_p,  tr Λ_p = 1

    Prototypes w and matrices Ω_p of shape (n_components, n_features)

        minimize  mean_i Φ(μ_i) − alpha · mean_p (1/n_components) log det Ω_p Ω_pᵀ

        μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    μ lies in [−1, 1] and is negative where a point is classified rightly: d⁺ is its distance to the nearest
    prototype of its class, d⁻ to the nearest of another. Everything is learned at once, from class means and
    from all features counting alike. Traces are 1, so that distances stay comparable: the cost is that of
    Λ_p / tr Λ_p. The penalty matters, as matrices have many entries and few points to learn them from.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        A class starts from its mean, or from the centers of k-means within it. A class with fewer different
        points has as many prototypes as those.
    n_components : int or None, default=None
        Rows of each Ω; None is as many as there are features. Fewer start from the principal axes.
    metric_per : {"prototype", "class"}, default="prototype"
        Whose a metric is: each prototype's, or that of all prototypes of a class.
    squashing : {"sigmoid", "identity"}, default="sigmoid"
        Φ: 1 / (1 + exp(−steepness · μ)), so that points near a boundary count most; or μ itself.
    steepness : float, default=5.0
        Of the sigmoid.
    alpha : float, default=0.03
        How much a metric that ignores directions is held against the model.
    solver : {"lbfgs", "stochastic"}, default="lbfgs"
        All points at once by L-BFGS, or gradient steps on small batches at falling rates.
    max_iter : int, default=300
        The largest number of iterations (lbfgs) or passes over the points (stochastic); 0 learns nothing.
    tol : float, default=1e-5
        Ends when the cost falls by less than this part of itself in an iteration (stochastic: in ten).
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. The result does not depend on it.
    verbose : int, default=0
        1 prints a line per iteration.
    random_state : int, RandomState instance or None, default=None
        Of k-means, and of the order of the points for the stochastic solver.

    Attributes
    ----------
    classes_ : (n_classes,)
    n_features_in_, feature_names_in_ : what the model was fitted with
    prototypes_ : (n_prototypes, n_features)
        Sorted by class, in the units of the data.
    prototype_labels_ : (n_prototypes,)
    components_ : (n_prototypes, n_components, n_features)
        Each prototype's Ω.
    feature_weights_ : (n_prototypes, n_features)
        The diagonal of each Λ, adding up to 1.
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the prototypes of each class.
    mean_feature_weights_ : (n_features,)
        Their mean over all prototypes.
    n_iter_ : int
    loss_curve_ : list of float
        The cost after every iteration.

    See Also
    --------
    GMLVQ : One matrix for all prototypes.
    LGRLVQ : A weight per feature of each prototype's own.

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

    _parameters: ClassVar[ParameterTable] = {**LVQ, **MATRIX, **LOCAL}

    def __init__(
        self,
        *,
        prototypes_per_class=1,
        n_components=None,
        metric_per="prototype",
        squashing="sigmoid",
        steepness=5.0,
        alpha=0.03,
        solver="lbfgs",
        max_iter=300,
        tol=1e-5,
        n_jobs=None,
        verbose=0,
        random_state=None,
    ):
        self.prototypes_per_class = prototypes_per_class
        self.n_components = n_components
        self.metric_per = metric_per
        self.squashing = squashing
        self.steepness = steepness
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state

    def _fit_model(self, X: Floats, labels: Labels) -> Prototypes:
        model = super()._fit_model(X, labels)
        self.components_ = model.maps[model.owners]
        return model

    def transform(self, X: ArrayLike) -> Floats:
        """How far queries are from every prototype, as it measures: √d, (n_queries, n_prototypes).

        The axes of different prototypes have nothing in common, so their coordinates cannot be compared: how
        far they see a query can.
        """
        queries = self._validate_queries(X)
        return np.sqrt(self.model_.all_distances(queries, n_jobs=self.n_jobs))

    @property
    def _n_features_out(self) -> int:
        return len(self.prototypes_)
