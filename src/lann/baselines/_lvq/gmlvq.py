"""GMLVQ: prototypes, and one matrix metric."""

from __future__ import annotations

from numpy.typing import ArrayLike
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin

from lann._types import Floats, Labels
from lann.baselines._lvq.estimator import MatrixLVQ
from lann.baselines._lvq.model import Prototypes


class GMLVQ(ClassNamePrefixFeaturesOutMixin, TransformerMixin, MatrixLVQ):
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
    solver : {"lbfgs", "stochastic"}, default="lbfgs"
        "lbfgs" uses all rows in every iteration; "stochastic" takes gradient steps on batches of 32 rows,
        with a step size that falls to 0.
    max_iter : int, default=300
        Maximum number of iterations ("lbfgs") or epochs ("stochastic"); 0 learns nothing.
    tol : float, default=1e-5
        Training stops when the relative decrease of the cost is smaller, in an iteration ("lbfgs") or in ten
        epochs ("stochastic").
    verbose : int, default=0
        1 prints a line per iteration.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.
    random_state : int, RandomState instance or None, default=None
        Determines the initialization of k-means, and the order of the rows for ``solver="stochastic"``.

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
        Number of iterations or epochs.
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
        self,
        *,
        prototypes_per_class=1,
        n_components=None,
        activation="sigmoid",
        steepness=5.0,
        alpha=0.03,
        solver="lbfgs",
        max_iter=300,
        tol=1e-5,
        verbose=0,
        n_jobs=None,
        random_state=None,
    ):
        self.prototypes_per_class = prototypes_per_class
        self.n_components = n_components
        self.activation = activation
        self.steepness = steepness
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state

    def _fit_model(self, X: Floats, labels: Labels) -> Prototypes:
        model = super()._fit_model(X, labels)
        self.components_ = model.maps[0]
        return model

    def transform(self, X: ArrayLike) -> Floats:
        """Return X Ωᵀ, where the learned metric is Euclidean.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
        """
        queries = self._validate_queries(X)
        return queries @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
