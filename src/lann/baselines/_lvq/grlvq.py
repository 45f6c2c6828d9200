"""GRLVQ: prototypes, and how relevant each feature is."""

from __future__ import annotations

from lann.baselines._lvq.estimator import DiagonalLVQ


class GRLVQ(DiagonalLVQ):
    """Generalized relevance learning vector quantization: one weight per feature, the same everywhere.

    A query has the label of its nearest prototype, with distances

        d_p(x) = Σ_l λ_l (x_l − w_pl)²,    λ_l ≥ 0,  Σ_l λ_l = 1

    Prototypes w and relevances λ

        minimize  mean_i Φ(μ_i) − alpha · mean_l log λ_l,    μ_i = (d⁺ − d⁻) / (d⁺ + d⁻)

    μ lies in [−1, 1] and is negative where a point is classified rightly: d⁺ is its distance to the nearest
    prototype of its class, d⁻ to the nearest of another. Everything is learned at once, from class means and
    from all features counting alike. Relevances are squares of what is learned, over their sum, and need no
    constraint.

    Parameters
    ----------
    prototypes_per_class : int, default=1
        A class starts from its mean, or from the centers of k-means within it. A class with fewer different
        points has as many prototypes as those.
    squashing : {"sigmoid", "identity"}, default="sigmoid"
        Φ: 1 / (1 + exp(−steepness · μ)), so that points near a boundary count most; or μ itself.
    steepness : float, default=5.0
        Of the sigmoid.
    alpha : float, default=0.03
        How much a metric that ignores features is held against the model.
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
    feature_weights_ : (n_prototypes, n_features)
        λ, adding up to 1 and the same in every row.
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the prototypes of each class.
    mean_feature_weights_ : (n_features,)
        Their mean over all prototypes.
    n_iter_ : int
    loss_curve_ : list of float
        The cost after every iteration.

    See Also
    --------
    LGRLVQ : Relevances of each prototype's own.
    GMLVQ : A matrix, which also sees features together.

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
        self.squashing = squashing
        self.steepness = steepness
        self.alpha = alpha
        self.solver = solver
        self.max_iter = max_iter
        self.tol = tol
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
