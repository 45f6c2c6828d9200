"""A table that is prepared for training."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from sklearn.base import clone

from lann._support.compat import reported_epochs
from lann._support.format import counted, percent
from lann._support.types import Floats, Indices
from lann._support.validation import Number, OneOf, validate
from lann.columns.text import (
    Column,
    TableWarning,
    check_has_columns,
    column_texts,
    infer_columns,
    with_text_names,
)
from lann.persist import TableRecord
from lann.regressor import group_values
from lann.tables._cross_validation import FittedFold, learn_reject_option, summarize_folds
from lann.tables._reading import warn_of_rows
from lann.tables._rows import check_labels, labels_of, row_names, row_weights
from lann.tables._table_model import TableModel
from lann.tables._values import values_of_target

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.regressor import LANNRegressor


@dataclass(frozen=True, eq=False)
class TrainingTable:
    """A table with a target, prepared for training.

    Attributes
    ----------
    rows : DataFrame of shape (n_rows, n_columns)
        The columns in use: numbers, text, bools and dates. The index has the names of the rows, or their row
        numbers.
    labels : ndarray of shape (n_rows,)
        Labels, or numbers to predict.
    columns : tuple of Column
        What each column has, also those that are not used.
    target : str
        Name of the column with the labels.
    row_numbers : ndarray of shape (n_rows,)
        Positions of the rows in the table that was given.
    id : str or None
        Name of the column that names the rows.
    sample_weight : str or None
        Name of the column with the weights.
    weights : ndarray of shape (n_rows,) or None
        Sample weights; None is 1 for all.
    has_values : bool
        Whether the target has numbers to predict, and not labels.

    Examples
    --------
    >>> from sklearn.datasets import load_wine
    >>> from lann.tables import TrainingTable
    >>> frame = load_wine(as_frame=True).frame
    >>> table = TrainingTable.from_frame(frame, "target")
    >>> len(table), table.columns[0].name, table.columns[0].kind, table.class_sizes.tolist()
    (178, 'alcohol', 'number', [59, 71, 48])
    >>> training, held_out = table.split(0.3, random_state=0)
    >>> predicted = training.fit().predict(frame.iloc[held_out])["prediction"]
    >>> bool((predicted == frame["target"].iloc[held_out]).mean() > 0.9)
    True
    """

    rows: pd.DataFrame
    labels: NDArray[Any]
    columns: tuple[Column, ...]
    target: str
    row_numbers: Indices
    id: str | None = None
    sample_weight: str | None = None
    weights: Floats | None = None
    has_values: bool = False

    def __repr__(self) -> str:
        shape = f"{len(self)} rows, {len(self.rows.columns)} columns in use"
        return f"<TrainingTable of {self.target!r}: {shape}>"

    @classmethod
    def from_frame(
        cls,
        frame: pd.DataFrame,
        target: str,
        *,
        id: str | None = None,
        drop: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        sample_weight: str | None = None,
        row_numbers: Indices | None = None,
        name: str = "the table",
    ) -> TrainingTable:
        """Decide which rows and columns of a table are used, and how.

        Rows without a label are left out. `infer_columns` decides what each column has. Columns that are
        empty or constant, and text columns with a different value in most rows, are not used. A
        `TableWarning` says what is left out.

        Parameters
        ----------
        frame : DataFrame
        target : str
            Name of the column with the labels.
        id : str or None, default=None
            Name of a column that names the rows.
        drop : sequence of str, default=()
            Names of columns not to use.
        kinds : mapping of str to str or None, default=None
            What columns have, if it is not to be inferred: "category", "number", "date", or the format of
            dates, such as "%d/%m/%Y". For the target, "category" is classification, and "number" regression,
            which more than 20 different numbers are by default, or more than 10 that are not all integers.
        sample_weight : str or None, default=None
            Name of the column with sample weights; a weight of 2 is the same as the row twice, and rows of
            weight 0 are left out.
        row_numbers : ndarray of shape (n_rows,) or None, default=None
            Positions of the rows in the table of which they are a sample, ascending: see `sample_table`. None
            counts them from 0.
        name : str, default="the table"
            Name of the table in messages.

        Returns
        -------
        table : TrainingTable

        Raises
        ------
        ValueError
            If there is no such column, no column to learn from, the target does not have classes, a column
            does not have what it must have, or a weight is invalid.
        """
        frame, kinds = with_text_names(frame, name), dict(kinds or {})
        kind = kinds.pop(target, None)
        validate("the kind of the target", kind, OneOf(None, "category", "number"))
        roles = {"target": target, "id": id, "sample_weight": sample_weight}
        named = {column: role for role, column in roles.items() if column is not None}
        for column, role in named.items():
            check_has_columns(frame, [column], name, role)
            if column in kinds:
                raise ValueError(f"Column {column!r} is named in both {role} and kinds.")
        numbers = np.arange(len(frame)) if row_numbers is None else np.asarray(row_numbers)
        if numbers.shape != (len(frame),) or numbers.dtype.kind not in "iu" or (np.diff(numbers) <= 0).any():
            raise ValueError(f"row_numbers must be {len(frame)} ascending integers; got {row_numbers!r}.")
        texts = column_texts(frame[target])
        rows = np.flatnonzero(pd.notna(texts))
        if len(rows) == 0:
            raise ValueError(f"The target {target!r} is empty in every row of {name}.")
        warn_of_rows(len(frame) - len(rows), f"no {target!r}")
        weights = None
        if sample_weight is not None:
            weights = row_weights(frame, rows, sample_weight, name)
            warn_of_rows(int((weights == 0).sum()), "the weight 0")
            rows, weights = rows[weights > 0], weights[weights > 0]
        values = values_of_target(frame, rows, target, kind, name)
        labels = labels_of(texts[rows]) if values is None else values
        if values is None:
            check_labels(labels, target)
        numbers = numbers[rows]
        columns, cells = infer_columns(
            frame.drop(columns=list(named)).iloc[rows],
            kinds,
            drop=[column for column in drop if column not in named],
            table=name,
            row_numbers=numbers,
        )
        if id is not None:
            cells.index = pd.Index(row_names(frame, id, name)[rows], dtype=object)
        elif numbers[-1] == len(numbers) - 1:
            cells.index = pd.RangeIndex(len(numbers))
        if not any(column.is_used for column in columns):
            raise ValueError(f"There is no column to learn from in {name} beside the target {target!r}.")
        return cls(cells, labels, columns, target, numbers, id, sample_weight, weights, values is not None)

    def __len__(self) -> int:
        return len(self.labels)

    @property
    def classes(self) -> NDArray[Any]:
        """The labels of the classes, ascending: (n_classes,); none where numbers are predicted."""
        return np.unique(self.labels[:0] if self.has_values else self.labels)

    @property
    def class_sizes(self) -> Indices:
        """Number of rows of each class: (n_classes,)."""
        return np.unique(self.labels[:0] if self.has_values else self.labels, return_counts=True)[1]

    def fit(
        self,
        classifier: LANNClassifier | LANNRegressor | None = None,
        *,
        scores: pd.DataFrame | None = None,
        folds: Sequence[FittedFold] = (),
        data_sha256: str | None = None,
        callback: Callable[[int, int], object] | None = None,
    ) -> TableModel:
        """Fit a classifier to the table, or a regressor.

        Parameters
        ----------
        classifier : LANNClassifier, LANNRegressor or None, default=None
            It is cloned; None is one with ``random_state=0``.
        scores : DataFrame or None, default=None
            Of `cross_validate`; their means are kept with the model, for `lann.report.evaluate`.
        folds : sequence of FittedFold, default=()
            Of `cross_validate`; what a reject option learns from their test rows is kept with the model, for
            `TableModel.reject_option`.
        data_sha256 : str or None, default=None
            SHA-256 of the file with the table, as `Reading.sha256` has it. It is kept with the model, so that
            an evaluation on the training data is noticed.
        callback : callable or None, default=None
            Called after every epoch with the number of epochs that are done, and of all epochs, at most. It
            replaces the callbacks of the classifier, and needs scikit-learn 1.9; it is not called otherwise.

        Returns
        -------
        model : TableModel
        """
        from lann.classifier import LANNClassifier
        from lann.regressor import LANNRegressor

        default = LANNRegressor if self.has_values else LANNClassifier
        new: Any = default(random_state=0) if classifier is None else clone(classifier)
        with reported_epochs(new, callback):
            new.fit(self.rows, self.labels, sample_weight=self.weights)
        record = TableRecord(
            target=self.target,
            id_column=self.id,
            sample_weight_column=self.sample_weight,
            row_numbers=self.row_numbers,
            ignored={column.name: column.reason for column in self.columns if not column.is_used},
            columns=[column.to_dict() for column in self.columns if column.is_used],
            data_sha256=data_sha256,
            cross_validation=None if scores is None else summarize_folds(scores),
            reject=learn_reject_option(new, self.rows, self.labels, folds) if folds else None,
        )
        return TableModel(new, record)

    def split(self, held_out: float, *, random_state: int = 0) -> tuple[TrainingTable, Indices]:
        """Hold out a share of the rows, of every class in proportion to its size.

        Rows with the same values in all columns are held out together or not at all, as far as every class
        then still has training rows and held-out rows; a `TableWarning` says so.

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
        validate("held_out", held_out, Number(0, 1, "neither"))
        labels = group_values(self.labels, None) if self.has_values else self.labels
        classes, sizes = np.unique(labels, return_counts=True)
        if sizes.min() < 2:
            raise ValueError(
                f"Class {str(classes[sizes.argmin()])!r} has one row only, which cannot be held "
                "out; give test rows of your own."
            )
        n_held_out = round(held_out * len(labels))
        if min(n_held_out, len(labels) - n_held_out) < len(classes):
            raise ValueError(
                f"held_out={held_out:g} of {len(labels)} rows is too few or too many: each of the "
                f"{len(classes)} classes needs training rows and held-out rows."
            )
        copies = self.rows.groupby(list(self.rows.columns), dropna=False, sort=False).ngroup()
        _, drawn, inverse = np.unique(copies, return_index=True, return_inverse=True)
        first = drawn[inverse]  # the first row with the same values
        n_drawn = round(held_out * len(drawn))
        _, sizes = np.unique(labels[drawn], return_counts=True)
        if len(sizes) < len(classes) or sizes.min() < 2 or min(n_drawn, len(drawn) - n_drawn) < len(classes):
            first = drawn = np.arange(len(labels))
            n_drawn = n_held_out
        from sklearn.model_selection import train_test_split

        _, chosen = train_test_split(
            drawn, test_size=n_drawn, stratify=labels[drawn], random_state=random_state
        )
        is_held_out = np.isin(first, chosen)
        if n_copies := len(first) - len(drawn):
            warnings.warn(
                f"The table has copies of rows: {counted(n_copies, 'row')} "
                f"({percent(n_copies / len(first))}). Copies are held out together or not at all: "
                f"{is_held_out.sum()} of {len(first)} rows are held out. Copies among the training rows vote "
                "on each other, so that accuracies on these are optimistic.",
                TableWarning,
                stacklevel=2,
            )
        return self.subset(np.flatnonzero(~is_held_out)), self.row_numbers[is_held_out]

    def subset(self, positions: Indices) -> TrainingTable:
        """Return some of the rows.

        Parameters
        ----------
        positions : ndarray of shape (n_subset,)

        Returns
        -------
        table : TrainingTable
        """
        return replace(
            self,
            rows=self.rows.iloc[positions],
            labels=self.labels[positions],
            row_numbers=self.row_numbers[positions],
            weights=None if self.weights is None else self.weights[positions],
        )
