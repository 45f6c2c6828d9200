"""What baselines share: parameters, fitting, nearest rows of classes, L-BFGS and k-means."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Callable, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import OptimizeResult, minimize
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lann._base import ModelClassifier, NeighborClassifier
from lann._support.compat import unchanged_on_failure
from lann._support.inputs import check_enough_rows, check_one_type, check_two_classes, get_feature_names
from lann._support.sizes import check_training_values
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import (
    N_JOBS,
    RANDOM_STATE,
    STRENGTH,
    VERBOSE,
    Integer,
    Number,
    OneOf,
    ParameterTable,
    validate_parameters,
)
from lann.baselines._mapped_rows import MappedRows
from lann.metric import DiagonalMetric
from lann.model import NeighborModel
from lann.search import ExactSearch


def check_n_components(n_components: int | None, n_features: int) -> int:
    """Return the number of components, where None is n_features; raise ValueError if it is more."""
    if n_components is None:
        return n_features
    if n_components > n_features:
        raise ValueError(f"n_components={n_components} must be at most the number of features, {n_features}.")
    return n_components


def principal_axes(centered: Floats) -> tuple[Floats, Floats]:
    """Return the principal axes of centered rows, those of the largest variance first.

    Parameters
    ----------
    centered : (n_rows, n_features)

    Returns
    -------
    variances : (n_features,)
        Up to a common factor.
    axes : (n_features, n_features)
        Rows are axes; orthonormal.
    """
    variances, axes = np.linalg.eigh(centered.T @ centered)  # ascending
    return variances[::-1], axes[:, ::-1].T


def euclidean_search(X: Floats) -> ExactSearch:
    """Return a search for the nearest rows under the Euclidean metric."""
    return ExactSearch(DiagonalMetric(X, np.ones(X.shape[1])))


def nearest_by_class(X: Floats, labels: Labels, k: int, *, same: bool, n_jobs: int | None = None) -> Indices:
    """Return the k nearest other rows of the same class, or of other classes, for each row.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
    k : int
    same : bool
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    indices : (n_rows, min(k, n_rows))
        Nearest first; -1 where there are fewer rows.
    """
    neighbors = np.full((len(X), min(k, len(X))), -1)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        among = members if same else np.flatnonzero(labels != label)
        n_found = min(k, len(among) - same)
        if n_found > 0:
            exclude = np.arange(len(members)) if same else None
            search = euclidean_search(X[among])
            indices, _ = search.query(X[members], n_found, exclude=exclude, n_jobs=n_jobs)
            neighbors[members, :n_found] = among[indices]
    return neighbors


Objective = Callable[..., tuple[float, Sequence[Floats]]]


def minimize_lbfgs(
    objective: Objective, initial: Sequence[Floats], *, max_iter: int, tol: float, name: str, verbose: int = 0
) -> tuple[list[Floats], list[float]]:
    """Minimize a function of several arrays by L-BFGS; warn if it has not converged.

    Parameters
    ----------
    objective : callable
        From arrays with the shapes of `initial` to the loss and its gradients, in the same order.
    initial : sequence of ndarray
    max_iter : int
        Maximum number of iterations; 0 returns the initial arrays.
    tol : float
        It has converged when the relative decrease of the loss, or the largest entry of the gradient, is
        smaller.
    name : str
        Name of the method in messages.
    verbose : int, default=0
        1 prints a line per iteration.

    Returns
    -------
    arrays : list of ndarray
        The last arrays, with the shapes of the initial ones.
    losses : list of float
        Loss after every iteration.
    """
    if max_iter == 0:  # SciPy would still take a step
        return [np.array(array, dtype=np.float64) for array in initial], []
    shapes = [array.shape for array in initial]
    ends = np.cumsum([array.size for array in initial])[:-1]
    losses: list[float] = []

    def unpack(flat: Floats) -> list[Floats]:
        return [part.reshape(shape) for part, shape in zip(np.split(flat, ends), shapes, strict=True)]

    def packed_objective(flat: Floats) -> tuple[float, Floats]:
        loss, gradients = objective(*unpack(flat))
        return float(loss), np.concatenate([gradient.ravel() for gradient in gradients])

    def on_iteration_end(intermediate_result: OptimizeResult) -> None:
        losses.append(float(intermediate_result.fun))
        if verbose:
            print(f"[{name}] iteration {len(losses)}/{max_iter}: loss {losses[-1]:.6g}")

    # A line search evaluates the function several times; only the iterations are to be limited.
    limits = {"maxiter": max_iter, "maxfun": 20 * max_iter + 100, "ftol": tol, "gtol": tol}
    flat = np.concatenate([np.ravel(array) for array in initial])
    result = minimize(
        packed_objective, flat, jac=True, method="L-BFGS-B", callback=on_iteration_end, options=limits
    )
    if result.status != 0:
        warnings.warn(
            f"{name} has not converged after {len(losses)} iterations; raise max_iter or tol.",
            ConvergenceWarning,
            stacklevel=2,
        )
    return unpack(result.x), losses


def cluster_centers(X: Floats, n_clusters: int, rng: np.random.Generator) -> Floats:
    """Return the centers of k-means with the initialization of k-means++.

    Parameters
    ----------
    X : (n_rows, n_features)
    n_clusters : int
    rng : Generator

    Returns
    -------
    centers : (n_centers, n_features)
        n_centers is `n_clusters`, or the number of distinct rows if that is smaller.
    """
    # Rows are drawn with probabilities proportional to the squared distance to the nearest one drawn before.
    chosen = [int(rng.integers(len(X)))]
    distances = np.square(X - X[chosen[0]]).sum(axis=1)
    while len(chosen) < n_clusters and distances.any():
        cumulative = np.cumsum(distances)
        row = int(np.searchsorted(cumulative, rng.random() * cumulative[-1], side="right"))
        chosen.append(min(row, len(X) - 1))
        distances = np.minimum(distances, np.square(X - X[chosen[-1]]).sum(axis=1))
    centers = X[chosen]
    nearest = None
    for _ in range(100):
        previous, nearest = nearest, squared_distances(X, centers).argmin(axis=1)
        if previous is not None and np.array_equal(previous, nearest):
            break
        sizes = np.bincount(nearest, minlength=len(centers))
        order, nonempty = np.argsort(nearest, kind="stable"), np.flatnonzero(sizes)
        starts = (np.cumsum(sizes) - sizes)[nonempty]
        # A cluster without rows keeps its center.
        centers = centers.copy()
        centers[nonempty] = np.add.reduceat(X[order], starts, axis=0) / sizes[nonempty, None]
    return centers


def squared_distances(X: Floats, centers: Floats) -> Floats:
    """Return the squared distances between rows and centers, (n_rows, n_centers).

    They are computed from products, which lose digits if the mean of the rows is far from 0.
    """
    distances = X @ (-2.0 * centers.T)
    distances += np.square(X).sum(axis=1)[:, None]
    distances += np.square(centers).sum(axis=1)
    return np.maximum(distances, 0.0, out=distances)


# Those of a baseline are the ones that it has, and its own.
PARAMETERS: ParameterTable = {
    "n_neighbors": [Integer(1)],
    "weights": [OneOf("uniform", "distance")],
    "n_components": [Integer(1), OneOf(None)],
    "alpha": [STRENGTH],
    "max_iter": [Integer(0)],
    "tol": [Number(0)],
    "random_state": RANDOM_STATE,
    "verbose": VERBOSE,
    "n_jobs": N_JOBS,
}


class Baseline(ModelClassifier):
    """A classifier that learns a metric. Subclasses provide the constructor and `_fit_model`.

    Every one has the parameters `n_jobs` and `verbose`; those that draw random numbers have `random_state`.
    Fitted attributes end in "_": only these are restored when a fit fails.
    """

    _own_parameters: ClassVar[ParameterTable] = {}

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labeled rows.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Finite numbers, with features of one scale, as StandardScaler returns them.
        y : array-like of shape (n_samples,)
            Labels of at least two classes.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; a previous fit is then kept.
        """
        with unchanged_on_failure(self):
            common = {name: PARAMETERS[name] for name in self.get_params() if name in PARAMETERS}
            validate_parameters(self, {**common, **self._own_parameters})
            # A copy: the rows are part of the model, even if X changes later.
            rows, y = validate_data(self, X, y, dtype=np.float64, order="C", copy=True)
            labels = np.asarray(y)
            check_one_type("y", labels)
            check_classification_targets(labels)
            classes, labels = np.unique(labels, return_inverse=True)
            check_two_classes(classes)
            check_training_values(rows, lambda: get_feature_names(self))
            self.classes_ = classes
            self.model_ = self._fit_model(rows, labels)
        return self

    @abstractmethod
    def _fit_model(self, X: Floats, labels: Labels) -> NeighborModel:
        """Learn, set the fitted attributes, and return the model.

        Parameters
        ----------
        X : (n_samples, n_features)
        labels : (n_samples,)
            Class indices.
        """

    def _rng(self) -> np.random.Generator:
        random_state: Any = getattr(self, "random_state", None)
        return np.random.default_rng(check_random_state(random_state).randint(2**31 - 1))

    def _minimize(
        self, objective: Objective, initial: Sequence[Floats], name: str | None = None
    ) -> tuple[list[Floats], list[float]]:
        """Minimize as the parameters say: see `minimize_lbfgs`; None is the name of the class."""
        name = name or type(self).__name__
        options = {"max_iter": self.max_iter, "tol": float(self.tol), "verbose": self.verbose}
        return minimize_lbfgs(objective, initial, name=name, **options)


class NeighborBaseline(Baseline, NeighborClassifier):
    """A baseline in which the k nearest training rows vote.

    Subclasses have the parameters `n_neighbors` and `weights`, and provide `_fit_metric`.
    """

    model_: MappedRows

    def _fit_model(self, X: Floats, labels: Labels) -> MappedRows:
        check_enough_rows(self.n_neighbors, len(X))
        model = self._fit_metric(X, labels)
        power = 1.0 if self.weights == "distance" else 0.0
        model.set_vote(labels, n_classes=len(self.classes_), n_neighbors=self.n_neighbors, power=power)
        return model

    @abstractmethod
    def _fit_metric(self, X: Floats, labels: Labels) -> MappedRows:
        """Learn, set the fitted attributes, and return the training rows with their metrics.

        Parameters
        ----------
        X : (n_samples, n_features)
        labels : (n_samples,)
            Class indices.
        """


class LinearTransform(ClassNamePrefixFeaturesOutMixin, TransformerMixin):
    """A baseline with one linear map, `components_`."""

    def transform(self, X: ArrayLike) -> Floats:
        """Return X Ωᵀ, where the learned metric is Euclidean.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        X_new : ndarray of shape (n_queries, n_components)
        """
        return self._validate_queries(X) @ self.components_.T

    @property
    def _n_features_out(self) -> int:
        return len(self.components_)
