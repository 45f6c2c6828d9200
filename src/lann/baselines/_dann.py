"""DANN: the metric at each query follows from a linear discriminant analysis of the rows around it."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from lann._support.types import Floats, Labels
from lann._support.validation import POSITIVE_STRENGTH, Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import NeighborBaseline
from lann.baselines._mapped_rows import QueryMaps
from lann.metric import overflow_is_far

# The default of `n_metric_neighbors` is a fifth of the training rows, but at least this many.
MIN_METRIC_NEIGHBORS = 50
# That of a mean, relative to the largest of its values.
ROUNDING = 2.0 * float(np.finfo(np.float64).eps)


def tricube_weights(distances: Floats) -> Floats:
    """Return the weights (1 − t³)³, with t the distance divided by the largest distance.

    Parameters
    ----------
    distances : (n_rows,)
        Squared.

    Returns
    -------
    weights : (n_rows,)
        All 1 if all distances are equal.
    """
    largest = distances.max()
    if largest > 0:
        weights = (1.0 - (distances / largest) ** 1.5) ** 3
        if weights.any():
            return weights
    return np.ones(len(distances))


def discriminant_map(
    X: Floats, memberships: Floats, weights: Floats, *, alpha: float, shrinkage: float, scale: float
) -> Floats:
    """Return Ω with Ωᵀ Ω = W⁻¹ B W⁻¹ + ε W⁻¹: (n_features, n_features).

    Parameters
    ----------
    X : (n_rows, n_features)
    memberships : (n_rows, n_classes)
        1 for the class of a row and 0 for others.
    weights : (n_rows,)
    alpha : float
        ε.
    shrinkage : float
        Share of W that is replaced by its mean variance in all directions.
    scale : float
        Mean variance if that of W is 0, up to rounding.
    """
    n_features = X.shape[1]
    shares = weights / weights.sum()
    class_shares = shares @ memberships
    means = (memberships.T * shares) @ X / np.where(class_shares > 0, class_shares, 1.0)[:, None]
    differences = means - shares @ X
    differences[np.abs(differences) <= ROUNDING * np.abs(X).max(axis=0)] = 0.0
    between = np.sqrt(class_shares)[:, None] * differences  # its square is B
    deviations = np.sqrt(shares)[:, None] * (X - memberships @ means)
    within = deviations.T @ deviations
    variance = _unless_rounding(float(np.trace(within)) / n_features, X)
    # What is rounding only would not be small beside a variance that replaces it.
    within *= 1.0 - shrinkage if variance > 0 else 0.0
    variance = variance or scale
    within.flat[:: n_features + 1] += shrinkage * variance
    # With W = L Lᵀ and the singular value decomposition P S Qᵀ of between · L⁻ᵀ, which has few rows:
    # Λ = L⁻ᵀ (ε I + Q S² Qᵀ) L⁻¹, and the root of the expression in parentheses is
    # √ε I + Q (√(ε + S²) − √ε) Qᵀ.
    inverse = solve_triangular(np.linalg.cholesky(within), np.eye(n_features), lower=True, check_finite=False)
    _, singular_values, axes = np.linalg.svd(between @ inverse.T, full_matrices=False)
    added = np.sqrt(alpha + np.square(singular_values)) - np.sqrt(alpha)
    return np.sqrt(alpha) * inverse + (axes.T * added) @ (axes @ inverse)


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
        maps = np.empty((len(queries), n_features, n_features))
        for number, query in enumerate(queries):
            maps[number] = self._map_at(query)
        return maps

    @overflow_is_far
    def _map_at(self, query: Floats) -> Floats:
        steps, omega = self.X - query, np.eye(len(query))
        for iteration in range(self.max_iter):
            mapped = steps @ omega.T if iteration else steps
            distances = np.einsum("pr,pr->p", mapped, mapped)
            near = np.argpartition(distances, self.n_metric_neighbors - 1)[: self.n_metric_neighbors]
            omega = discriminant_map(
                self.X[near],
                self.memberships[near],
                tricube_weights(distances[near]),
                alpha=self.alpha,
                shrinkage=self.shrinkage,
                scale=self.scale,
            )
        return omega


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
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_metric_neighbors = n_metric_neighbors
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs

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
