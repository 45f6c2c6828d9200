"""Predictions for tables that are larger than memory, written while the table is read."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, Unpack

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.files import check_different
from lann.columns.text import check_columns_present, check_named_column, column_texts
from lann.tables._files import check_table_path, table_writer
from lann.tables._reading import FileOptions
from lann.tables._table_file import TableFile, open_table

if TYPE_CHECKING:
    from lann.reject import RejectOption
    from lann.tables._table_model import TableModel

DECISIONS = ("accepted", "ambiguous", "far")


@dataclass(frozen=True)
class PredictionCounts:
    """How many predictions there are, and how many of them are correct.

    Attributes
    ----------
    n_rows : int
    n_labels : int or None
        Number of rows with a label; None if the table has no labels.
    n_correct : int
        Number of these rows whose label is predicted.
    decisions : dict of str to int
        Number of rows that are "accepted", "ambiguous" and "far", with a reject option.
    n_accepted_labels, n_accepted_wrong : int
        Number of accepted rows with a label, and of those whose prediction is wrong.
    notes : tuple of str
        What was found about the file that was read.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.tables import PredictionCounts
    >>> counts = PredictionCounts.of(np.array(["a", "b"]), np.array(["a", "b"]))
    >>> counts.n_correct, counts.accuracy, counts.plus(counts).n_rows
    (2, 1.0, 4)
    """

    n_rows: int
    n_labels: int | None = None
    n_correct: int = 0
    decisions: dict[str, int] = field(default_factory=dict)
    n_accepted_labels: int = 0
    n_accepted_wrong: int = 0
    notes: tuple[str, ...] = ()

    @classmethod
    def of(
        cls,
        predicted: NDArray[Any],
        labels: NDArray[Any] | None = None,
        decisions: NDArray[Any] | None = None,
    ) -> PredictionCounts:
        """Count predictions.

        Parameters
        ----------
        predicted : ndarray of shape (n_rows,)
        labels : ndarray of shape (n_rows,) or None, default=None
            None in place of a missing label.
        decisions : ndarray of shape (n_rows,) or None, default=None
            Of a reject option.

        Returns
        -------
        counts : PredictionCounts
        """
        by_decision = {}
        if decisions is not None:
            by_decision = {name: int(np.sum(decisions == name)) for name in DECISIONS}
        if labels is None:
            return cls(len(predicted), decisions=by_decision)
        is_known = np.array([label is not None for label in labels], dtype=bool)
        is_correct = np.asarray(labels == predicted, dtype=bool) & is_known
        is_accepted = is_known & (decisions == "accepted") if decisions is not None else is_known & False
        return cls(
            len(predicted),
            int(is_known.sum()),
            int(is_correct.sum()),
            by_decision,
            int(is_accepted.sum()),
            int((is_accepted & ~is_correct).sum()),
        )

    def plus(self, other: PredictionCounts) -> PredictionCounts:
        """Return the counts of both.

        Parameters
        ----------
        other : PredictionCounts
            Of the same table.

        Returns
        -------
        counts : PredictionCounts
        """
        n_labels = None if self.n_labels is None else self.n_labels + (other.n_labels or 0)
        return PredictionCounts(
            self.n_rows + other.n_rows,
            n_labels,
            self.n_correct + other.n_correct,
            {name: count + other.decisions[name] for name, count in self.decisions.items()},
            self.n_accepted_labels + other.n_accepted_labels,
            self.n_accepted_wrong + other.n_accepted_wrong,
            self.notes,
        )

    @property
    def accuracy(self) -> float | None:
        """Share of the rows with a label that are predicted correctly; None without labels."""
        return self.n_correct / self.n_labels if self.n_labels else None

    @property
    def error_of_accepted(self) -> float | None:
        """Share of the accepted rows with a label whose prediction is wrong; None if there are none."""
        return self.n_accepted_wrong / self.n_accepted_labels if self.n_accepted_labels else None


def predict_file(
    model: TableModel,
    path: str | os.PathLike[str],
    output: str | os.PathLike[str],
    *,
    id: str | None = None,
    reject: RejectOption | None = None,
    name: str | None = None,
    callback: Callable[[float, float], object] | None = None,
    guard_formulas: bool = False,
    **options: Unpack[FileOptions],
) -> PredictionCounts:
    """Predict the rows of a table that can be larger than memory, and write the predictions to a file.

    The table is read, and the predictions are written, block by block. What is written is what `predict`
    returns for the whole table and `write_table` writes, except that a Parquet file has smaller row groups.
    On failure nothing is written.

    Parameters
    ----------
    model : TableModel
    path : str or path-like
        A Parquet file, or text with separators, as for `read_table`.
    output : str or path-like
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``; an existing one is replaced.
    id : str or None, default=None
        As in `predict`.
    reject : RejectOption or None, default=None
        As in `predict`.
    name : str or None, default=None
        Name of the table in messages; None is that of the file.
    callback : callable or None, default=None
        Called after every block with the number of rows that are done, and of all rows; that of text is
        estimated.
    guard_formulas : bool, default=False
        As for `write_table`.
    **options : str, int or None
        ``sep``, ``decimal`` and ``encoding`` of text, as for `read_table`.

    Returns
    -------
    counts : PredictionCounts

    Raises
    ------
    ValueError
        If the file is damaged or has another format, a column is missing, or a cell is not what its column
        must have; if the table is to be overwritten, or was changed while it was read.
    OSError
        If there is no such file, or it cannot be written.

    Warns
    -----
    TableWarning
        If a column has categories that the training data do not have.
    """
    check_table_path(output)
    check_different([path], [output])
    file = open_table(path, options)
    if file is None:
        raise ValueError(f"{path} cannot be read in blocks; give a .parquet, .csv, .tsv or .txt file.")
    name = file.name if name is None else name
    columns, id = _columns(model, file, id, name)
    target = model.target if model.target in file.columns else None
    has_labels = target is not None and _has_text(file, target)
    counts: PredictionCounts | None = None
    new: dict[str, set[str]] = {}
    # Without any label in the first rows, their type is that of the predictions.
    with table_writer(Path(output), types_of={"label": "prediction"}, guard_formulas=guard_formulas) as write:
        for block in file.blocks(columns):
            predictions, labels = model._predict(
                block, id=id, reject=reject, name=name, is_block=True, has_labels=has_labels, new=new
            )
            write(predictions)
            last = -len(model.classifier.classes_) - 1
            decisions = None if reject is None else predictions.iloc[:, last].to_numpy()
            predicted = predictions.iloc[:, last - (reject is not None)].to_numpy()
            own = PredictionCounts.of(predicted, labels, decisions)
            if counts is None:
                notes = file.reading(block, options.get("decimal")).notes
                counts = PredictionCounts(
                    0, 0 if has_labels else None, 0, dict.fromkeys(own.decisions, 0), notes=notes
                )
            counts = counts.plus(own)
            if callback is not None:
                callback(counts.n_rows, max(file.n_rows or file.n_rows_estimated, counts.n_rows))
        model._warn_of_new(new)
    assert counts is not None  # a table has rows
    return counts


def _columns(
    model: TableModel, file: TableFile, id: str | None, name: str
) -> tuple[Sequence[str] | None, str | None]:
    """Return the columns to read, None for all, and the one that names the rows."""
    header = pd.DataFrame(columns=file.columns)
    id = model._id_of(header, id)
    if id is not None:
        check_named_column(header, id, "id", name)
    if not hasattr(model.classifier, "feature_names_in_"):
        return None, id
    check_columns_present(header, model.feature_names, name)
    used = {*model.feature_names, id, model.target}
    return [column for column in file.columns if column in used], id


def _has_text(file: TableFile, column: str) -> bool:
    """Return whether some cell of a column is not missing; in most files, this is one of the first rows."""
    return any(pd.notna(column_texts(block[column])).any() for block in file.blocks([column]))
