"""DANN and GLML: metrics at queries, from the rows around them or from densities of the classes."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from scipy.linalg import solve_triangular
from sklearn.covariance import ledoit_wolf_shrinkage

from lann._support.format import printable
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Labels
from lann._support.validation import (
    POSITIVE_STRENGTH,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    store_parameters,
)
from lann.baselines._baseline import NeighborBaseline
from lann.baselines._mapped_rows import QueryMaps

# The default of `n_metric_neighbors` is a fifth of the training rows, but at least this many.
MIN_METRIC_NEIGHBORS = 50
# Rounding error of a mean, relative to the largest of its values.
ROUNDING = 2.0 * float(np.finfo(np.float64).eps)


def _unless_rounding(variance: float, X: Floats) -> float:
    """Return the variance of rows, 0 if it is that of equal rows whose mean is rounded."""
    return variance if variance > (ROUNDING * np.abs(X).max()) ** 2 else 0.0


class DiscriminantMaps(QueryMaps):
    """Training rows that are compared with a query by a discriminant analysis of the rows around it.

    Parameters
    ----------
    X : (n_rows, n_features)
    memberships : (n_rows, n_classes)
        1 for the class of a row and 0 for others.
    n_metric_neighbors, alpha, shrinkage, max_iter
        As in `DANN`.
    """

    def __init__(
        self, X: Floats, memberships: Floats, *, n_metric_neighbors: int, alpha: float, shrinkage: float,
        max_iter: int,
    ) -> None:  # fmt: skip
        super().__init__(X)
        self.memberships = memberships
        self.n_metric_neighbors, self.max_iter = n_metric_neighbors, max_iter
        self.alpha, self.shrinkage = alpha, shrinkage
        self.scale = _unless_rounding(float(X.var(axis=0).mean()), X) or 1.0

    @property
    def work_per_query(self) -> float:
        return 4e6 + super().work_per_query

    def maps_at(self, queries: Floats) -> Floats:
        n_features = self.X.shape[1]
        return np.array([self._map_at(query) for query in queries]).reshape(-1, n_features, n_features)

    def _map_at(self, query: Floats) -> Floats:
        steps, omega = self.X - query, np.eye(len(query))
        for iteration in range(self.max_iter):
            mapped = steps @ omega.T if iteration else steps
            distances = np.einsum("pr,pr->p", mapped, mapped)
            near = np.argpartition(distances, self.n_metric_neighbors - 1)[: self.n_metric_neighbors]
            # Tricube weights (1 − t³)³, with t the distance divided by the largest; equal ones if all are 0.
            largest = distances[near].max()
            weights = (1.0 - (distances[near] / (largest or 1.0)) ** 1.5) ** 3
            weights = weights if weights.any() else np.ones(len(near))
            omega = self._discriminant_map(self.X[near], self.memberships[near], weights / weights.sum())
        return omega

    def _discriminant_map(self, X: Floats, memberships: Floats, shares: Floats) -> Floats:
        """Return Ω with Ωᵀ Ω = W⁻¹ B W⁻¹ + ε W⁻¹, from rows whose shares add up to 1."""
        n_features = X.shape[1]
        class_shares = shares @ memberships
        means = (memberships.T * shares) @ X / np.where(class_shares > 0, class_shares, 1.0)[:, None]
        differences = means - shares @ X
        differences[np.abs(differences) <= ROUNDING * np.abs(X).max(axis=0)] = 0.0
        between = np.sqrt(class_shares)[:, None] * differences  # its square is B
        deviations = np.sqrt(shares)[:, None] * (X - memberships @ means)
        within = deviations.T @ deviations
        variance = _unless_rounding(float(np.trace(within)) / n_features, X)
        # What is rounding only would not be small beside a variance that replaces it.
        within *= 1.0 - self.shrinkage if variance > 0 else 0.0
        within.flat[:: n_features + 1] += self.shrinkage * (variance or self.scale)
        # With W = L Lᵀ and the singular value decomposition P S Qᵀ of between · L⁻ᵀ, which has few rows:
        # Λ = L⁻ᵀ (ε I + Q S² Qᵀ) L⁻¹, and the root of the expression in parentheses is
        # √ε I + Q (√(ε + S²) − √ε) Qᵀ.
        factor = np.linalg.cholesky(within)
        inverse = solve_triangular(factor, np.eye(n_features), lower=True, check_finite=False)
        _, singular_values, axes = np.linalg.svd(between @ inverse.T, full_matrices=False)
        added = np.sqrt(self.alpha + np.square(singular_values)) - np.sqrt(self.alpha)
        return np.sqrt(self.alpha) * inverse + (axes.T * added) @ (axes @ inverse)


class DANN(NeighborBaseline):
    """Discriminant adaptive nearest neighbors: a linear discriminant analysis of the rows around each query.

    Among the `n_metric_neighbors` training rows nearest to a query, W is the covariance within classes and B
    the covariance of the class means, both with weights that decrease with the distance. The metric at the
    query is

        Λ = W^(-1/2) [W^(-1/2) B W^(-1/2) + ε I] W^(-1/2) = W⁻¹ B W⁻¹ + ε W⁻¹

    so that neighborhoods are narrow in the directions in which class means differ, and wide along the class
    boundary. Nothing is learned before there are queries.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether all votes count the same, or 1/d with d the squared distance.
    n_metric_neighbors : int or None, default=None
        Number of training rows around a query from which its metric is computed; at most all. None is a fifth
        of the training rows but at least 50, as published.
    alpha : float, default=1.0
        Strength ε of the regularization toward W⁻¹; the default is as published.
    shrinkage : float, default=0.3
        Share of W, above 0 and at most 1, that is replaced by its mean variance in all directions, as there
        can be fewer rows around a query than features.
    max_iter : int, default=1
        Number of times that the metric is computed; from the second time on, the nearest rows are those under
        the previous metric. 0 is plain kNN.
    verbose : int, default=0
        1 prints the number of rows around a query.
    n_jobs : int or None, default=None
        Number of threads, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    model_ : NeighborModel
        The fitted model: training rows, metrics at queries, search and vote.
    n_metric_neighbors_ : int
        Number of training rows around a query from which its metric is computed.
    n_iter_ : int
        Number of times that the metric is computed.
    feature_weights_ : ndarray of shape (n_samples, n_features)
        The diagonal of the metric at each training row.
    class_feature_weights_ : ndarray of shape (n_classes, n_features)
        Mean over the rows of each class.
    mean_feature_weights_ : ndarray of shape (n_features,)
        Mean over all rows.

    See Also
    --------
    GLML : Metrics at queries from densities of the classes.
    PLML : Metrics at queries as weighted means of the metrics of a few anchors.

    Notes
    -----
    Difference from the publication: W is shrunk.

    References
    ----------
    T. Hastie, R. Tibshirani: Discriminant Adaptive Nearest Neighbor Classification. IEEE Transactions on
    Pattern Analysis and Machine Intelligence 18, 1996.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from sklearn.model_selection import train_test_split
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lann.baselines import DANN
    >>> X, y = load_wine(return_X_y=True)
    >>> X_train, X_test, y_train, y_test = train_test_split(X, y, stratify=y, random_state=0)
    >>> clf = make_pipeline(StandardScaler(), DANN()).fit(X_train, y_train)
    >>> clf.score(X_test, y_test) > 0.9
    True
    """

    _own_parameters: ClassVar[ParameterTable] = {
        "n_metric_neighbors": [Integer(1), OneOf(None)],
        "alpha": [POSITIVE_STRENGTH],
        "shrinkage": [Number(0, 1, closed="right")],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", n_metric_neighbors=None, alpha=1.0, shrinkage=0.3,
        max_iter=1, verbose=0, n_jobs=None,
    ):  # fmt: skip
        store_parameters(self, locals())

    def _fit_metric(self, X: Floats, labels: Labels) -> DiscriminantMaps:
        n_metric_neighbors = self.n_metric_neighbors
        if n_metric_neighbors is None:
            n_metric_neighbors = max(len(X) // 5, MIN_METRIC_NEIGHBORS)
        self.n_metric_neighbors_ = min(int(n_metric_neighbors), len(X))
        self.n_iter_ = self.max_iter
        if self.verbose:
            print(f"[DANN] {self.n_metric_neighbors_} training rows around each query determine its metric")
        return DiscriminantMaps(
            X,
            np.eye(len(self.classes_))[labels],
            n_metric_neighbors=self.n_metric_neighbors_,
            alpha=self.alpha,
            shrinkage=self.shrinkage,
            max_iter=self.max_iter,
        )


# Less shrinkage than this does not make a singular covariance invertible.
MIN_SHRINKAGE = 1e-6


class Gaussians(NamedTuple):
    """A Gaussian density per class.

    Attributes
    ----------
    priors : (n_classes,)
        Frequencies of the classes.
    means : (n_classes, n_features)
    precisions : (n_classes, n_features, n_features)
        Inverse covariances.
    log_determinants : (n_classes,)
        Of the covariances.
    """

    priors: Floats
    means: Floats
    precisions: Floats
    log_determinants: Floats

    def log_densities(self, queries: Floats) -> tuple[Floats, Floats]:
        """Return the logarithms of the densities times the priors, and their negative gradients.

        Returns
        -------
        log_densities : (n_queries, n_classes)
            Up to a constant.
        gradients : (n_queries, n_classes, n_features)
            Σ_c⁻¹ (x − μ_c).
        """
        steps = queries[None] - self.means[:, None]  # (n_classes, n_queries, n_features)
        gradients = steps @ self.precisions
        squared_lengths = np.einsum("cqf,cqf->qc", steps, gradients)
        log_densities = np.log(self.priors) - 0.5 * (squared_lengths + self.log_determinants)
        return log_densities, gradients.transpose(1, 0, 2)


def class_gaussians(
    X: Floats, labels: Labels, n_classes: int, *, shrinkage: float | str
) -> tuple[Gaussians, Floats]:
    """Estimate a Gaussian density per class, with shrunk covariances.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    n_classes : int
    shrinkage : float or "auto"
        Share of a covariance that is replaced by its mean variance in all directions.

    Returns
    -------
    gaussians : Gaussians
    shrinkages : (n_classes,)
    """
    n_features = X.shape[1]
    priors = np.bincount(labels, minlength=n_classes) / len(labels)
    means = np.stack([X[labels == label].mean(axis=0) for label in range(n_classes)])
    within_variance = float(np.square(X - means[labels]).mean()) or 1.0
    shrinkages, precisions, log_determinants = np.empty(n_classes), [], np.empty(n_classes)
    for label in range(n_classes):
        centered = X[labels == label] - means[label]
        covariance = centered.T @ centered / len(centered)
        # A class without variance, such as a class of one row, gets that of all classes.
        variance = float(np.trace(covariance)) / n_features or within_variance
        if shrinkage != "auto":
            shrinkages[label] = shrinkage
        elif len(centered) == 1:
            shrinkages[label] = 1.0
        else:  # the estimate of Ledoit and Wolf
            estimate = ledoit_wolf_shrinkage(centered / np.sqrt(variance), assume_centered=True)
            shrinkages[label] = np.clip(estimate, MIN_SHRINKAGE, 1.0)
        covariance *= 1.0 - shrinkages[label]
        covariance.flat[:: n_features + 1] += shrinkages[label] * variance
        values, axes = np.linalg.eigh(covariance)
        # The smallest eigenvalues have rounding errors of the order of the largest.
        values = np.maximum(values, MIN_SHRINKAGE * shrinkages[label] * variance)
        precisions.append((axes / values) @ axes.T)
        log_determinants[label] = np.log(values).sum()
    return Gaussians(priors, means, np.stack(precisions), log_determinants), shrinkages


def bias_matrices(gaussians: Gaussians, queries: Floats) -> Floats:
    """Return the matrix B of each query, up to a positive factor: (n_queries, n_features, n_features).

    See `GLML` for B. It is divided by the square of the largest density times the second largest, so that it
    does not underflow.
    """
    log_densities, gradients = gaussians.log_densities(queries)
    # The factor of a class is p_c (Σ_{c'≠c} p_c'² − p_c Σ_{c'≠c} p_c') = p_c (S₂ − p_c S₁) with S₁ = Σ p_c,
    # S₂ = Σ p_c². For the class of the largest density p, this is p² Σ_{c'} p_c' (p_c'/p − 1), which avoids
    # cancellation.
    ordered = np.sort(log_densities, axis=1)
    rows, top = np.arange(len(queries)), log_densities.argmax(axis=1)
    densities = np.exp(log_densities - ordered[:, -1:])
    others = log_densities - ordered[:, -2:-1]
    others[rows, top] = -np.inf
    others = np.exp(others)  # relative to the second largest; 0 for the largest
    sums, squares = densities.sum(axis=1, keepdims=True), np.square(densities).sum(axis=1, keepdims=True)
    weights = others * (squares - densities * sums)
    weights[rows, top] = (others * (densities - 1.0)).sum(axis=1)
    matrices = (gradients * weights[:, :, None]).transpose(0, 2, 1) @ gradients
    precisions = gaussians.precisions.reshape(len(gaussians.priors), -1)
    matrices -= (weights @ precisions).reshape(matrices.shape)
    return matrices


def minimal_bias_metric(matrices: Floats) -> tuple[Floats, Floats]:
    """Return the eigenvalues and eigenvectors of the metric M that minimizes |tr(M⁻¹ B)|.

    Parameters
    ----------
    matrices : (..., n_features, n_features)
        B.

    Returns
    -------
    values : (..., n_features)
        Scaled such that the largest is 1; all 1 if B is 0.
    axes : (..., n_features, n_features)
        Columns are eigenvectors.
    """
    values, axes = np.linalg.eigh(matrices)
    n_positive = (values > 0).sum(axis=-1, keepdims=True)
    n_negative = (values < 0).sum(axis=-1, keepdims=True)
    values = np.where(values > 0, n_positive, n_negative) * np.abs(values)
    largest = values.max(axis=-1, keepdims=True)
    return np.where(largest > 0, values / np.where(largest > 0, largest, 1.0), 1.0), axes


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
    determinant 1, the one with the smallest absolute tr(M⁻¹ B) has the eigenvectors of B and, up to a common
    factor, the eigenvalues

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

    _own_parameters: ClassVar[ParameterTable] = {
        "shrinkage": [Number(0, 1, closed="right"), OneOf("auto")],
    }

    def __init__(
        self, n_neighbors=5, *, weights="uniform", shrinkage="auto", alpha=0.5, verbose=0, n_jobs=None
    ):
        store_parameters(self, locals())

    def _fit_metric(self, X: Floats, labels: Labels) -> GenerativeMaps:
        n_classes = len(self.classes_)
        with single_threaded_blas():
            gaussians, self.shrinkages_ = class_gaussians(X, labels, n_classes, shrinkage=self.shrinkage)
        if self.verbose:
            for label, prior, value in zip(self.classes_, gaussians.priors, self.shrinkages_, strict=True):
                name = printable(str(label))
                print(f"[GLML] class {name}: frequency {prior:.3f}, shrinkage {value:.3f}")
        return GenerativeMaps(X, gaussians, alpha=self.alpha)
