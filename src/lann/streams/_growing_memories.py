"""Self-adjusting memories whose rows get further columns, and that know class indices only."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lann._types import Floats, Labels
from lann._validation import validate_parameters
from lann.streams._feature_columns import NewColumn

if TYPE_CHECKING:
    from lann.streams._sam import SelfAdjustingClassifier


class GrowingMemories:
    """A classifier with memories to which rows are given as they are, checked before.

    Parameters
    ----------
    estimator : SelfAdjustingClassifier
        Not fitted; its parameters are validated.
    """

    def __init__(self, estimator: SelfAdjustingClassifier) -> None:
        validate_parameters(estimator, estimator._parameters)
        self.estimator = estimator

    @property
    def is_started(self) -> bool:
        """Whether a row has been learned."""
        return hasattr(self.estimator, "memories_")

    def learn(self, rows: Floats, classes: Sequence[int], new: Sequence[NewColumn]) -> None:
        """Learn rows in order.

        Parameters
        ----------
        rows : (n_rows, n_columns)
        classes : sequence of n_rows ints
            Class indices.
        new : sequence of NewColumn
            Columns that are new with the first of these rows.
        """
        labels = np.array(classes, np.int64)
        first = 0
        if not self.is_started:
            self.estimator.partial_fit(rows[:1], labels[:1], classes=np.arange(labels[0] + 1))
            first = 1
        else:
            for column in new:
                self._add_column(column)
        if first == 0 and max(classes) < len(self.estimator.classes_):
            self._learn(rows, labels)
            return
        # A class is added with its first row, as if rows came one by one.
        largest = np.maximum.accumulate(np.append(len(self.estimator.classes_) - 1, labels[first:]))
        starts = first + np.flatnonzero(np.diff(largest))
        for start, stop in pairwise(sorted({first, *starts.tolist(), len(rows)})):
            self._learn(rows[start:stop], labels[start:stop])

    def _learn(self, rows: Floats, labels: Labels) -> None:
        """Learn rows of which only the first can be of a new class."""
        estimator = self.estimator
        if labels[0] >= len(estimator.classes_):
            estimator._add_classes(np.arange(labels[0] + 1))
            # A class between may have rows without values only.
            estimator.memories_.known[: labels[0]] = 1
        estimator._learn(rows, labels, np.empty((0, len(estimator.classes_))))

    def _add_column(self, column: NewColumn) -> None:
        """Add a column to all rows that are stored."""
        like, memories = column.category_of, self.estimator.memories_
        if like is None:
            self.estimator._add_columns(1)
            return
        # A row that has another category has the value 0, and one whose category is missing misses this, too.
        has_gaps = any(
            np.isnan(X[like]).any() for X in (memories.short_X, memories.long_X, memories.before_X)
        )
        self.estimator._add_columns(1, np.nan if has_gaps else 0.0)
        memories = self.estimator.memories_
        if has_gaps:
            for X in (memories.short_X, memories.long_X, memories.before_X):
                X[-1] = X[like] * 0.0
            # No further column: what follows from the values is computed again.
            self.estimator._add_columns(0)

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class, (n_rows, n_classes); of those that have been learned."""
        estimator = self.estimator
        out = np.empty((len(rows), len(estimator.classes_)))
        estimator._predict(rows, out)
        return out
