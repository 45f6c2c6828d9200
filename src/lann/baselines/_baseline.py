"""What all baselines share."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from lann._base import ModelClassifier, NeighborClassifier
from lann._support.compat import unchanged_on_failure
from lann._support.inputs import check_enough_rows, check_one_type, check_two_classes, get_feature_names
from lann._support.sizes import check_training_values
from lann._support.types import Floats, Indices, Labels
from lann._support.validation import N_JOBS, VERBOSE, Integer, OneOf, ParameterTable, validate_parameters
from lann.baselines._mapped_rows import MappedRows
from lann.baselines._optimization import IterationSettings
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


def nearest_same_class(X: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """Return the k nearest other rows of the same class for each row.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
    k : int
    n_jobs : int or None
        Number of threads.

    Returns
    -------
    indices : (n_rows, min(k, n_rows))
        Nearest first; -1 where the class has fewer rows.
    """
    neighbors = np.full((len(X), min(k, len(X))), -1)
    for label in np.unique(labels):
        members = np.flatnonzero(labels == label)
        n_found = min(k, len(members) - 1)
        if n_found > 0:
            indices, _ = euclidean_search(X[members]).query(
                X[members], n_found, exclude=np.arange(len(members)), n_jobs=n_jobs
            )
            neighbors[members, :n_found] = members[indices]
    return neighbors


def nearest_other_class(X: Floats, labels: Labels, k: int, *, n_jobs: int | None = None) -> Indices:
    """Return the k nearest rows of other classes for each row: see `nearest_same_class`."""
    neighbors = np.full((len(X), min(k, len(X))), -1)
    for label in np.unique(labels):
        members, others = np.flatnonzero(labels == label), np.flatnonzero(labels != label)
        n_found = min(k, len(others))
        indices, _ = euclidean_search(X[others]).query(X[members], n_found, n_jobs=n_jobs)
        neighbors[members, :n_found] = others[indices]
    return neighbors


def euclidean_search(X: Floats) -> ExactSearch:
    """Return a search for the nearest rows under the Euclidean metric."""
    return ExactSearch(DiagonalMetric(X, np.ones(X.shape[1])))


COMMON: ParameterTable = {"verbose": VERBOSE, "n_jobs": N_JOBS}
NEIGHBORS: ParameterTable = {"n_neighbors": [Integer(1)], "weights": [OneOf("uniform", "distance")], **COMMON}


class Baseline(ModelClassifier):
    """A classifier that learns a metric. Subclasses provide the constructor and `_fit_model`.

    Every one has the parameters `n_jobs` and `verbose`; those that draw random numbers have `random_state`.
    Fitted attributes end in "_": only these are restored when a fit fails.
    """

    _parameters: ClassVar[ParameterTable]

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
            validate_parameters(self, self._parameters)
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

    def _iteration_settings(self, name: str | None = None) -> IterationSettings:
        """Return `max_iter`, `tol` and `verbose`; None is the name of the class."""
        return IterationSettings(self.max_iter, float(self.tol), name or type(self).__name__, self.verbose)


class NeighborBaseline(Baseline, NeighborClassifier):
    """A baseline in which the k nearest training rows vote.

    Subclasses have the parameters `n_neighbors` and `weights`, and provide `_fit_metric`.
    """

    model_: MappedRows

    def _fit_model(self, X: Floats, labels: Labels) -> MappedRows:
        check_enough_rows(self.n_neighbors, len(X))
        model = self._fit_metric(X, labels)
        model.set_vote(
            labels,
            n_classes=len(self.classes_),
            n_neighbors=self.n_neighbors,
            power=1.0 if self.weights == "distance" else 0.0,
        )
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
