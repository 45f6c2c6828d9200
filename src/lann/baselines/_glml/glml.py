"""GLML: the metric at each query follows from Gaussian densities of the classes."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

from lann._format import printable
from lann._threads import single_threaded_blas
from lann._types import Floats, Labels
from lann._validation import STRENGTH, Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._glml.gaussians import Gaussians, class_gaussians
from lann.baselines._glml.metric import bias_matrices, minimal_bias_metric
from lann.baselines._mapped_rows import QueryMaps

# Keeps the determinant of a metric positive.
MIN_ALPHA = 1e-12


class GenerativeMaps(QueryMaps):
    """Training rows that are compared with a query by the metric that follows from densities of the classes.

    Parameters
    ----------
    X : (n_rows, n_features)
    gaussians : Gaussians
    alpha : float
        Added to all eigenvalues of a metric.
    """

    def __init__(self, X: Floats, gaussians: Gaussians, *, alpha: float) -> None:
        super().__init__(X)
        self.gaussians, self.alpha = gaussians, alpha

    def maps_at(self, queries: Floats) -> Floats:
        values, axes = minimal_bias_metric(bias_matrices(self.gaussians, queries))
        lengths = np.sqrt(values + max(self.alpha, MIN_ALPHA))
        lengths /= np.exp(np.log(lengths).mean(axis=-1, keepdims=True))  # determinant 1
        return lengths[:, :, None] * axes.transpose(0, 2, 1)


class GLML(NeighborBaseline):
    """Generative local metric learning: the metric at each query follows from densities of the classes.

    With finitely many training rows, the error of the nearest neighbor differs from its limit by a bias that
    depends on the metric M: it is proportional to tr(M⁻¹ B), with

        B(x) = Σ_c ∇∇p_c (Σ_{c'≠c} p_c'² − p_c Σ_{c'≠c} p_c'),
        ∇∇p_c = p_c [Σ_c⁻¹ (x − μ_c)(x − μ_c)ᵀ Σ_c⁻¹ − Σ_c⁻¹]

    where p_c = π_c N(x; μ_c, Σ_c) is the Gaussian density of class c times its frequency. Of all metrics with
    determinant 1, the one that minimizes |tr(M⁻¹ B)| has the eigenvectors of B and, up to a common factor,
    the eigenvalues

        d₊ λ for λ > 0,    −d₋ λ for λ < 0

    with d₊ and d₋ the numbers of positive and negative eigenvalues λ of B.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all votes count the same, or 1/d with d the squared distance.
    shrinkage : float or "auto", default="auto"
        Share of the covariance of each class, above 0 and at most 1, that is replaced by its mean variance in
        all directions. "auto" is the estimate of Ledoit and Wolf for each class.
    alpha : float, default=0.5
        Strength of the regularization toward plain kNN: added to all eigenvalues of M, of which the largest
        is 1. Without, directions in which B is 0 do not count.
    verbose : int, default=0
        1 prints a line per class.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, densities, search and vote.
    shrinkages_ : ndarray of shape (n_classes,)
        Shrinkage of the covariance of each class.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonal of the metric at each training row.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.

    See Also
    --------
    DANN : Metrics at queries from a local discriminant analysis.
    PLML : Metrics at queries as weighted means of the metrics of a few anchors.

    Notes
    -----
    Difference from the publication: `alpha` is added to the eigenvalues.

    References
    ----------
    Y.-K. Noh, B.-T. Zhang, D. D. Lee: Generative Local Metric Learning for Nearest Neighbor Classification.
    NIPS 2010.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import GLML
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = make_pipeline(StandardScaler(), GLML()).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    """

    _parameters: ClassVar[ParameterTable] = {
        **NEIGHBORS,
        "shrinkage": [Number(0, 1, closed="right"), OneOf("auto")],
        "alpha": [STRENGTH],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", shrinkage="auto", alpha=0.5, verbose=0, n_jobs=None
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.shrinkage = shrinkage
        self.alpha = alpha
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _fit_metric(self, X: Floats, labels: Labels) -> GenerativeMaps:
        with single_threaded_blas():
            gaussians, self.shrinkages_ = class_gaussians(
                X, labels, len(self.classes_), shrinkage=self.shrinkage
            )
        if self.verbose:
            for label, prior, shrinkage in zip(
                self.classes_, gaussians.priors, self.shrinkages_, strict=True
            ):
                name = printable(str(label))
                print(f"[GLML] class {name}: frequency {prior:.3f}, shrinkage {shrinkage:.3f}")
        return GenerativeMaps(X, gaussians, alpha=self.alpha)
