"""Classifiers whose rows come as dictionaries, one at a time, or as tables."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats
from lann._support.validation import Integer, validate
from lann.streams._feature_columns import (
    FeatureColumns,
    NewColumn,
    check_sizes,
    check_values,
    is_missing,
)

Row = Mapping[Hashable, Any]


class DictClassifier:
    """From dictionaries and tables to rows of numbers and class indices; subclasses learn and vote.

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

    @property
    @abstractmethod
    def _n_learned(self) -> int:
        """Number of rows that `_learn` has learned."""

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
            If a value is infinite, or neither a number nor text, or if there is no label (None, NaN) or one
            that is not hashable; the model is then as it was before.
        """
        _check_label(y)
        with _AllOrNothing(self):
            row, new = self._columns.learn(x)
            self._learn_rows(row[None], [y], new)

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
        names, values = _read(X)
        if len(labels) != len(values):
            raise ValueError(f"There are {len(values)} rows and {len(labels)} labels.")
        if hasattr(X, "iloc") and hasattr(y, "iloc") and not X.index.equals(y.index):
            raise ValueError(
                "X and y have different indexes: give y in the order of X, as y.loc[X.index] does."
            )
        for label in labels:
            _check_label(label)
        if not labels:
            return
        if values.dtype == object:
            rows = list(_dicts(names, values))
            check_values(rows)
            for x, label in zip(rows, labels, strict=True):
                self.learn_one(x, label)
            return
        check_sizes(values, names)
        # Columns are added with the row that has the first value.
        starts = sorted({0, *self._columns.first_values(names, values)})
        for start, stop in zip(starts, [*starts[1:], len(values)], strict=True):
            if start < stop:
                self._learn_part(names, values[start:stop], labels[start:stop])

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
        rows = self._read_queries(X)
        found: list[Any] = [None] * len(rows)
        if self._classes:
            labels = list(self._classes)
            found = [labels[best] for best in self._predict(rows).argmax(axis=1)]
        if not hasattr(X, "iloc"):
            import narwhals.stable.v1 as nw

            return nw.new_series("label", found, backend=_package_of(X)).to_native()
        import pandas as pd

        return pd.Series(found, index=X.index, dtype=None if self._classes else object)

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
        rows = self._read_queries(X)
        probabilities = self._predict(rows) if self._classes else np.empty((len(rows), 0))
        if not hasattr(X, "iloc"):
            import narwhals.stable.v1 as nw

            columns = {str(label): probabilities[:, n] for label, n in self._classes.items()}
            return nw.from_dict(columns, backend=_package_of(X)).to_native()
        import pandas as pd

        # As objects, so that labels of several types stay what they are.
        labels = pd.Index(list(self._classes), dtype=object)
        return pd.DataFrame(probabilities, index=X.index, columns=labels)

    def _read_queries(self, X: Any) -> Floats:
        """Return the rows of a table."""
        names, values = _read(X)
        if values.dtype != object:
            return self._columns.numbers(names, values)
        rows = [self._columns.row(x) for x in _dicts(names, values)]
        return np.array(rows).reshape(len(rows), self._columns.n_columns)

    def _learn_part(self, names: list[Any], values: Floats, labels: Sequence[Any]) -> None:
        """Learn a table of numbers whose columns can be new in the first row only."""
        with _AllOrNothing(self):
            new = self._columns.learn_numbers(names, values)
            self._learn_rows(self._columns.numbers(names, values), labels, new)

    def _learn_rows(self, rows: Floats, labels: Sequence[Any], new: Sequence[NewColumn]) -> None:
        """Learn rows and labels; a row without any value counts for the frequencies of the labels only."""
        known_classes, counts, classes = dict(self._classes), list(self._counts), []
        for label in labels:
            index = known_classes.setdefault(label, len(known_classes))
            if index == len(counts):
                counts.append(0)
            counts[index] += 1
            classes.append(index)
        self._classes, self._counts = known_classes, counts
        if rows.shape[1] == 0:
            return
        known = DictClassifier._can_measure(self, rows)
        if not known.all():
            rows, classes = rows[known], [c for c, is_known in zip(classes, known, strict=True) if is_known]
        if len(rows):
            self._learn(rows, classes, new)

    def _predict(self, rows: Floats) -> Floats:
        """Return the probability of each label, (n_rows, n_labels)."""
        if not len(rows):
            return np.empty((0, len(self._counts)))
        known = self._can_measure(rows)
        all_known = bool(known.all())
        if all_known:
            voted = self._probabilities(rows)
            if voted.shape[1] == len(self._counts):
                return voted
        counts = np.array(self._counts, np.float64)
        found = np.tile(counts / counts.sum(), (len(rows), 1))
        if known.any():
            voted = self._probabilities(rows if all_known else rows[known])
            # Labels of which no row has a value have their frequency, as the vote knows nothing of them.
            n_voted = voted.shape[1]
            found[known, :n_voted] = voted * (1.0 - found[0, n_voted:].sum())
        return found

    def _can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        """Return which rows have a value that can be measured, (n_rows,)."""
        if rows.shape[1] == 0:
            return np.zeros(len(rows), np.bool_)
        known = rows[:, 0] == rows[:, 0]
        return known if known.all() else np.asarray(~np.isnan(rows).all(axis=1))


class _AllOrNothing:
    """Restores columns, classes and counts where an update fails or is interrupted, unless rows were learned.

    Rows are learned last, in one step.

    Parameters
    ----------
    classifier : DictClassifier
    """

    __slots__ = ("_before", "_classifier", "_columns", "_n_learned")

    def __init__(self, classifier: DictClassifier) -> None:
        self._classifier = classifier
        self._before = (classifier._classes, classifier._counts)
        self._columns = dict(vars(classifier._columns))
        self._n_learned = classifier._n_learned

    def __enter__(self) -> None:
        pass

    def __exit__(self, error: type[BaseException] | None, *_: Any) -> None:
        classifier = self._classifier
        if error is not None and classifier._n_learned == self._n_learned:
            vars(classifier._columns).update(self._columns)
            classifier._classes, classifier._counts = self._before


def _check_label(label: Any) -> None:
    """Raise ValueError if there is no label, or one that cannot be a class."""
    if is_missing(label):
        raise ValueError(f"A row has no label, but {label}; leave out rows whose label is missing.")
    try:
        hash(label)
    except TypeError:
        raise ValueError(f"A label is of type {type(label).__name__}; give numbers or text.") from None


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


def _package_of(X: Any) -> Any:
    import narwhals.stable.v1 as nw

    return nw.from_native(X, eager_only=True).implementation


def _dicts(names: list[Any], values: Any) -> Iterator[dict[Any, Any]]:
    for row in values:
        yield dict(zip(names, row, strict=True))
