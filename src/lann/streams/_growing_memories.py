"""Self-adjusting memories whose rows get further columns, and that know class indices only."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from itertools import pairwise
from typing import TYPE_CHECKING

import numpy as np

from lann._support.types import Floats, Labels
from lann._support.validation import validate_parameters
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

    @property
    def n_learned(self) -> int:
        """Number of rows that have been learned."""
        return self.estimator.n_seen_ if self.is_started else 0

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
        if self.is_started and not new and max(classes) < len(self.estimator.classes_):
            _learn(self.estimator, rows, labels)
            return
        # With a new class or column, a copy learns, so that an interrupt leaves nothing half-done.
        estimator = deepcopy(self.estimator)
        first = 0
        if not self.is_started:
            estimator.partial_fit(rows[:1], labels[:1], classes=np.arange(labels[0] + 1))
            first = 1
        else:
            for column in new:
                _add_column(estimator, column)
        # A class is added with its first row, as if rows came one by one.
        largest = np.maximum.accumulate(np.append(len(estimator.classes_) - 1, labels[first:]))
        starts = first + np.flatnonzero(np.diff(largest))
        for start, stop in pairwise(sorted({first, *starts.tolist(), len(rows)})):
            _learn(estimator, rows[start:stop], labels[start:stop])
        self.estimator = estimator

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class, (n_rows, n_classes); of those that have been learned."""
        estimator = self.estimator
        out = np.empty((len(rows), len(estimator.classes_)))
        estimator._predict(rows, out)
        return out


def _learn(estimator: SelfAdjustingClassifier, rows: Floats, labels: Labels) -> None:
    """Learn rows of which only the first can be of a new class."""
    if labels[0] >= len(estimator.classes_):
        estimator._add_classes(np.arange(labels[0] + 1))
        # A class between may have rows without values only.
        estimator.memories_.known[: labels[0]] = 1
    estimator._learn(rows, labels, np.empty((0, len(estimator.classes_))))


def _add_column(estimator: SelfAdjustingClassifier, column: NewColumn) -> None:
    """Add a column to all rows that are stored."""
    like, memories = column.category_of, estimator.memories_
    if like is None:
        estimator._add_columns(1)
        return
    # A row that has another category has the value 0, and one whose category is missing misses this, too.
    has_gaps = any(np.isnan(X[like]).any() for X in (memories.short_X, memories.long_X, memories.before_X))
    estimator._add_columns(1, np.nan if has_gaps else 0.0)
    memories = estimator.memories_
    if has_gaps:
        for X in (memories.short_X, memories.long_X, memories.before_X):
            X[-1] = X[like] * 0.0
        # No further column: what follows from the values is computed again.
        estimator._add_columns(0)
