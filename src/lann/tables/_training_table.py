"""A table that is prepared for training."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._format import counted
from lann._types import Floats, Indices
from lann.tables._columns import ColumnTypes, check_named_column, convert_columns, id_column, weight_column
from lann.tables._labels import check_labels, labels_of
from lann.tables._pipeline import fit_pipeline, make_pipeline
from lann.tables._split import split_rows
from lann.tables._table_model import TableModel
from lann.tables._warnings import TableWarning

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table with a target, prepared for training.

    Attributes
    ----------
    rows : DataFrame of shape (n_rows, n_columns)
        The columns in use, as floats and as text.
    labels : ndarray of shape (n_rows,)
    columns : ColumnTypes
        How each column is used.
    target : str
        Name of the column with the labels.
    row_numbers : ndarray of shape (n_rows,)
        Positions of the rows in the table that was given.
    ids : ndarray of shape (n_rows,) or None
        Names of the rows.
    weights : ndarray of shape (n_rows,) or None
        As how many rows each row counts; None is 1 for all.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable
    >>> frame = load_wine(as_frame=True).frame
    >>> table = TrainingTable.from_frame(frame, "target")
    >>> len(table), table.columns.numeric[0], table.class_sizes.tolist()
    (178, 'alcohol', [59, 71, 48])
    >>> training, held_out = table.split(0.3, random_state=0)
    >>> predicted = training.fit().predict(frame.iloc[held_out])["prediction"]
    >>> bool((predicted == frame["target"].iloc[held_out]).mean() > 0.9)
    True
    """

    rows: pd.DataFrame
    labels: NDArray[Any]
    columns: ColumnTypes
    target: str
    row_numbers: Indices
    ids: NDArray[Any] | None
    weights: Floats | None = None

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        target: str,
        *,
        id: str | None = None,
        drop: Sequence[str] = (),
        sample_weight: str | None = None,
        name: str = "the table",
    ) -> TrainingTable:
        """Decide which rows and columns of a table are used, and how.

        Rows without a label are left out. Columns whose cells are all numbers or missing are numeric, others
        are text. Columns that are empty or constant, and text columns with a different value in most rows,
        are not used. A `TableWarning` says what is left out.

        Parameters
        ----------
        frame : DataFrame
        target : str
            Name of the column with the labels.
        id : str or None, default=None
            Name of a column that names the rows.
        drop : sequence of str, default=()
            Names of columns not to use.
        sample_weight : str or None, default=None
            Name of a column that tells as how many rows each row counts; rows of weight 0 are left out.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        table : TrainingTable

        Raises
        ------
        ValueError
            If there is no such column, no column to learn from, the target does not have classes, or a weight
            is invalid.
        """
        named = [("target", target), ("id", id), ("sample_weight", sample_weight)]
        named += [("drop", column) for column in drop]
        for parameter, column in named:
            if column is not None:
                check_named_column(frame, column, parameter, name)
        row_numbers = np.flatnonzero(frame[target].notna())
        if len(row_numbers) == 0:
            raise ValueError(f"The target {target!r} is empty in every row of {name}.")
        if n_unlabeled := len(frame) - len(row_numbers):
            have, are = ("has", "is") if n_unlabeled == 1 else ("have", "are")
            message = f"{counted(n_unlabeled, 'row')} {have} no {target!r} and {are} left out."
            warnings.warn(message, TableWarning, stacklevel=2)
        weights = None
        if sample_weight is not None:
            weights = weight_column(frame, row_numbers, sample_weight, name)
            counts = weights > 0
            if n_without := int((~counts).sum()):
                have, are = ("has", "is") if n_without == 1 else ("have", "are")
                message = f"{counted(n_without, 'row')} {have} the weight 0 and {are} left out."
                warnings.warn(message, TableWarning, stacklevel=2)
            row_numbers, weights = row_numbers[counts], weights[counts]
        frame = frame.iloc[row_numbers].reset_index(drop=True)
        labels = labels_of(frame[target])
        check_labels(labels, target)
        features = frame.drop(columns=list({column for _, column in named if column is not None}))
        types = _column_types(features, target, name)
        ids = None if id is None else id_column(frame, id, name)
        rows = convert_columns(features, types.numeric, types.text, name)
        return cls(rows, labels, types, target, row_numbers, ids, weights)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of the classes, ascending: (n_classes,)."""
        return np.unique(self.labels)

    @property
    def class_sizes(self) -> Indices:
        """Number of rows of each class: (n_classes,)."""
        return np.unique(self.labels, return_counts=True)[1]

    def fit(self, classifier: LANNClassifier | None = None) -> TableModel:
        """Fit a classifier to the table.

        Parameters
        ----------
        classifier : LANNClassifier or None, default=None
            It is cloned; None is ``LANNClassifier(random_state=0)``.

        Returns
        -------
        model : TableModel
        """
        estimator = fit_pipeline(
            make_pipeline(self.columns, classifier), self.rows, self.labels, self.weights
        )
        # Attributes that are saved with the model: where the rows come from, and which cells were missing.
        estimator.target_, estimator.training_ids_ = self.target, self.ids
        estimator.training_rows_ = self.row_numbers
        estimator.training_gaps_ = np.argwhere(self.rows.isna().to_numpy())
        return TableModel(estimator)

    def split(self, held_out: float, *, random_state: int = 0) -> tuple[TrainingTable, Indices]:
        """Hold out a share of the rows, of every class in proportion to its size.

        Rows with the same values in all columns are held out together or not at all, as far as every class
        then still has training rows and held-out rows; a `TableWarning` says so. Columns that are constant
        in the remaining rows are ignored.

        Parameters
        ----------
        held_out : float
            Share of the rows, between 0 and 1.
        random_state : int, default=0

        Returns
        -------
        training : TrainingTable
            The other rows.
        held_out : ndarray of shape (n_held_out,)
            Row numbers of the rows that are held out, ascending.

        Raises
        ------
        ValueError
            If a class would have no training rows or no held-out rows.
        """
        is_held_out = split_rows(self.rows, self.labels, held_out, random_state)
        return self._subset(np.flatnonzero(~is_held_out)), self.row_numbers[is_held_out]

    def _subset(self, positions: Indices) -> TrainingTable:
        """Return some of the rows; how the columns are used is decided again."""
        rows = self.rows.iloc[positions].reset_index(drop=True)
        types = _column_types(rows, self.target, "the remaining rows")
        return TrainingTable(
            rows=convert_columns(rows, types.numeric, types.text, "the remaining rows"),
            labels=self.labels[positions],
            columns=ColumnTypes(types.numeric, types.text, self.columns.ignored | types.ignored),
            target=self.target,
            row_numbers=self.row_numbers[positions],
            ids=None if self.ids is None else self.ids[positions],
            weights=None if self.weights is None else self.weights[positions],
        )


def _column_types(features: pd.DataFrame, target: str, table: str) -> ColumnTypes:
    """Return how the columns are used; raise ValueError if none is."""
    types = ColumnTypes.from_frame(features)
    if not types.used:
        raise ValueError(f"There is no column to learn from in {table} beside the target {target!r}.")
    for column, reason in types.ignored.items():
        warnings.warn(f"Column {column!r} is ignored: {reason}.", TableWarning, stacklevel=3)
    return types
