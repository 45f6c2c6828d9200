"""SAM-kNN and SAM-LANN: nearest neighbors with self-adjusting memories, for streams that drift."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets, unique_labels
from sklearn.utils.validation import check_is_fitted, validate_data

from lann import _native
from lann._support.compat import unchanged_on_failure
from lann._support.doc_links import DocumentedEstimator
from lann._support.inputs import another_type, check_one_type, check_two_classes, get_feature_names
from lann._support.sizes import check_values
from lann._support.types import Floats, Labels
from lann._support.validation import (
    RANDOM_STATE,
    Integer,
    Number,
    ParameterTable,
    store_parameters,
    validate_parameters,
)
from lann.columns.inputs import as_fitted
from lann.streams import _memory
from lann.streams._alarms import Alarm, DriftDetector
from lann.streams._explanation import StreamExplanation, explain
from lann.streams._memory import Limits


class MemoryReset(NamedTuple):
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


class SAMKNN(DocumentedEstimator, ClassifierMixin, BaseEstimator):
    """Nearest neighbors with self-adjusting memories, for streams of rows whose distribution changes.

    The short-term memory has the newest rows. After every row its size is chosen among n, n/2, n/4, …: that
    at which rows are best predicted by those before them. Rows that it drops go to the long-term memory,
    which keeps what the short-term memory does not contradict and is compressed when it is full. The
    neighbors in the short-term memory, in the long-term memory, or in both vote: those whose votes were right
    most often of late.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote, weighted by 1/distance.
    window_size : int, default=5000
        Largest number of rows in both memories.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered; at least `n_neighbors` + 1 is used. With
        more than `window_size`, the memory is never made smaller.
    random_state : int, RandomState instance or None, default=None
        Seed of the compression. Pass an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    n_seen_ : int
        Number of rows that were learned.
    short_term_size_, long_term_size_ : int
        Number of rows in each memory.
    memory_weights_ : ndarray of shape (3,)
        Recent accuracy of the votes of the short-term memory, of the long-term memory and of both.
    alarms_ : list of Alarm
        The last times, at most 1000, at which predictions were found to be wrong more often than before.
    n_alarms_ : int
        Number of alarms: at most one per 50 000 rows on the mean while errors do not become more frequent.
    detector_ : DriftDetector
        The test that raises the alarms.
    resets_ : list of MemoryReset
        The last times, at most 1000, that the short-term memory was made smaller; chance can be the reason.
    n_resets_ : int
        Number of times that the short-term memory was made smaller.
    limits_ : Limits
        The sizes that the parameters had when the first row was learned; other values have an effect after
        `fit` only.
    memories_ : SimpleNamespace
        Both memories, in arrays.

    See Also
    --------
    lann.LANNClassifier : Learned metrics, for data that do not drift.

    Notes
    -----
    Distances are Euclidean in the units of X, as published. Missing values (NaN) are skipped: a distance is
    that over the features that both rows have, scaled up to all features. Of rows at the same distance, the
    older is nearer, and those in the short-term memory are nearer than those in the long-term memory.
    Distances below 1e-9 of the farthest neighbor's count as that much. The probability of a class is (share
    of the vote + 0.02/n_classes) / 1.02, as elsewhere in this package. Time per row and memory are bounded.

    References
    ----------
    V. Losing, B. Hammer, H. Wersing: KNN Classifier with Self Adjusting Memory for Heterogeneous Concept
    Drift. IEEE International Conference on Data Mining (ICDM), 2016.

    V. Losing, B. Hammer, H. Wersing: Tackling heterogeneous concept drift with the Self-Adjusting Memory
    (SAM). Knowledge and Information Systems 54, 2018.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.streams import SAMKNN
    >>> X = np.random.default_rng(0).uniform(size=(2000, 2))
    >>> y = X[:, 0] > 0.5
    >>> y[1000:] = ~y[1000:]  # a drift
    >>> clf = SAMKNN(random_state=0)
    >>> probabilities = clf.test_then_train(X, y)
    >>> bool((probabilities.argmax(axis=1) == y).mean() > 0.9)
    True
    >>> [1000 < alarm.row < 1100 for alarm in clf.alarms_]
    [True]
    """

    _parameters: ClassVar[ParameterTable] = {
        "n_neighbors": [Integer(1)],
        "window_size": [Integer(10)],
        "long_term_share": [Number(0.0, 0.9)],
        "min_window_size": [Integer(2)],
        "random_state": RANDOM_STATE,
    }
    # Groups of extras of the stored rows.
    _n_groups: ClassVar[int] = 0

    def __init__(
        self,
        n_neighbors: int = 5,
        *,
        window_size: int = 5000,
        long_term_share: float = 0.4,
        min_window_size: int = 50,
        random_state: Any = None,
    ) -> None:
        store_parameters(self, locals())

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
        self._learn_more(X, y, None, restart=True)
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
        self._learn_more(X, y, classes)
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
        return self._predict(self._read(X, reset=False))

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
            before the last reset.

        Raises
        ------
        ValueError
            If x is not one row with the features of the fit.
        """
        check_is_fitted(self)
        rows = self._read(self._as_table(x), reset=False)
        if len(rows) != 1:
            raise ValueError(f"explain_one explains one row; got {len(rows)} rows.")
        return explain(self, rows[0], self._predict(rows)[0])

    @property
    def n_seen_(self) -> int:
        """Number of rows that were learned."""
        return int(self.memories_.counters[_memory.N_SEEN])

    @property
    def short_term_size_(self) -> int:
        """Number of rows in the short-term memory."""
        return int(self.memories_.counters[_memory.STOP] - self.memories_.counters[_memory.START])

    @property
    def long_term_size_(self) -> int:
        """Number of rows in the long-term memory."""
        return int(self.memories_.counters[_memory.N_LONG])

    @property
    def memory_weights_(self) -> Floats:
        """Accuracy of each vote on the rows of the short-term memory before they were learned."""
        return self.memories_.hit_counts / max(self.short_term_size_, 1)

    @property
    def n_alarms_(self) -> int:
        """Number of alarms."""
        return self.detector_.n_alarms

    @property
    def alarms_(self) -> list[Alarm]:
        """The last times, at most 1000, at which predictions were found to be wrong more often."""
        return self.detector_.alarms

    @property
    def n_resets_(self) -> int:
        """Number of times that the short-term memory was made smaller."""
        return int(self.memories_.counters[_memory.N_RESETS])

    @property
    def resets_(self) -> list[MemoryReset]:
        """The last times, at most 1000, that the short-term memory was made smaller."""
        total = self.n_resets_
        numbers = np.arange(max(total - _memory.MAX_RESETS, 0), total) % _memory.MAX_RESETS
        return [MemoryReset(*map(int, reset)) for reset in self.memories_.resets[numbers]]

    def __setstate__(self, state: dict[str, Any]) -> None:
        super().__setstate__(state)
        # Arrays of a mapped file cannot be written to.
        for arrays in (vars(self).get("memories_"), vars(self).get("metric_")):
            for name, values in vars(arrays or SimpleNamespace()).items():
                setattr(arrays, name, np.require(np.asarray(values), requirements="W"))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = True
        return tags

    @property
    def _stream(self) -> Any:
        return _native.Stream(self.limits_, self.memories_, getattr(self, "metric_", None))

    def _predict(self, rows: Floats) -> Floats:
        """Return the probabilities of the classes, (n_rows, n_classes)."""
        out = np.empty((len(rows), len(self.classes_)))
        self._stream.predict(rows, out)
        return out

    def _learn(self, rows: Floats, labels: Labels, *, with_probabilities: bool = False) -> Floats:
        """Learn rows with class indices in order; return the probabilities of each beforehand, if wanted."""
        out = np.empty((len(rows) if with_probabilities else 0, len(self.classes_)))
        errors = np.empty(len(rows), np.bool_)
        self._stream.learn(rows, labels, out, errors.view(np.uint8))
        self.detector_.update(errors)
        return out

    def _learn_more(
        self, X: Any, y: Any, classes: Any, *, restart: bool = False, with_probabilities: bool = False
    ) -> Floats:
        with unchanged_on_failure(self):
            validate_parameters(self, self._parameters)
            is_first = restart or not hasattr(self, "memories_")
            rows, labels = self._read(X, y, reset=is_first)
            check_one_type("y", labels)
            check_classification_targets(labels)
            has_classes = classes is not None and len(classes)
            announced = unique_labels(classes) if has_classes else labels[:0]
            labels = _in_type_of(announced, labels)
            if restart:
                check_two_classes(np.unique(labels))
                if np.isnan(rows).all():
                    raise ValueError("X has no value in any row: all of them are missing.")
            if is_first:
                self._start(labels[:0])
            self._add_classes(np.concatenate([announced, labels]))
        self.memories_.known[np.searchsorted(self.classes_, announced)] = 1
        found = np.searchsorted(self.classes_, labels)
        return self._learn(rows, found, with_probabilities=with_probabilities)

    def _start(self, classes: NDArray[Any]) -> None:
        """Forget all rows; read the sizes of the memories from the parameters."""
        total, k = int(self.window_size), int(self.n_neighbors)
        smallest = max(int(self.min_window_size), k + 1)
        self.limits_ = Limits(k, total, round(self.long_term_share * total), smallest)
        self.classes_, self.detector_ = classes, DriftDetector()
        for name in {"memories_", "metric_"} & vars(self).keys():
            delattr(self, name)
        self._resize()
        self.memories_.counters[_memory.SEED] = check_random_state(self.random_state).randint(2**31 - 1)

    def _resize(self, positions: Labels | None = None) -> None:
        """Give the arrays the present numbers of features and classes; classes get new class indices."""
        sizes = _memory.sizes_of(self.limits_, self.n_features_in_, len(self.classes_), self._n_groups)
        for name, declared in (("memories_", _memory.MEMORIES), ("metric_", _memory.METRIC)):
            if name == "memories_" or self._n_groups:
                present = getattr(self, name, None)
                setattr(self, name, _memory.with_sizes(declared, sizes, present, positions))

    def _add_classes(self, labels: NDArray[Any]) -> None:
        """Add labels to the classes, which stay sorted."""
        before = self.classes_
        classes = np.union1d(before, _in_type_of(before, labels))
        if len(classes) > len(before):
            self.classes_ = classes
            self._resize(np.searchsorted(classes, before))

    def _add_feature(self, category_of: int | None = None) -> None:
        """Add a feature at the end, before further rows are learned.

        `category_of` is a feature that is another category of the same column: rows with a value there are 0
        in the new one. None if all rows miss the new feature.
        """
        self.n_features_in_ += 1
        self._resize()
        for X in (self.memories_.short_X, self.memories_.long_X, self.memories_.before_X):
            X[-1] = np.nan if category_of is None else X[category_of] * 0.0
            self.memories_.counters[_memory.HAS_GAPS] |= np.isnan(X[-1]).any()
        if self._n_groups:
            self.metric_.schedule[_memory.NEXT_REFRESH] = 0

    def _read(self, X: Any, *y: Any, reset: bool) -> Any:
        """Return rows as numbers, with labels if there are any; `reset` sets the features."""
        found = validate_data(
            self, X, *y, dtype=np.float64, order="C", ensure_all_finite="allow-nan", reset=reset
        )
        check_values(found[0] if y else found, lambda: get_feature_names(self))
        return found

    def _as_table(self, x: Any) -> Any:
        """Return a single row as a table, with the names that it has or with those of the fit."""
        if np.ndim(x) != 1:
            return x
        if hasattr(x, "to_frame"):
            return x.to_frame().T
        row = np.asarray(x)[None]
        return as_fitted(self, row) if row.shape[1] == self.n_features_in_ else row


def _in_type_of(classes: NDArray[Any], labels: NDArray[Any]) -> NDArray[Any]:
    """Return labels such that they do not change the type of the classes; raise ValueError if they would."""
    is_text = [values.dtype.kind in "OUS" for values in (classes, labels)]
    if not len(classes) or is_text == [True, True]:
        return labels
    if is_text[0] != is_text[1]:
        raise another_type(labels.tolist()[0], classes)
    if np.result_type(classes, labels).kind == classes.dtype.kind:
        return labels
    with np.errstate(invalid="ignore"):
        converted = labels.astype(classes.dtype)
    changed = converted != labels
    if changed.any():
        raise another_type(labels[changed].tolist()[0], classes)
    return converted


class SAMLANN(SAMKNN):
    """Nearest neighbors with self-adjusting memories and a learned metric, for streams of rows.

    The memories are those of `SAMKNN`; besides, the newest `window_size` rows are kept. Next to the vote of
    `SAMKNN`, the neighbors in both memories and among the newest rows vote under a metric that is learned
    from every row, by the gradient of its loss: a curve for each feature, weights of the features for each
    class and for each stored row, and a weight for the age of the stored rows. Values are standardized by
    running means and variances. The probabilities are to one half those of the vote with the best recent
    accuracy, and to the other those of all votes, weighted by their recent log-loss. Where `SAMKNN` was
    clearly more accurate of late, its vote decides.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors of the vote of `SAMKNN`, and for the sizes of the memories. The votes under the
        learned metric have 5, 20 and 50 neighbors.
    window_size : int, default=5000
        Largest number of rows in both memories, and number of the newest rows that are kept.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered; at least `n_neighbors` + 1 is used. With
        more than `window_size`, the memory is never made smaller.
    random_state : int, RandomState instance or None, default=None
        Seed of the compression. Pass an int for reproducible results.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        Labels so far, sorted.
    n_features_in_ : int
    feature_names_in_ : ndarray of shape (n_features,)
        If X has column names.
    n_seen_ : int
        Number of rows that were learned.
    short_term_size_, long_term_size_ : int
        Number of rows in each memory.
    memory_weights_ : ndarray of shape (3,)
        Recent accuracy of the plain votes of the short-term memory, of the long-term memory and of both.
    alarms_ : list of Alarm
        The last times, at most 1000, at which predictions were found to be wrong more often than before.
    n_alarms_ : int
        Number of alarms: at most one per 50 000 rows on the mean while errors do not become more frequent.
    detector_ : DriftDetector
        The test that raises the alarms.
    resets_ : list of MemoryReset
        The last times, at most 1000, that the short-term memory was made smaller; chance can be the reason.
    n_resets_ : int
        Number of times that the short-term memory was made smaller.
    limits_ : Limits
        The sizes that the parameters had when the first row was learned; other values have an effect after
        `fit` only.
    memories_ : SimpleNamespace
        Both memories, in arrays.
    metric_ : SimpleNamespace
        The learned metric, and the recent record of the votes, in arrays.

    See Also
    --------
    SAMKNN : The memories with plain distances.

    Notes
    -----
    What is learned from a row takes effect within ten rows. A row that leaves the short-term memory takes its
    weights along; compression averages their logarithms. Missing values (NaN) are skipped as in `SAMKNN`.
    Time per row and memory are bounded.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.streams import SAMLANN
    >>> X = np.random.default_rng(0).uniform(size=(2000, 5)) * [1, 1, 10, 10, 10]
    >>> y = X[:, 0] > X[:, 1]
    >>> y[1000:] = ~y[1000:]  # a drift
    >>> clf = SAMLANN(random_state=0)
    >>> probabilities = clf.test_then_train(X, y)
    >>> bool((probabilities.argmax(axis=1) == y).mean() > 0.85)
    True
    >>> [1000 < alarm.row < 1100 for alarm in clf.alarms_]
    [True]
    """

    _n_groups = _memory.N_GROUPS
