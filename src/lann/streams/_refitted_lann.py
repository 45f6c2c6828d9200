"""A LANNClassifier over the newest rows of a stream, whose metrics are learned again now and then."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.compat import unchanged_on_failure
from lann._support.types import Floats, Labels
from lann._support.validation import validate_parameters
from lann.classifier import LANNClassifier
from lann.streams._feature_columns import NewColumn, with_columns

# Plain kNN votes before there are this many rows.
FIRST_FIT = 50


class RefittedLANN:
    """Rows are added by `partial_fit`, one by one; from time to time all metrics are learned again.

    They are learned when the number of rows has doubled since the last time, at the latest after
    `refit_every` rows, and at once when a class or a column is new.

    Parameters
    ----------
    max_points : int
        Number of the newest rows that are kept.
    refit_every : int
    parameters : mapping of str to object
        Of LANNClassifier.

    Attributes
    ----------
    n_learned : int
        Number of rows that have been learned.
    """

    def __init__(self, max_points: int, refit_every: int, parameters: Mapping[str, Any]) -> None:
        self.max_points, self.refit_every = max_points, refit_every
        self.parameters = {**parameters, "max_points": max_points}
        clf = LANNClassifier(**self.parameters)
        validate_parameters(clf, clf._parameters)
        # The newest rows end at `_end`; there is space for as many again, so that few are ever moved.
        self._rows = np.empty((2 * max_points, 0))
        self._labels: Labels = np.empty(2 * max_points, np.int64)
        self._end = 0
        self._n_rows = 0
        self.n_learned = 0
        self._n_classes = 0
        self._clf: LANNClassifier | None = None
        # The columns with a value in some row of the last fit, and the others.
        self._used = self._unused = np.empty(0, np.int64)
        # How many rows follow until all metrics are learned again.
        self._n_left = FIRST_FIT

    def learn(self, row: Floats, label: int, new: Sequence[NewColumn] = ()) -> None:
        """Add a row.

        Parameters
        ----------
        row : (n_columns,)
            With at least one value.
        label : int
            Class index.
        new : sequence of NewColumn
            Columns that are new with this row.
        """
        # An interrupt restores the attributes, unless `partial_fit` has added the row already. What is
        # written to arrays lies behind the rows that are kept, or is a copy of them.
        before = None if self._clf is None else self._clf.model_

        def is_added() -> bool:
            return self._clf is not None and self._clf.model_ is not before

        with unchanged_on_failure(self, unless=is_added):
            self._add(row, label, new)

    def _add(self, row: Floats, label: int, new: Sequence[NewColumn]) -> None:
        changed = bool(new) or label >= self._n_classes or not np.isnan(row[self._unused]).all()
        self._rows, self._n_classes = with_columns(self._rows, new), max(self._n_classes, label + 1)
        self._append(row, label)
        self._n_left -= 1
        self.n_learned += 1
        if self._n_rows < FIRST_FIT:
            self._clf = None
        elif changed or self._n_left <= 0 or self._clf is None:
            self._n_left, self._clf = min(self._n_rows, self.refit_every), self._fit(self.parameters)
        else:
            self._clf.partial_fit(row[None, self._used], [label])

    def can_measure(self, rows: Floats) -> NDArray[np.bool_]:
        """Return which rows have a value in a column in which rows that are kept have one, (n_rows,).

        Parameters
        ----------
        rows : (n_rows, n_columns)
        """
        if self._n_rows == 0:
            return np.zeros(len(rows), np.bool_)
        self._classifier()
        return np.asarray(~np.isnan(rows[:, self._used]).all(axis=1))

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class, (n_rows, n_classes).

        Parameters
        ----------
        rows : (n_rows, n_columns)
            Rows that `can_measure` names.
        """
        clf = self._classifier()
        return clf.predict_proba(rows[:, self._used])

    def _classifier(self) -> LANNClassifier:
        if self._clf is None:
            self._clf = self._fit({**self.parameters, "max_iter": 0})
        return self._clf

    def _append(self, row: Floats, label: int) -> None:
        if self._end == len(self._rows):
            kept = slice(self._end - self.max_points, self._end)
            self._rows[: self.max_points] = self._rows[kept].copy()
            self._labels[: self.max_points] = self._labels[kept].copy()
            self._end = self.max_points
        self._rows[self._end], self._labels[self._end] = row, label
        self._end += 1
        self._n_rows = min(self._n_rows + 1, self.max_points)

    def _fit(self, parameters: Mapping[str, Any]) -> LANNClassifier:
        """Return a classifier that is fitted to the rows that are kept."""
        kept = slice(self._end - self._n_rows, self._end)
        rows = self._rows[kept]
        empty = np.isnan(rows).all(axis=0)
        self._used, self._unused = np.flatnonzero(~empty), np.flatnonzero(empty)
        clf = LANNClassifier(**parameters)
        return clf.partial_fit(rows[:, self._used], self._labels[kept], classes=np.arange(self._n_classes))
