"""What all baselines share: the order of a fit, and the vote of those with neighbors."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from lann._compat import unchanged_on_failure
from lann._inputs import (
    check_enough_rows,
    check_one_type,
    check_two_classes,
    get_feature_names,
    validate_data,
)
from lann._neighbor_classifier import ModelClassifier, NeighborClassifier
from lann._sizes import check_training_values
from lann._types import Floats, Labels
from lann._validation import N_JOBS, VERBOSE, Integer, OneOf, ParameterTable, validate_parameters
from lann.baselines._lbfgs import IterationSettings
from lann.baselines._mapped_rows import MappedRows
from lann.model import NeighborModel

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
