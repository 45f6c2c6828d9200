"""Predictions for tables that are larger than memory, written while the table is read."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.files import check_different
from lann._support.types import Floats
from lann.columns.text import check_has_columns
from lann.tables._reading import open_table
from lann.tables._table_file import FileOptions
from lann.tables._writing import check_table_path, table_writer

if TYPE_CHECKING:
    from lann.reject import RejectOption
    from lann.tables._table_model import TableModel

# Keys of the columns of predictions; a further one names the rows.
KEYS = {"label": "true_label", "prediction": "prediction", "decision": "decision"}


def prediction_documents(predictions: pd.DataFrame, classes: Sequence[str] | None) -> list[dict[str, Any]]:
    """Return predictions as dictionaries, ready for JSON.

    Parameters
    ----------
    predictions : DataFrame
        As `TableModel.predict` returns them.
    classes : sequence of str or None
        Labels of the classes as text; None where numbers are predicted.

    Returns
    -------
    documents : list of dict
        Each with ``row``, ``id``, ``true_label`` and ``decision`` (where there are any), ``prediction`` and
        ``probabilities`` (by class), or ``interval`` (``low`` and ``high``).
    """
    key, ends = ("interval", ["low", "high"]) if classes is None else ("probabilities", classes)
    n_text = len(predictions.columns) - len(ends)  # these are the last columns
    names = [KEYS.get(name, "id") for name in predictions.columns[:n_text]]
    return [
        {"row": row}
        | dict(zip(names, cells[:n_text], strict=True))
        | {key: dict(zip(ends, cells[n_text:], strict=True))}
        for row, cells in enumerate(predictions.itertuples(index=False, name=None))
    ]


@dataclass
class PredictionCounts:
    """How many predictions there are, and how many of them are correct.

    Attributes
    ----------
    n_rows : int
    n_labels : int or None
        Number of rows with a label; None if there are none.
    n_correct : int
        Number of these rows whose label is predicted.
    decisions : Counter of str
        Number of rows that are "accepted", "ambiguous" and "far", with a reject option.
    n_accepted_labels, n_accepted_wrong : int
        Number of accepted rows with a label, and of those whose prediction is wrong.
    notes : tuple of str
        What was found about the file that was read.
    predictions : DataFrame or None
        What `predict` returns for the whole table; None if it was written to a file.
    errors : list of ndarray
        Absolute errors of the rows with a label by block, NaN for others, where numbers are predicted.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.tables import PredictionCounts
    >>> counts = PredictionCounts()
    >>> counts.add(np.array(["a", "b"]), np.array(["a", None]))
    >>> counts.n_rows, counts.n_correct, counts.accuracy
    (2, 1, 1.0)
    """

    n_rows: int = 0
    n_labels: int | None = None
    n_correct: int = 0
    decisions: Counter[str] = field(default_factory=Counter)
    n_accepted_labels: int = 0
    n_accepted_wrong: int = 0
    notes: tuple[str, ...] = ()
    predictions: pd.DataFrame | None = None
    errors: list[Floats] = field(default_factory=list)

    def add(
        self,
        predicted: NDArray[Any],
        labels: NDArray[Any] | None = None,
        decisions: NDArray[Any] | None = None,
    ) -> None:
        """Count more predictions.

        Parameters
        ----------
        predicted : ndarray of shape (n_rows,)
        labels : ndarray of shape (n_rows,) or None, default=None
            None in place of a missing label.
        decisions : ndarray of shape (n_rows,) or None, default=None
            Of a reject option.
        """
        self.n_rows += len(predicted)
        if decisions is not None:
            self.decisions.update(decisions.tolist())
        if labels is None:
            return
        is_known = pd.notna(labels)
        is_correct = np.asarray(labels == predicted, dtype=bool) & is_known
        if is_known.any():
            self.n_labels = (self.n_labels or 0) + int(is_known.sum())
        self.n_correct += int(is_correct.sum())
        if decisions is not None:
            is_accepted = is_known & (decisions == "accepted")
            self.n_accepted_labels += int(is_accepted.sum())
            self.n_accepted_wrong += int((is_accepted & ~is_correct).sum())

    @property
    def accuracy(self) -> float | None:
        """Share of the rows with a label that are predicted correctly; None without labels."""
        return self.n_correct / self.n_labels if self.n_labels and not self.errors else None

    @property
    def mean_error(self) -> float | None:
        """Mean absolute error of predicted numbers; None if no row has a number."""
        return float(np.nanmean(np.concatenate(self.errors))) if self.errors and self.n_labels else None

    @property
    def error_of_accepted(self) -> float | None:
        """Share of the accepted rows with a label whose prediction is wrong; None if there are none."""
        return self.n_accepted_wrong / self.n_accepted_labels if self.n_accepted_labels else None


def predict_file(
    model: TableModel,
    path: str | os.PathLike[str],
    output: str | os.PathLike[str] | None = None,
    *,
    id: str | None = None,
    reject: RejectOption | None = None,
    name: str | None = None,
    callback: Callable[[float, float], object] | None = None,
    guard_formulas: bool = False,
    **options: Any,
) -> PredictionCounts:
    """Predict the rows of a table that can be larger than memory, and write the predictions to a file.

    The table is read, and the predictions are written, block by block. What is written is what `predict`
    returns for the whole table and `write_table` writes, except that a Parquet file has smaller row groups.
    On failure nothing is written.

    Parameters
    ----------
    model : TableModel
    path : str or path-like
        As for `read_table`.
    output : str, path-like or None, default=None
        A file whose name ends in ``.csv``, ``.csv.gz`` or ``.parquet``; an existing one is replaced. None
        keeps the predictions in memory.
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
    **options : str, int, list or None
        ``sep``, ``decimal``, ``encoding``, ``sheet`` and ``na_values``, as for `read_table`.

    Returns
    -------
    counts : PredictionCounts

    Raises
    ------
    ValueError
        If the file is damaged, a column is missing, or a cell is not what its column
        must have; if the table is to be overwritten.
    OSError
        If there is no such file, or it cannot be written.

    Warns
    -----
    TableWarning
        If a column has categories that the training data do not have.
    """
    kept: list[pd.DataFrame] = []
    writer: Any = nullcontext(kept.append)
    if output is not None:
        check_table_path(output)
        check_different([path], [output])
        writer = table_writer(Path(output), guard_formulas=guard_formulas)
    file = open_table(path, FileOptions(**options))
    name = file.name if name is None else name
    header = pd.DataFrame(columns=file.columns)
    id, columns = model._id_of(header, id), None
    if hasattr(model.classifier, "feature_names_in_"):
        check_has_columns(header, model.feature_names, name)
        used = {*model.feature_names, id, model.target}
        columns = [column for column in file.columns if column in used]
    if id is not None:
        check_has_columns(header, [id], name, "id")
    counts, new = PredictionCounts(), dict[str, set[str]]()
    with writer as write:
        for block in file.blocks(columns):
            numbers = block.index.to_numpy()
            predictions = model._predict(block, id, reject, name, row_numbers=numbers, new=new)
            write(predictions)
            # The last columns: names of classes, or of the rows, can be the same.
            last = -2 if model.has_values else -len(model.classifier.classes_)
            decisions = None if reject is None else predictions.iloc[:, last - 1].to_numpy()
            predicted = predictions.iloc[:, last - 1 - (reject is not None)].to_numpy()
            labels = model.labels_in(block)
            counts.add(predicted, labels, decisions)
            if model.has_values and labels is not None:
                counts.errors.append(np.abs(labels.astype(np.float64) - predicted))
            if callback is not None:
                callback(counts.n_rows, max(file.n_rows_estimated, counts.n_rows))
        model._warn_of_new(new)
    counts.notes, counts.predictions = file.notes, pd.concat(kept) if kept else None
    return counts
