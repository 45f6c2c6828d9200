"""What classifiers with self-adjusting memories share: rows in order, classes that appear later, state."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from lann._support.compat import unchanged_on_failure
from lann._support.inputs import check_two_classes
from lann._support.types import Floats, Labels
from lann._support.validation import RANDOM_STATE, Integer, Number, ParameterTable, validate_parameters
from lann.streams._explain_one import (
    DecidingVote,
    Dependence,
    build_explanation,
    plain_dependence,
    plain_vote,
)
from lann.streams._explanation import StreamExplanation
from lann.streams._memory import (
    MAX_DRIFTS,
    N_DRIFTS,
    N_LONG,
    N_SEEN,
    START,
    STOP,
    Limits,
    Memories,
    with_classes,
    with_columns,
)
from lann.streams._rows import (
    as_type_of,
    read_classes,
    read_labeled_rows,
    read_one_row,
    read_rows,
    with_writeable_arrays,
)

SIZES: ParameterTable = {
    "n_neighbors": [Integer(1)],
    "window_size": [Integer(10)],
    "long_term_share": [Number(0.0, 0.9)],
    "min_window_size": [Integer(2)],
    "random_state": RANDOM_STATE,
}


class Drift(NamedTuple):
    """A time at which the short-term memory was made smaller.

    Attributes
    ----------
    row : int
        Position of the row that showed it, from 0, among all rows that were learned.
    size_before, size_after : int
        Number of short-term rows.
    """

    row: int
    size_before: int
    size_after: int


class SelfAdjustingClassifier(ClassifierMixin, BaseEstimator):
    """A classifier with a short-term and a long-term memory. Subclasses provide the passes over rows."""

    _parameters: ClassVar[ParameterTable]
    n_neighbors: int
    window_size: int
    long_term_share: float
    min_window_size: int
    random_state: Any
    classes_: NDArray[Any]
    n_features_in_: int
    limits_: Limits
    memories_: Memories

    @abstractmethod
    def _start(self, n_features: int, seed: int) -> None:
        """Set `memories_`, and whatever else is learned, to those of no row and no class, with `limits_`."""

    @abstractmethod
    def _learn(self, X: Floats, labels: Labels, out: Floats) -> None:
        """Learn rows in order; compute the probabilities of each beforehand, unless `out` has no rows.

        Parameters
        ----------
        X : (n_rows, n_features)
        labels : (n_rows,)
            Class indices.
        out : (n_rows, n_classes) or (0, n_classes)
        """

    @abstractmethod
    def _predict(self, X: Floats, out: Floats) -> None:
        """Compute the probabilities of the classes of rows: (n_rows, n_features), (n_rows, n_classes)."""

    def fit(self, X: ArrayLike, y: ArrayLike) -> Self:
        """Forget all rows and learn these, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, in the order in which they came; NaN is a missing value.
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
            rows, labels = read_labeled_rows(self, X, y, reset=True)
            check_two_classes(np.unique(labels))
            if np.isnan(rows).all():
                raise ValueError("X has no value in any row: all of them are missing.")
            self._restart()
            self._learn_labels(rows, labels, None)
        return self

    def partial_fit(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Self:
        """Learn further rows, in order.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, in the order in which they came; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Labels. New ones are added to `classes_`, which stays sorted: columns of `predict_proba` can move.
        classes : array-like of shape (n_classes,) or None, default=None
            Labels that are known to occur: their probabilities are never 0.

        Returns
        -------
        self : estimator

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; nothing is then learned.
        """
        self._learn_more(X, y, classes, with_probabilities=False)
        return self

    def test_then_train(self, X: ArrayLike, y: ArrayLike, classes: ArrayLike | None = None) -> Floats:
        """Learn further rows, in order, and predict each of them before it is learned.

        The result is that of `predict_proba` and `partial_fit` with one row after the other, to the bit, in
        one pass.

        Parameters
        ----------
        X : array-like of shape (n_samples, n_features)
            Numbers, in the order in which they came; NaN is a missing value.
        y : array-like of shape (n_samples,)
            Labels. New ones are added to `classes_`, which stays sorted.
        classes : array-like of shape (n_classes,) or None, default=None
            Labels that are known to occur.

        Returns
        -------
        probabilities : ndarray of shape (n_samples, n_classes)
            Columns are in the order of `classes_` after the call. A class has the probability 0 before its
            first row, unless it is among `classes`. Before any class is known, all have the same.

        Raises
        ------
        ValueError
            If a parameter or the data are invalid; nothing is then learned.
        """
        return self._learn_more(X, y, classes, with_probabilities=True)

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Predict the class with the largest probability.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        labels : ndarray of shape (n_queries,)
        """
        probabilities = self.predict_proba(X)  # first, as it raises if nothing was learned
        return self.classes_[probabilities.argmax(axis=1)]

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Predict the probability of each class: its share of the deciding vote, never 0.

        Parameters
        ----------
        X : array-like of shape (n_queries, n_features)

        Returns
        -------
        probabilities : ndarray of shape (n_queries, n_classes)
            Columns are in the order of `classes_`.
        """
        check_is_fitted(self)
        rows = read_rows(self, X)
        out = np.empty((len(rows), len(self.classes_)))
        self._predict(rows, out)
        return out

    def explain_one(self, x: ArrayLike) -> StreamExplanation:
        """Explain the prediction for one row by the memories as they are now.

        Parameters
        ----------
        x : array-like of shape (n_features,) or (1, n_features)
            A row, or a table with one row.

        Returns
        -------
        explanation : StreamExplanation
            The rows that voted, their age and memory, and the features in which the classes differ, now and
            before the last drift.

        Raises
        ------
        ValueError
            If x is not one row with the features of the fit.
        """
        check_is_fitted(self)
        row = read_one_row(self, x)
        vote, dependence = self._explained(row)
        return build_explanation(self, row, self._predict_row(row), vote, dependence)

    def _explained(self, x: Floats) -> tuple[DecidingVote, Dependence]:
        """Return the vote that decides about a row, and the features in which classes differ."""
        return plain_vote(self.memories_, self.limits_, x), plain_dependence(self.memories_)

    @property
    def n_seen_(self) -> int:
        """Number of rows that were learned."""
        return int(self.memories_.counters[N_SEEN])

    @property
    def short_term_size_(self) -> int:
        """Number of rows in the short-term memory."""
        return int(self.memories_.counters[STOP] - self.memories_.counters[START])

    @property
    def long_term_size_(self) -> int:
        """Number of rows in the long-term memory."""
        return int(self.memories_.counters[N_LONG])

    @property
    def memory_weights_(self) -> Floats:
        """Accuracy of each vote on the rows of the short-term memory before they were learned."""
        return self.memories_.hit_counts / max(self.short_term_size_, 1)

    @property
    def n_drifts_(self) -> int:
        """Number of times that the short-term memory was made smaller."""
        return int(self.memories_.counters[N_DRIFTS])

    @property
    def drifts_(self) -> list[Drift]:
        """The last times, at most 1000, that the short-term memory was made smaller."""
        total = self.n_drifts_
        numbers = np.arange(max(total - MAX_DRIFTS, 0), total) % MAX_DRIFTS
        return [Drift(*map(int, drift)) for drift in self.memories_.drifts[numbers]]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        for name, value in vars(self).items():
            if isinstance(value, tuple) and hasattr(value, "_fields"):
                setattr(self, name, with_writeable_arrays(value))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    def _restart(self) -> None:
        """Forget all rows and classes; read the sizes of the memories from the parameters."""
        total, k = int(self.window_size), int(self.n_neighbors)
        smallest = max(int(self.min_window_size), k + 1)
        self.limits_ = Limits(k, total, round(self.long_term_share * total), smallest)
        self.classes_ = np.empty(0, np.int64)
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        try:
            self._start(self.n_features_in_, seed)
        except (MemoryError, OverflowError, ValueError):
            raise ValueError(
                f"window_size={total} rows take more memory than there is; lower window_size."
            ) from None

    def _learn_more(self, X: Any, y: Any, classes: Any, *, with_probabilities: bool) -> Floats:
        # One call of a compiled function, which is not interrupted, learns the rows: all of them, or none.
        counters = None if not hasattr(self, "memories_") else self.memories_.counters
        n_before = None if counters is None else counters[N_SEEN]
        with unchanged_on_failure(self, unless=lambda: counters is not None and counters[N_SEEN] != n_before):
            validate_parameters(self, self._parameters)
            is_first = not hasattr(self, "memories_")
            rows, labels = read_labeled_rows(self, X, y, reset=is_first)
            if is_first:
                self._restart()
            return self._learn_labels(rows, labels, classes, with_probabilities=with_probabilities)

    def _learn_labels(
        self, rows: Floats, labels: NDArray[Any], classes: Any, *, with_probabilities: bool = False
    ) -> Floats:
        announced = read_classes([] if classes is None else classes)
        if not len(announced):
            announced = np.unique(labels)[:0]
        labels = as_type_of(announced, labels)
        self._add_classes(np.concatenate([announced, labels]))
        if len(announced):
            self.memories_.known[np.searchsorted(self.classes_, announced)] = 1
        out = np.empty((len(rows) if with_probabilities else 0, len(self.classes_)))
        self._learn(rows, np.searchsorted(self.classes_, labels), out)
        return out

    def _add_classes(self, labels: NDArray[Any]) -> None:
        """Add labels to the classes, which stay sorted."""
        if not len(self.classes_):
            self.classes_ = np.unique(labels)[:0]
        classes = np.union1d(self.classes_, as_type_of(self.classes_, labels))
        if len(classes) > len(self.classes_):
            positions = np.searchsorted(classes, self.classes_)
            self._reorder_classes(positions.astype(np.int64), len(classes))
            self.classes_ = classes

    def _reorder_classes(self, positions: Labels, n_classes: int) -> None:
        """Give every class its new index; subclasses also reorder what else they learn by class."""
        self.memories_ = with_classes(self.memories_, positions, n_classes)

    # For rows that were checked before, one at a time.

    def _predict_row(self, x: Floats) -> Floats:
        """Return the probabilities of one row: (n_features,), (n_classes,)."""
        out = np.empty((1, len(self.classes_)))
        self._predict(x[None], out)
        return out[0]

    def _learn_row(self, x: Floats, label: int) -> None:
        """Learn one row with a class index."""
        self._learn(x[None], np.array([label]), np.empty((0, len(self.classes_))))

    def _add_columns(self, n_columns: int, value: float = np.nan) -> None:
        """Add features at the end, with one value in all stored rows."""
        self.memories_ = with_columns(self.memories_, n_columns, value)
        self.n_features_in_ += n_columns
