"""Self-adjusting memories whose rows get further columns, and that know class indices only."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from lann._types import Floats
from lann._validation import validate_parameters
from lann.streams._feature_columns import NewColumn
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
        estimator, labels = self.estimator, np.array(classes, np.int64)
        n_classes = max(max(classes) + 1, len(getattr(estimator, "classes_", ())))
        if not hasattr(estimator, "memories_"):
            estimator.partial_fit(rows, labels, classes=np.arange(n_classes))
            return
        for column in new:
            self._add_column(column)
        if n_classes > len(estimator.classes_):
            estimator._add_classes(np.arange(n_classes))
            estimator.memories_.known[:] = 1
        estimator._learn(rows, labels, np.empty((0, n_classes)))

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

    def probabilities(self, rows: Floats) -> Floats:
        """Return the probability of each class, (n_rows, n_classes); of those that have been learned."""
        estimator = self.estimator
        out = np.empty((len(rows), len(estimator.classes_)))
        estimator._predict(rows, out)
        return out
