"""Classifiers for river: rows as dictionaries, one at a time, whose features can come and go.

Needs the package river: ``pip install 'lann[streams]'``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar

import narwhals.stable.v1 as nw
import numpy as np
import pandas as pd
from numpy.typing import NDArray

import lann.classifier
from lann._support.types import Floats
from lann._support.validation import Integer, store_parameters, validate, validate_parameters
from lann.streams._growing_columns import (
    GrowingColumns,
    Values,
    is_missing,
    read_values,
    table_rows,
    with_earlier_values,
)

try:
    from river.base import MiniBatchClassifier
except ImportError as error:
    raise ImportError("lann.streams.river needs the package river: pip install 'lann[streams]'.") from error

if TYPE_CHECKING:
    from lann.streams._explanation import StreamExplanation

__all__ = ["LANNClassifier", "SAMKNNClassifier", "SAMLANNClassifier"]

Row = Mapping[Hashable, Any]
# Plain kNN of LANNClassifier votes before there are this many rows.
FIRST_FIT = 50


class _GrowingClassifier(MiniBatchClassifier):
    """From dictionaries and tables to rows of numbers and class indices; subclasses learn and vote.

    Parameters
    ----------
    max_categories : int
        Number of categories of a feature that have a column of their own.
    """

    def __init__(self, max_categories: int) -> None:
        validate("max_categories", max_categories, Integer(1))
        self.max_categories = max_categories
        self._columns = GrowingColumns(max_categories)
        # The class index of each label, in the order in which labels were seen, and their frequencies.
        self._classes: dict[Any, int] = {}
        self._counts: list[int] = []

    @property
    def _multiclass(self) -> bool:
        return True

    @abstractmethod
    def _learn_row(self, row: Floats, label: int, new: Sequence[int | None]) -> None:
        """Learn a row with a class index; `new` are the columns that are new, as of `with_values`."""

    @abstractmethod
    def _probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class that has been learned, (n_rows, at most n_classes)."""

    def learn_one(self, x: Row, y: Any) -> None:
        """Learn a row.

        Parameters
        ----------
        x : dict
            Numbers, text (a category), or None or NaN for missing values, by the names of features. A feature
            that is new has a missing value in all earlier rows, and one that is not there in this row.
        y : bool, int or str
            The label.

        Raises
        ------
        ValueError
            If a value is infinite, or neither a number nor text, or if there is no label (None, NaN) or one
            that is not hashable; the model is then as it was before.
        """
        self._learn([read_values(x)], [y])

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a table, in their order; the same as `learn_one` for each of them.

        Parameters
        ----------
        X : DataFrame
            Of pandas, polars or pyarrow. A feature can be new, or not be there, in every table. A table
            without rows changes nothing.
        y : Series
            Labels, one for each row; of pandas, with the index of X.

        Raises
        ------
        ValueError
            As in `learn_one`, for any of the rows; the model is then as it was before. Only
            `LANNClassifier`, whose metrics cannot measure a row that is too far from all others, has then
            learned the rows before that one.
        """
        labels = y.to_pylist() if hasattr(y, "to_pylist") else list(y)
        rows = [read_values(x) for x in table_rows(X)]
        if len(labels) != len(rows):
            raise ValueError(f"There are {len(rows)} rows and {len(labels)} labels.")
        if hasattr(X, "iloc") and hasattr(y, "iloc") and not X.index.equals(y.index):
            raise ValueError(
                "X and y have different indexes: give y in the order of X, as y.loc[X.index] does."
            )
        self._learn(rows, labels)

    def predict_proba_one(self, x: Row, **_: Any) -> dict[Any, float]:
        """Predict the probability of each label.

        Parameters
        ----------
        x : dict
            As in `learn_one`; features that have not been learned are ignored.
        **_ : dict
            Not used.

        Returns
        -------
        probabilities : dict
            For every label that has been learned. A row without any known value has the frequencies of the
            labels.
        """
        row = self._columns.row(read_values(x))
        return dict(zip(self._classes, self._predict(row[None])[0].tolist(), strict=True))

    def predict_many(self, X: Any) -> Any:
        """Predict the labels of the rows of a table.

        Parameters
        ----------
        X : DataFrame
            Of pandas, polars or pyarrow.

        Returns
        -------
        labels : Series
            Of the same package, with the index of X; None if nothing has been learned.
        """
        labels, probabilities = list(self._classes), self._predict_table(X)
        predicted = [None] * len(probabilities)
        if labels:
            predicted = [labels[index] for index in probabilities.argmax(axis=1)]
        if hasattr(X, "iloc"):
            return pd.Series(predicted, index=X.index, dtype=None if labels else object)
        backend = nw.from_native(X, eager_only=True).implementation
        return nw.new_series("label", predicted, backend=backend).to_native()

    def predict_proba_many(self, X: Any) -> Any:
        """Predict the probability of each label for the rows of a table.

        Parameters
        ----------
        X : DataFrame
            Of pandas, polars or pyarrow.

        Returns
        -------
        probabilities : DataFrame
            Of the same package, with a column for each label and the index of X; no column if nothing has
            been learned. Labels are text in packages in which names of columns have to be text.
        """
        probabilities = self._predict_table(X)
        if hasattr(X, "iloc"):
            # As objects, so that labels of several types stay what they are.
            labels = pd.Index(list(self._classes), dtype=object)
            return pd.DataFrame(probabilities, index=X.index, columns=labels)
        columns = {str(label): probabilities[:, n] for label, n in self._classes.items()}
        backend = nw.from_native(X, eager_only=True).implementation
        return nw.from_dict(columns, backend=backend).to_native()

    def _learn(self, rows: Sequence[Values], labels: Sequence[Any]) -> None:
        """Learn rows and labels; a row without any value counts for the frequencies of the labels only."""
        for label in labels:
            if is_missing(label):
                raise ValueError(f"A row has no label, but {label}; leave out rows whose label is missing.")
            if not isinstance(label, Hashable):
                raise ValueError(f"A label is of type {type(label).__name__}; give numbers or text.")
        for values, label in zip(rows, labels, strict=True):
            columns, new = self._columns.with_values(values)
            index = self._classes.get(label, len(self._classes))
            if values:
                self._learn_row(columns.row(values), index, new)
            # Last: a row that cannot be learned changes nothing.
            self._columns, self._classes[label] = columns, index
            self._counts += [0] * (len(self._classes) - len(self._counts))
            self._counts[index] += 1

    def _predict_table(self, table: Any) -> Floats:
        rows = [self._columns.row(read_values(x)) for x in table_rows(table)]
        return self._predict(np.array(rows).reshape(len(rows), len(self._columns.names)))

    def _predict(self, X: Floats) -> Floats:
        """Return the probability of each label, (n_rows, n_labels)."""
        known = self._can_measure(X)
        voted = self._probabilities(X[known]) if known.any() else X[:0, :0]
        n_voted = voted.shape[1]
        if known.all() and n_voted == len(self._counts):
            return voted
        frequencies = np.array(self._counts) / max(sum(self._counts), 1)
        predicted = np.tile(frequencies, (len(X), 1))
        # Labels of which no row has a value have their frequency, as the vote knows nothing of them.
        predicted[known, :n_voted] = voted * (1.0 - frequencies[n_voted:].sum())
        return predicted

    def _can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        """Return which rows have a value that can be measured, (n_rows,)."""
        return np.asarray(~np.isnan(rows).all(axis=1))


class _MemoryClassifier(_GrowingClassifier):
    """What the classifiers with self-adjusting memories have in common."""

    # The name of the classifier in scikit-learn's form.
    _estimator_name: ClassVar[str]

    def __init__(
        self,
        n_neighbors: int = 5,
        window_size: int = 5000,
        long_term_share: float = 0.4,
        min_window_size: int = 50,
        max_categories: int = 50,
        seed: int | None = None,
    ) -> None:
        super().__init__(max_categories)
        store_parameters(self, locals())
        self._estimator = getattr(lann.streams, self._estimator_name)(
            n_neighbors,
            window_size=window_size,
            long_term_share=long_term_share,
            min_window_size=min_window_size,
            random_state=seed,
        )
        validate_parameters(self._estimator, self._estimator._parameters)

    def explain_one(self, x: Row) -> StreamExplanation:
        """Explain the prediction for one row by the memories as they are now.

        Parameters
        ----------
        x : dict
            As in `learn_one`; features that have not been learned are ignored.

        Returns
        -------
        explanation : StreamExplanation
            The rows that voted, their age and memory, and the features in which the classes differ, now and
            before the last memory reset. A category is a feature of its own, such as ``color=red``.

        Raises
        ------
        ValueError
            If no row with a value has been learned.
        """
        if not self._is_started:
            raise ValueError("Nothing has been learned that could explain a prediction.")
        labels = np.empty(len(self._classes), object)
        labels[:] = list(self._classes)
        explanation = self._estimator.explain_one(self._columns.row(read_values(x))[None])
        return replace(
            explanation,
            prediction=labels[explanation.prediction],
            classes=labels[explanation.classes],
            neighbor_labels=labels[explanation.neighbor_labels],
            feature_names=np.array(self._columns.names, object),
        )

    def debug_one(self, x: Row) -> str:
        """Return the explanation of a prediction as text; `debug_one` of pipelines shows it.

        Parameters
        ----------
        x : dict

        Returns
        -------
        text : str
        """
        return str(self.explain_one(x)) if self._is_started else "Nothing has been learned."

    @property
    def _is_started(self) -> bool:
        return hasattr(self._estimator, "memories_")

    def _learn_row(self, row: Floats, label: int, new: Sequence[int | None]) -> None:
        estimator, labels = self._estimator, np.array([label])
        if not self._is_started:
            estimator.partial_fit(row[None], labels, classes=np.arange(label + 1))
            return
        for category_of in new:
            estimator._add_feature(category_of)
        if label >= len(estimator.classes_):
            estimator._add_classes(np.arange(label + 1))
            # A class between may have rows without values only.
            estimator.memories_.known[:label] = 1
        estimator._learn(row[None], labels)

    def _probabilities(self, rows: Floats) -> Floats:
        return self._estimator._predict(rows)


class SAMKNNClassifier(_MemoryClassifier):
    """Nearest neighbors with self-adjusting memories, for river.

    Distances are measured in the units of the features: scale these beforehand if they differ, for instance
    by ``preprocessing.StandardScaler() | SAMKNNClassifier()``. A category of a feature with text is a column
    of its own; two rows of different categories are as far apart as the numbers 0 and 1. A missing value is
    skipped: a distance is that over the features that both rows have, scaled up to all features.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors that vote, weighted by 1/distance.
    window_size : int, default=5000
        Largest number of rows in both memories.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Of the compression.

    See Also
    --------
    lann.streams.SAMKNN : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics, preprocessing
    >>> from lann.streams.river import SAMKNNClassifier
    >>> model = preprocessing.StandardScaler() | SAMKNNClassifier(seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.85
    True
    """

    _estimator_name = "SAMKNN"


class SAMLANNClassifier(_MemoryClassifier):
    """Nearest neighbors with self-adjusting memories and a learned metric, for river.

    Features need not be scaled: they are standardized by running means and variances inside. A category of a
    feature with text is a column of its own.

    Parameters
    ----------
    n_neighbors : int, default=5
        Number of neighbors of the plain vote, and for the sizes of the memories.
    window_size : int, default=5000
        Largest number of rows in both memories.
    long_term_share : float, default=0.4
        Share of `window_size` beyond which the long-term memory is compressed, once both memories are full.
    min_window_size : int, default=50
        Smallest size of the short-term memory that is considered.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Of the compression.

    See Also
    --------
    lann.streams.SAMLANN : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from lann.streams.river import SAMLANNClassifier
    >>> model = SAMLANNClassifier(seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing(), model, metrics.Accuracy()).get() > 0.85
    True
    """

    _estimator_name = "SAMLANN"


class LANNClassifier(_GrowingClassifier):
    """Locally adaptive nearest neighbors over the newest rows, for river.

    Every new row is added by `partial_fit` of `lann.LANNClassifier`, which adapts the metrics of its
    neighbors. All metrics are learned again from the rows that are kept when their number has doubled since
    the last time, at the latest after `refit_every` rows, and at once when a label or a feature is new. Plain
    kNN votes before there are 50 rows.

    A category of a feature with text is a column of its own. There is no need to scale numbers.

    Parameters
    ----------
    max_points : int, default=1000
        Number of the newest rows that are kept.
    refit_every : int, default=1000
        Largest number of rows after which all metrics are learned again.
    max_categories : int, default=50
        Number of categories of a feature that have a column of their own; all others share one.
    seed : int or None, default=None
        Determines the order of the rows in training, and dropout.
    **parameters : dict
        Further parameters of `lann.LANNClassifier`, such as ``n_neighbors=5``.

    See Also
    --------
    lann.LANNClassifier : The classifier in scikit-learn's form.

    Examples
    --------
    >>> from river import datasets, evaluate, metrics
    >>> from lann.streams.river import LANNClassifier
    >>> model = LANNClassifier(max_points=200, max_iter=2, seed=0)
    >>> evaluate.progressive_val_score(datasets.Phishing().take(300), model, metrics.Accuracy()).get() > 0.8
    True
    """

    def __init__(
        self,
        max_points: int = 1000,
        refit_every: int = 1000,
        max_categories: int = 50,
        seed: int | None = None,
        **parameters: Any,
    ) -> None:
        super().__init__(max_categories)
        validate("max_points", max_points, Integer(10))
        validate("refit_every", refit_every, Integer(1))
        self.max_points = max_points
        self.refit_every = refit_every
        self.seed = seed
        self.parameters = parameters
        for name in ("forget_policy", "random_state"):
            if name in parameters:
                raise ValueError(f"{name} cannot be given: the newest rows are kept, and seed is the seed.")
        clf = lann.classifier.LANNClassifier(**self._parameters)
        validate_parameters(clf, clf._parameters)
        self._rows: list[Floats] = []
        self._labels: list[int] = []
        self._n_classes = 0
        # The classifier over the rows, and the columns in which these have values.
        self._clf: lann.classifier.LANNClassifier | None = None
        self._used: NDArray[np.bool_] = np.empty(0, np.bool_)
        # How many rows follow until all metrics are learned again.
        self._n_left = FIRST_FIT

    @property
    def _parameters(self) -> dict[str, Any]:
        return {**self.parameters, "max_points": self.max_points, "random_state": self.seed}

    def _learn_row(self, row: Floats, label: int, new: Sequence[int | None]) -> None:
        earlier: Sequence[Floats] = self._rows
        if new and earlier:
            earlier = list(with_earlier_values(np.array(earlier), new))
        rows = [*earlier, row][-self.max_points :]
        labels = [*self._labels, label][-self.max_points :]
        n_classes, n_left = max(self._n_classes, label + 1), self._n_left - 1
        is_due = n_left <= 0 or bool(new) or n_classes > self._n_classes
        clf, used = self._clf, self._used
        if len(rows) < FIRST_FIT:
            clf = None
        elif clf is None or is_due or not np.isnan(row[~used]).all():
            n_left = min(len(rows), self.refit_every)
            clf, used = _fitted(rows, labels, n_classes, self._parameters)
        else:
            clf.partial_fit(row[None, used], [label])
        # Last: a row that cannot be learned changes nothing.
        self._rows, self._labels, self._n_classes = rows, labels, n_classes
        self._n_left, self._clf, self._used = n_left, clf, used

    def _probabilities(self, rows: Floats) -> Floats:
        return self._classifier().predict_proba(rows[:, self._used])

    def _can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        if not self._rows:
            return np.zeros(len(rows), np.bool_)
        self._classifier()
        return super()._can_measure(rows[:, self._used])

    def _classifier(self) -> lann.classifier.LANNClassifier:
        if self._clf is None:
            parameters = {**self._parameters, "max_iter": 0}
            self._clf, self._used = _fitted(self._rows, self._labels, self._n_classes, parameters)
        return self._clf


def _fitted(
    rows: Sequence[Floats], labels: Sequence[int], n_classes: int, parameters: Mapping[str, Any]
) -> tuple[lann.classifier.LANNClassifier, NDArray[np.bool_]]:
    """Return a classifier that is fitted to rows, and the columns in which they have values."""
    X = np.array(rows)
    used = np.asarray(~np.isnan(X).all(axis=0))
    clf = lann.classifier.LANNClassifier(**parameters)
    return clf.partial_fit(X[:, used], labels, classes=np.arange(n_classes)), used
