"""GRLVQ: prototypes, and one weight per feature."""

from __future__ import annotations

from lann.baselines._lvq.estimator import DiagonalLVQ


class GRLVQ(DiagonalLVQ):
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
    feature_weights_ : ndarray of shape (n_prototypes, n_features)
        The weights λ, the same in every row; rows add up to 1.
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

    def __init__(
        self,
        *,
        prototypes_per_class=1,
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
        self.activation = activation
        self.steepness = steepness
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.verbose = verbose
        self.n_jobs = n_jobs
        self.random_state = random_state
