"""What a fitted reject option decides about queries."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.validation import check_is_fitted

from lann._types import Floats, Labels
from lann.explain import Decision
from lann.reject._certainty import NoveltyScale, compute_certainties
from lann.reject._reading import Reader, Reading
from lann.reject._regions import Regions
from lann.reject._rows import labels_with_marker

if TYPE_CHECKING:
    from lann.explain import Explanation


class _Read(NamedTuple):
    """What is decided about queries, (n_queries,) each."""

    predicted: Labels
    certainties: Floats
    novelties: Floats
    groups: Labels
    is_far: NDArray[np.bool_]
    is_ambiguous: NDArray[np.bool_]

    @property
    def decisions(self) -> NDArray[np.str_]:
        """What is decided: (n_queries,)."""
        return np.where(self.is_far, "far", np.where(self.is_ambiguous, "ambiguous", "accepted"))


class DecidesOnRows(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """A fitted classifier with thresholds, which accepts and rejects rows."""

    by: str
    certainty: str
    estimator_: Any
    classes_: NDArray[Any]
    reject_label_: Any
    thresholds_: Floats
    novelty_threshold_: float
    reader_: Reader
    novelty_scale_: NoveltyScale | None
    regions_: Regions | None

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict labels, and reject rows.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        labels : ndarray of shape (n_queries,)
            The class with the largest probability, or `reject_label_` for rejected rows.
        """
        read = self._read(X)
        return labels_with_marker(
            self.classes_[read.predicted], self.reject_label_, read.is_far | read.is_ambiguous
        )

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class, for rejected rows, too.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Those of `estimator_`.
        """
        check_is_fitted(self)
        return np.asarray(self.estimator_.predict_proba(X))

    def decision(self, X: ArrayLike) -> NDArray[np.str_]:
        """Return whether each row is accepted, and why not.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        decisions : ndarray of shape (n_queries,)
            "accepted", "ambiguous" if the certainty is below its threshold, or "far" if the novelty is above
            its own, whatever the certainty.
        """
        return self._read(X).decisions

    def certainties(self, X: ArrayLike) -> Floats:
        """Return how certain each prediction is.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        certainties : ndarray of shape (n_queries,)
            What the parameter `certainty` says. "combined" is from 0 to 1; "novelty" is minus the novelty.
        """
        return self._read(X).certainties

    def novelties(self, X: ArrayLike) -> Floats:
        """Return how many times as far from its nearest rows each row is as held-out rows usually are.

        The largest of three, each on the scale of the first: the distance to the nearest training row as it
        measures, if the classifier has neighbors; that in all features, standardized and decorrelated; and
        how far the most extreme value is outside the range of the training rows. The first two are relative
        to the distances between the training rows around.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        novelties : ndarray of shape (n_queries,)
            NaN if it is not measured: with `novelty_share=0`, unless the certainty is the novelty.
        """
        return self._read(X).novelties

    def reasons(self, X: ArrayLike) -> list[Decision]:
        """Return the decision on each row, and the figures that decided.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        reasons : list of Decision
            For each row its decision, certainty and threshold, novelty and its threshold, and the class or
            the number of the region to which the threshold belongs.
        """
        read = self._read(X)
        decisions = read.decisions.tolist()
        names: Sequence[Any] = self.classes_.tolist() if self.by == "class" else range(len(self.thresholds_))
        return [
            Decision(
                decisions[row],
                float(read.certainties[row]),
                float(self.thresholds_[group]),
                float(read.novelties[row]),
                self.novelty_threshold_ if np.isfinite(read.novelties[row]) else np.nan,
                None if self.by == "global" else names[group],
                self.certainty,
                self.by,
            )
            for row, group in enumerate(read.groups)
        ]

    def explain(self, X: ArrayLike) -> Explanation:
        """Explain predictions, with the decision on each row and why it was rejected.

        Parameters
        ----------
        X : array-like or table of shape (n_queries, n_features)

        Returns
        -------
        explanation : Explanation
            That of `estimator_`, which has to be a classifier of `lann`.

        Raises
        ------
        ValueError
            If the classifier has no explanations, or has changed since the thresholds were learned.
        """
        check_is_fitted(self)
        self.reader_.check_unchanged()
        if not hasattr(self.estimator_, "explain"):
            raise ValueError(
                f"{type(self.estimator_).__name__} has no explanations; `reasons` has the decisions."
            )
        return self.estimator_.explain(X).with_decisions(self.reasons(X))

    def _novelties(self, reading: Reading) -> Floats:
        if reading.novelty is None or self.novelty_scale_ is None:
            return np.full(len(reading.probabilities), np.nan)
        return self.novelty_scale_.novelties(reading.novelty)

    def _read(self, X: Any) -> _Read:
        check_is_fitted(self)
        self.reader_.check_unchanged()
        reading = self.reader_.read(X)
        novelties = self._novelties(reading)
        predicted = reading.probabilities.argmax(axis=1)
        groups = np.zeros(len(predicted), np.int64)
        if self.by == "class":
            groups = predicted
        elif self.regions_ is not None:
            groups = self.regions_.of(self.reader_, X)
        certainties = compute_certainties(reading, novelties, self.certainty)
        is_far = novelties > self.novelty_threshold_
        is_ambiguous = certainties < self.thresholds_[groups]
        return _Read(predicted, certainties, novelties, groups, is_far, is_ambiguous)
