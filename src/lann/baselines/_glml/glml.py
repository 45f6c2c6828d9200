"""GLML: the metric at a query that makes the nearest neighbor's error least, if classes were Gaussian."""

from __future__ import annotations

from typing import ClassVar, NamedTuple

import numpy as np
from sklearn.covariance import ledoit_wolf_shrinkage

from lann._threads import single_threaded_blas
from lann._types import Floats, Labels
from lann._validation import Number, OneOf, ParameterTable
from lann.baselines._baseline import NEIGHBORS, NeighborBaseline
from lann.baselines._mapped_rows import QueryMaps
from lann.metrics import overflow_is_far

# Less shrinkage than this does not make a singular covariance regular.
LEAST_SHRINKAGE = 1e-6
# Keeps the determinant positive.
SMALLEST_ALPHA = 1e-12


class GLML(NeighborBaseline):
    """Generative local metric learning: the metric at each query comes from densities of the classes.

    With finitely many points, the error of the nearest neighbor differs from its limit by a term that
    depends on the metric M: it is proportional to tr(M⁻¹ B), with

        B(x) = Σ_c ∇∇p_c (Σ_{c'≠c} p_c'² − p_c Σ_{c'≠c} p_c'),
        ∇∇p_c = p_c [Σ_c⁻¹ (x − μ_c)(x − μ_c)ᵀ Σ_c⁻¹ − Σ_c⁻¹]

    where p_c = π_c N(x; μ_c, Σ_c) is the density of a class times its frequency. Of all metrics with
    determinant 1, the one for which |tr(M⁻¹ B)| is least has the eigenvectors of B, and the eigenvalues

        d₊ λ for positive λ,    −d₋ λ for negative λ

    up to a common factor, with d₊ and d₋ the numbers of positive and negative eigenvalues λ of B.

    Parameters
    ----------
    n_neighbors : int, default=5
        How many neighbors vote.
    weights : {"uniform", "distance"}, default="uniform"
        Whether a neighbor's vote is the same for all, or 1/d with d the squared distance.
    shrinkage : float or "auto", default="auto"
        How much of each class's covariance is replaced by the same variance in all directions, above 0 and
        up to 1. "auto" is as much as Ledoit and Wolf find best, for each class by itself.
    alpha : float, default=0.5
        γ: this much of the identity is added to M, whose largest eigenvalue is 1. It keeps directions in
        which B is flat from being ignored; the larger, the nearer to plain nearest neighbors.
    verbose : int, default=0
        1 prints a line per class.
    n_jobs : int or None, default=None
        Threads, as in scikit-learn. The result does not depend on it.

    Attributes
    ----------
    classes_ : (n_classes,)
    n_features_in_, feature_names_in_ : what the model was fitted with
    shrinkages_ : (n_classes,)
        How much each class's covariance was shrunk.
    feature_weights_ : (n_train, n_features)
        The diagonal of the metric at each training point.
    class_feature_weights_ : (n_classes, n_features)
        Their mean over the points of each class.
    mean_feature_weights_ : (n_features,)
        Their mean over all points.

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
        "alpha": [Number(0)],
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

    def _fit_metric(self, X: Floats, labels: Labels) -> QueryMaps:
        with single_threaded_blas():
            gaussians, self.shrinkages_ = class_gaussians(
                X, labels, len(self.classes_), shrinkage=self.shrinkage
            )
        if self.verbose:
            for label, share, shrunk in zip(self.classes_, gaussians.shares, self.shrinkages_, strict=True):
                print(f"[GLML] class {label!s}: share {share:.3f}, covariance shrunk by {shrunk:.3f}")
        return GenerativeMaps(X, gaussians, alpha=self.alpha)


class Gaussians(NamedTuple):
    """A normal density for each class."""

    shares: Floats  # (n_classes,)
    means: Floats  # (n_classes, n_features)
    precisions: Floats  # (n_classes, n_features, n_features)
    log_volumes: Floats  # (n_classes,) log det Σ_c

    def log_densities(self, queries: Floats) -> tuple[Floats, Floats]:
        """The logs of π_c p_c, up to a constant, and Σ_c⁻¹ (x − μ_c).

        Returns
        -------
        logs : (n_queries, n_classes)
        pulls : (n_queries, n_classes, n_features)
        """
        steps = queries[None] - self.means[:, None]  # (n_classes, n_queries, n_features)
        pulls = steps @ self.precisions
        lengths = np.einsum("cqf,cqf->qc", steps, pulls)
        logs = np.log(self.shares) - 0.5 * (lengths + self.log_volumes)
        return logs, pulls.transpose(1, 0, 2)


def class_gaussians(
    points: Floats, labels: Labels, n_classes: int, *, shrinkage: float | str
) -> tuple[Gaussians, Floats]:
    """The classes' densities, and how much their covariances were shrunk: (n_classes,)."""
    n_features = points.shape[1]
    shares = np.bincount(labels, minlength=n_classes) / len(labels)
    means = np.stack([points[labels == label].mean(axis=0) for label in range(n_classes)])
    scattered = float(np.square(points - means[labels]).mean()) or 1.0  # variance within classes
    shrinkages, precisions, log_volumes = np.empty(n_classes), [], np.empty(n_classes)
    for label in range(n_classes):
        steps = points[labels == label] - means[label]
        covariance = steps.T @ steps / len(steps)
        # A class that does not vary, as one of a single point, is taken to vary like the others.
        variance = float(np.trace(covariance)) / n_features or scattered
        if shrinkage == "auto":
            best = (
                ledoit_wolf_shrinkage(steps / np.sqrt(variance), assume_centered=True)
                if len(steps) > 1
                else 1.0
            )
            shrinkages[label] = min(max(float(best), LEAST_SHRINKAGE), 1.0)
        else:
            shrinkages[label] = shrinkage
        covariance *= 1.0 - shrinkages[label]
        covariance.flat[:: n_features + 1] += shrinkages[label] * variance
        values, axes = np.linalg.eigh(covariance)
        # Rounding may take a share of the largest eigenvalue from the smallest.
        values = np.maximum(values, LEAST_SHRINKAGE * shrinkages[label] * variance)
        precisions.append((axes / values) @ axes.T)
        log_volumes[label] = np.log(values).sum()
    return Gaussians(shares, means, np.stack(precisions), log_volumes), shrinkages


@overflow_is_far
def error_curvature(gaussians: Gaussians, queries: Floats) -> Floats:
    """B at each query, up to a positive factor: (n_queries, n_features, n_features).

    The factor is the square of the largest density times the second: what is left does not underflow.
    """
    logs, pulls = gaussians.log_densities(queries)
    weights = _class_weights(logs)
    n_queries, n_features = queries.shape
    curvature = (pulls * weights[:, :, None]).transpose(0, 2, 1) @ pulls
    flat = gaussians.precisions.reshape(len(gaussians.shares), -1)
    curvature -= (weights @ flat).reshape(n_queries, n_features, n_features)
    # Too far away to be measured: no direction is known to count more than others.
    curvature[~np.isfinite(curvature).all(axis=(1, 2))] = 0.0
    return curvature


def _class_weights(logs: Floats) -> Floats:
    """p_c (Σ_{c'≠c} p_c'² − p_c Σ_{c'≠c} p_c') = p_c (S₂ − p_c S₁) with S₁ = Σ p_c, S₂ = Σ p_c².

    For the densest class that is p² Σ_{c'} p_c' (p_c'/p − 1). So all are of the order of the second density
    times the square of the first, which is what they are divided by.

    logs : (n_queries, n_classes) of the densities
    """
    order = np.sort(logs, axis=1)
    first, second = order[:, -1:], order[:, -2:-1]
    densities = np.exp(logs - first)
    top = logs.argmax(axis=1)
    rows = np.arange(len(logs))
    others = logs - second
    others[rows, top] = -np.inf
    others = np.exp(others)  # relative to the second, 0 for the first
    sums, squares = densities.sum(axis=1, keepdims=True), np.square(densities).sum(axis=1, keepdims=True)
    weights = others * (squares - densities * sums)
    weights[rows, top] = (others * (densities - 1.0)).sum(axis=1)
    return weights


def best_metric(curvature: Floats) -> tuple[Floats, Floats]:
    """Eigenvalues, at most 1, and eigenvectors of the metric for which |tr(M⁻¹ B)| is least.

    curvature : (..., n, n), B

    Returns
    -------
    values : (..., n)
    axes : (..., n, n), an eigenvector a column
    """
    values, axes = np.linalg.eigh(curvature)
    n_above = (values > 0).sum(axis=-1, keepdims=True)
    n_below = (values < 0).sum(axis=-1, keepdims=True)
    values = np.where(values > 0, n_above, n_below) * np.abs(values)
    largest = values.max(axis=-1, keepdims=True)
    return np.where(largest > 0, values / np.where(largest > 0, largest, 1.0), 1.0), axes


class GenerativeMaps(QueryMaps):
    """Points that are measured by what Gaussian classes mean for the neighborhood of a query."""

    def __init__(self, X: Floats, gaussians: Gaussians, *, alpha: float) -> None:
        super().__init__(X)
        self.gaussians, self.alpha = gaussians, alpha

    def maps_at(self, queries: Floats) -> Floats:
        values, axes = best_metric(error_curvature(self.gaussians, queries))
        lengths = np.sqrt(values + max(self.alpha, SMALLEST_ALPHA))
        lengths /= np.exp(np.log(lengths).mean(axis=-1, keepdims=True))  # determinant 1
        return lengths[:, :, None] * axes.transpose(0, 2, 1)
