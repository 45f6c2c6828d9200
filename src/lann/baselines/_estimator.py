"""What all baselines share: the order of a fit, labels, and the account of a prediction."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from lann._compat import unchanged_on_failure
from lann._inputs import check_not_too_large, check_two_classes
from lann._types import Floats, Labels
from lann._validation import N_JOBS, VERBOSE, validate


class Baseline(ClassifierMixin, BaseEstimator):
    """A classifier that learns how to measure. Subclasses set the constructor and what is abstract here.

    Every one has the parameters `n_jobs` and `verbose`; those that draw random numbers have `random_state`.
    What a fit learns ends in "_" or is `_model`: only these are taken back when a fit fails.
    """

    classes_: NDArray[Any]

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Learn from labeled points.

        Parameters
        ----------
        X : (n_samples, n_features), numeric, finite; features of one scale, as of StandardScaler
        y : (n_samples,) labels of at least two classes
        """
        with unchanged_on_failure(self):
            validate("verbose", self.verbose, *VERBOSE)
            validate("n_jobs", self.n_jobs, *N_JOBS)
            check_random_state(getattr(self, "random_state", None))
            self._check_parameters()
            # A copy: the points are part of the model, whatever becomes of X.
            points, y = validate_data(self, X, y, dtype=np.float64, order="C", copy=True)
            check_classification_targets(y)
            classes, labels = np.unique(y, return_inverse=True)
            check_two_classes(classes)
            check_not_too_large(points)
            self.classes_ = classes
            self._learn(points, labels)
        return self

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """The label of every query: the class with the largest share in `predict_proba`."""
        shares = self.predict_proba(X)  # first, as it refuses a model that is not fitted
        return self.classes_[shares.argmax(axis=1)]

    @abstractmethod
    def predict_proba(self, X: ArrayLike) -> Floats:
        """Each class's share of the vote: (n_queries, n_classes)."""

    @abstractmethod
    def _check_parameters(self) -> None:
        """Refuse, in one sentence, the first parameter of its own that is not what it should be."""

    @abstractmethod
    def _learn(self, points: Floats, labels: Labels) -> None:
        """Learn, and set the fitted attributes.

        points : (n_samples, n_features); labels : (n_samples,) places in `classes_`
        """

    def _rng(self) -> np.random.Generator:
        return np.random.default_rng(check_random_state(self.random_state).randint(2**31 - 1))

    def _check_queries(self, X: ArrayLike) -> Floats:
        check_is_fitted(self)
        queries: Floats = validate_data(self, X, dtype=np.float64, order="C", reset=False)
        return queries
