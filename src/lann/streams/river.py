"""Classifiers for river: rows as dictionaries, one at a time, whose features can come and go.

Needs the package river: ``pip install 'lann[streams]'``.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats
from lann._validation import Integer, validate
from lann.streams._feature_columns import FeatureColumns, NewColumn
from lann.streams._refitted_lann import RefittedLANN

try:
    from river.base import MiniBatchClassifier
except ImportError as error:
    raise ImportError("lann.streams.river needs the package river: pip install 'lann[streams]'.") from error

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["LANNClassifier"]

Row = Mapping[Hashable, Any]


class _DictClassifier(MiniBatchClassifier):
    """What the classifiers have in common: from dictionaries and tables to rows of numbers, and labels.

    Parameters
    ----------
    max_categories : int
        Number of categories of a feature that have a column of their own.
    """

    def __init__(self, max_categories: int) -> None:
        validate("max_categories", max_categories, Integer(1))
        self.max_categories = max_categories
        self._columns = FeatureColumns(max_categories)
        # The class index of each label, in the order in which labels were seen, and their frequencies.
        self._classes: dict[Any, int] = {}
        self._counts: list[int] = []

    @property
    def _multiclass(self) -> bool:
        return True

    @abstractmethod
    def _learn(self, rows: Floats, classes: Sequence[int], new: Sequence[NewColumn]) -> None:
        """Learn some rows; columns can be new with the first of them."""

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
            If a value is infinite, or neither a number nor text; nothing is learned then.
        """
        row, new = self._columns.learn(x)
        self._learn_rows(row[None], [y], new)

    def learn_many(self, X: Any, y: Any) -> None:
        """Learn the rows of a table, in their order; the same as `learn_one` for each of them.

        Parameters
        ----------
        X : DataFrame
            A feature can be new, or not be there, in every table.
        y : Series
            Labels.

        Raises
        ------
        ValueError
            If a value is infinite, or neither a number nor text.
        """
        labels = list(y)
        names, values = _read(X)
        if len(labels) != len(values):
            raise ValueError(f"There are {len(values)} rows and {len(labels)} labels.")
        if values.dtype == object:
            for x, label in zip(_dicts(names, values), labels, strict=True):
                self.learn_one(x, label)
            return
        # Columns are added with the row that has the first value.
        starts = sorted({0, *self._columns.first_values(names, values)})
        for start, stop in zip(starts, [*starts[1:], len(values)], strict=True):
            if start < stop:
                part = values[start:stop]
                new = self._columns.learn_numbers(names, part)
                self._learn_rows(self._columns.numbers(names, part), labels[start:stop], new)

    def predict_one(self, x: Row, **_: Any) -> Any:
        """Predict the label of a row.

        Parameters
        ----------
        x : dict
            As in `learn_one`; features that have not been learned are ignored.
        **_ : dict
            Not used.

        Returns
        -------
        label : bool, int, str or None
            None if nothing has been learned.
        """
        if not self._classes:
            return None
        return list(self._classes)[int(self._predict(self._columns.row(x)[None])[0].argmax())]

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
        if not self._classes:
            return {}
        return dict(zip(self._classes, self._predict(self._columns.row(x)[None])[0].tolist(), strict=True))

    def predict_many(self, X: Any) -> pd.Series:
        """Predict the labels of the rows of a table.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        labels : Series
            With the index of X; None if nothing has been learned.
        """
        import pandas as pd

        rows, index = self._read_queries(X)
        if not self._classes:
            return pd.Series([None] * len(rows), index=index, dtype=object)
        labels = list(self._classes)
        return pd.Series([labels[best] for best in self._predict(rows).argmax(axis=1)], index=index)

    def predict_proba_many(self, X: Any) -> pd.DataFrame:
        """Predict the probability of each label for the rows of a table.

        Parameters
        ----------
        X : DataFrame

        Returns
        -------
        probabilities : DataFrame
            A column for each label, and the index of X; no column if nothing has been learned.
        """
        import pandas as pd

        rows, index = self._read_queries(X)
        probabilities = self._predict(rows) if self._classes else np.empty((len(rows), 0))
        # One by one, so that labels of several types stay what they are.
        return pd.DataFrame(probabilities, index=index, columns=pd.Index(list(self._classes), dtype=object))

    def _read_queries(self, X: Any) -> tuple[Floats, Any]:
        """Return the rows of a table, and its index if it is one of pandas."""
        names, values = _read(X)
        index = X.index if hasattr(X, "iloc") else None
        if values.dtype == object:
            rows = [self._columns.row(x) for x in _dicts(names, values)]
            return np.array(rows).reshape(len(rows), self._columns.n_columns), index
        return self._columns.numbers(names, values), index

    def _learn_rows(self, rows: Floats, labels: Sequence[Any], new: Sequence[NewColumn]) -> None:
        """Learn rows and labels; a row without any value counts for the frequencies of the labels only."""
        classes = []
        for label in labels:
            index = self._classes.setdefault(label, len(self._classes))
            if index == len(self._counts):
                self._counts.append(0)
            self._counts[index] += 1
            classes.append(index)
        if rows.shape[1] == 0:
            return
        known = ~np.isnan(rows[:, 0])
        if not known.all():
            known = np.asarray(~np.isnan(rows).all(axis=1))
            rows, classes = rows[known], [c for c, is_known in zip(classes, known, strict=True) if is_known]
        if len(rows):
            self._learn(rows, classes, new)

    def _predict(self, rows: Floats) -> Floats:
        """Return the probability of each label, (n_rows, n_labels)."""
        counts = np.array(self._counts, np.float64)
        found = np.tile(counts / counts.sum(), (len(rows), 1))
        known = self._can_measure(rows)
        if known.any():
            voted = self._probabilities(rows if known.all() else rows[known])
            # Labels of which no row has a value have their frequency, as the vote knows nothing of them.
            n_voted = voted.shape[1]
            found[known, :n_voted] = voted * (1.0 - found[0, n_voted:].sum())
        return found

    def _can_measure(self, rows: Floats) -> Any:
        """Return which rows have a value that can be measured, (n_rows,)."""
        if rows.shape[1] == 0:
            return np.zeros(len(rows), np.bool_)
        return ~np.isnan(rows).all(axis=1)


def _read(X: Any) -> tuple[list[Any], Any]:
    """Return the column names and the values of a table: numbers, or objects if not all are numbers."""
    import narwhals.stable.v1 as nw

    frame = nw.from_native(X, eager_only=True)
    names = list(frame.columns)
    if len(set(names)) < len(names):
        raise ValueError("The columns of the table must have different names.")
    if all(dtype.is_numeric() or dtype == nw.Boolean for dtype in frame.schema.values()):
        columns = [np.asarray(frame[:, number].cast(nw.Float64).to_numpy()) for number in range(len(names))]
        return names, np.array(columns, np.float64).reshape(len(names), len(frame)).T.copy()
    values = np.empty((len(frame), len(names)), object)
    for number in range(len(names)):
        values[:, number] = frame[:, number].to_list()
    return names, values


def _dicts(names: list[Any], values: Any) -> Iterator[dict[Any, Any]]:
    for row in values:
        yield dict(zip(names, row, strict=True))


class LANNClassifier(_DictClassifier):
    """Locally adaptive nearest neighbors over the newest rows, for river.

    Every new row is added by `partial_fit` of `lann.LANNClassifier`, which adapts the metrics of its
    neighbors. All metrics are learned again from the rows that are kept when their number has doubled since
    the last time, at the latest after `refit_every` rows, and at once when a label or a feature is new. Plain
    kNN votes before there are 50 rows.

    A category of a feature with text is a column of its own, and so are two different categories as far apart
    as the numbers 0 and 1; there is no need to scale numbers.

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
        self._model = RefittedLANN(max_points, refit_every, {**parameters, "random_state": seed})

    @classmethod
    def _unit_test_params(cls) -> Iterator[dict[str, Any]]:
        yield {"max_points": 60, "refit_every": 500, "max_iter": 1}

    def _learn(self, rows: Floats, classes: Sequence[int], new: Sequence[NewColumn]) -> None:
        for row, label in zip(rows, classes, strict=True):
            self._model.learn(row, label, new)
            new = ()

    def _probabilities(self, rows: Floats) -> Floats:
        return self._model.probabilities(rows)

    def _can_measure(self, rows: Floats) -> Any:
        return self._model.can_measure(rows)
