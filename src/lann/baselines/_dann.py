"""DANN: a discriminant analysis around each query says in which directions its neighborhood is narrow."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.linalg import solve_triangular

from lann._types import Floats, Labels
from lann._validation import Integer, Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._mapped_rows import QueryMaps
from lann.metrics import overflow_is_far

# `n_local` by default: a fifth of the points, but at least so many.
LEAST_LOCAL = 50


class DANN(NeighborBaseline):
    """Discriminant adaptive nearest neighbors: a linear discriminant analysis around every query.

    Among the `n_local` points that are nearest to a query, W is the covariance within classes and B that of
    the classes' means, both with weights that fall with the distance. The query then measures with

        Λ = W^(-1/2) [W^(-1/2) B W^(-1/2) + ε I] W^(-1/2) = W⁻¹ B W⁻¹ + ε W⁻¹

    so that its neighborhood is narrow where the classes' means differ, and wide along the boundary between
    them. There is nothing to learn before the queries come.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbors vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether a neighbor's vote is the same for all, or 1/d with d the squared distance.
    n_local : int or None, default=None
        How many points around a query the analysis is made of; at most all. None is a fifth of the training
        points, but at least 50, as published.
    alpha : float, default=1.0
        ε: how round the neighborhood stays; as published.
    shrinkage : float, default=0.3
        How much of W is replaced by the same variance in all directions, above 0 and up to 1: there may be
        fewer points around a query than features.
    max_iter : int, default=1
        How often the analysis is made: from the second time on, of the nearest points under the metric found
        before. 0 is plain nearest neighbors.
    verbose : int, default=0
        1 prints how large the neighborhoods are.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : (n_classes,)
    n_features_in_, feature_names_in_ : what the model was fitted with
    n_local_ : int
        How many points around a query the analysis is made of.
    n_iter_ : int
        How often it is made.
    feature_weights_ : (n_train, n_features)
        The diagonal of the metric at each training point.
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the points of each class.
    mean_feature_weights_ : (n_features,)
        Their mean over all points.

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

    _parameters: ClassVar[ParameterTable] = {
        **NEIGHBORS,
        "n_local": [Integer(1), OneOf(None)],
        "alpha": [Number(0, closed="right")],
        "shrinkage": [Number(0, 1, closed="right")],
        "max_iter": [Integer(0)],
    }

    def __init__(
        self,
        n_neighbors=5,
        *,
        weights="uniform",
        n_local=None,
        alpha=1.0,
        shrinkage=0.3,
        max_iter=1,
        verbose=0,
        n_jobs=None,
    ):
        self.n_neighbors = n_neighbors
        self.weights = weights
        self.n_local = n_local
        self.alpha = alpha
        self.shrinkage = shrinkage
        self.max_iter = max_iter
        self.verbose = verbose
        self.n_jobs = n_jobs

    def _fit_metric(self, X: Floats, labels: Labels) -> QueryMaps:
        wanted = max(len(X) // 5, LEAST_LOCAL) if self.n_local is None else self.n_local
        self.n_local_ = min(int(wanted), len(X))
        self.n_iter_ = self.max_iter
        if self.verbose:
            print(f"[DANN] a discriminant analysis of {self.n_local_} points around each query")
        return DiscriminantMaps(
            X,
            np.eye(len(self.classes_))[labels],
            n_local=self.n_local_,
            alpha=self.alpha,
            shrinkage=self.shrinkage,
            max_iter=self.max_iter,
        )


class DiscriminantMaps(QueryMaps):
    """Points that are measured by a discriminant analysis of those around a query.

    Parameters
    ----------
    X : (n_rows, n_features)
    memberships : (n_rows, n_classes)
        1 for the class of a row and 0 for others.
    """

    def __init__(
        self,
        X: Floats,
        memberships: Floats,
        *,
        n_local: int,
        alpha: float,
        shrinkage: float,
        max_iter: int,
    ) -> None:
        super().__init__(X)
        self.memberships = memberships
        self.n_local, self.alpha, self.shrinkage, self.max_iter = n_local, alpha, shrinkage, max_iter
        self.scale = float(X.var(axis=0).mean()) or 1.0

    @property
    def work_per_query(self) -> float:
        return 4e6 + super().work_per_query

    def maps_at(self, queries: Floats) -> Floats:
        n_features = self.X.shape[1]
        maps = np.empty((len(queries), n_features, n_features))
        for query, own in zip(queries, maps, strict=True):
            own[:] = self._map_at(query)
        return maps

    @overflow_is_far
    def _map_at(self, query: Floats) -> Floats:
        steps, own = self.X - query, np.eye(len(query))
        for turn in range(self.max_iter):
            mapped = steps @ own.T if turn else steps
            distances = np.einsum("pr,pr->p", mapped, mapped)
            near = np.argpartition(distances, self.n_local - 1)[: self.n_local]
            own = discriminant_map(
                self.X[near],
                self.memberships[near],
                tricube(distances[near]),
                alpha=self.alpha,
                shrinkage=self.shrinkage,
                scale=self.scale,
            )
        return own


def tricube(distances: Floats) -> Floats:
    """Weights (1 − t³)³ with t the distance, not squared, relative to the farthest.

    distances : (n_local,) squared
    """
    farthest = distances.max()
    if 0 < farthest < np.inf:
        weights = (1.0 - (distances / farthest) ** 1.5) ** 3
        if weights.any():
            return weights
    return np.ones(len(distances))  # all equally far away, or too far to be measured


def discriminant_map(
    points: Floats, memberships: Floats, weights: Floats, *, alpha: float, shrinkage: float, scale: float
) -> Floats:
    """Ω with Ωᵀ Ω = W⁻¹ B W⁻¹ + ε W⁻¹: (n_features, n_features).

    Parameters
    ----------
    points : (n_local, n_features)
    memberships : (n_local, n_classes), 1 for a point's class and 0 for others
    weights : (n_local,)
    alpha : ε
    shrinkage : how much of W is replaced by its mean variance in all directions
    scale : the variance where points do not vary
    """
    n_features = points.shape[1]
    shares = weights / weights.sum()
    class_shares = shares @ memberships
    means = (memberships.T * shares) @ points / np.where(class_shares > 0, class_shares, 1.0)[:, None]
    between = np.sqrt(class_shares)[:, None] * (means - shares @ points)  # B is its square
    scattered = np.sqrt(shares)[:, None] * (points - memberships @ means)
    within = scattered.T @ scattered
    variance = float(np.trace(within)) / n_features or scale
    within *= 1.0 - shrinkage
    within.flat[:: n_features + 1] += shrinkage * variance
    # With W = L Lᵀ and P S Qᵀ the singular value decomposition of between L⁻ᵀ, which has few rows:
    # Λ = L⁻ᵀ (ε I + Q S² Qᵀ) L⁻¹, and the root of what is in parentheses is √ε I + Q (√(ε + S²) − √ε) Qᵀ.
    root = solve_triangular(np.linalg.cholesky(within), np.eye(n_features), lower=True, check_finite=False)
    _, lengths, turn = np.linalg.svd(between @ root.T, full_matrices=False)
    added = np.sqrt(alpha + np.square(lengths)) - np.sqrt(alpha)
    return np.sqrt(alpha) * root + (turn.T * added) @ (turn @ root)
