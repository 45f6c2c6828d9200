"""A classifier that runs over a table larger than memory, can be stopped, and continues from a checkpoint."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any

import numpy as np
import pandas as pd

import lann.streams
from lann._support.files import check_different, check_writable, sync
from lann._support.types import Floats
from lann.columns.text import (
    Column,
    TableWarning,
    apply_columns,
    check_has_columns,
    column_texts,
    infer_columns,
)
from lann.persist import read_model_file, save
from lann.streams import PrequentialEvaluation, StreamBatch, iter_prequential
from lann.tables._reading import STANDARD_INPUT, open_table
from lann.tables._table_file import FileOptions
from lann.tables._writing import csv_bytes

# Rows from which it is decided what columns have, and rows of a batch.
N_FIRST_ROWS, BATCH_ROWS = 1000, 1000
KIND = "lann stream"
# The most frequent categories of the first rows have an axis each; all others share one.
MOST_CATEGORIES = 50
# So that two different categories are as far apart as two numbers with a difference of 1.
ONE_HOT = float(np.sqrt(0.5))
SECONDS_PER_DAY = 86_400.0
PREDICTION_COLUMNS = ["row", "label", "prediction", "probability", "correct", "memory_reset", "alarm"]


class StreamRun(AbstractContextManager["StreamRun"]):
    """A prequential run over a table: every row is predicted, scored and then learned, in batches.

    What columns have is decided from the first rows. Numbers are used as they are, bools as 0 and 1, dates as
    days; a category has a number per value of the first rows, and one for all other values. Rows without a
    label are left out.

    Parameters
    ----------
    path : str or path-like
        A file whose name ends in ``.csv``, ``.tsv``, ``.txt`` or ``.parquet``; text may be compressed with
        gzip. ``"-"`` is standard input, which must be text.
    target : str or None, default=None
        The column with the labels. If the run is resumed, None, or that of the checkpoint.
    estimator : classifier or None, default=None
        With ``test_then_train``. None is ``SAMLANN(random_state=0)``.
    checkpoint : str, path-like or None, default=None
        A checkpoint from which the run is resumed: it continues after the rows that had been read. The
        columns, the classifier and the evaluation are those of the checkpoint.
    output : str, path-like or None, default=None
        A CSV file for the predictions. If the run is resumed, that of the run before: what was written after
        the checkpoint is written again.
    evaluation_window : int, default=1000
        Number of rows of the moving window of the scores.
    drop : sequence of str, default=()
        Columns not to use.
    kinds : mapping of str to str or None, default=None
        What columns have, if it is not to be inferred: "category", "number", "date", or a format of dates.
    guard_formulas : bool, default=False
        Whether labels in the file for the predictions are guarded for spreadsheets, as by `write_table`.
    **options : str, list or None
        ``sep``, ``decimal``, ``encoding`` and ``na_values``, as for `read_table`.

    Attributes
    ----------
    estimator : classifier
    evaluation : PrequentialEvaluation
    columns : StreamColumns
        How rows become numbers.
    name : str
        Name of the table.
    n_read, n_unlabeled : int
        Rows that were read so far, and those among them that have no label.
    is_busy : bool
        Whether a batch is being learned. An interruption must wait until it is not: see `stop`.

    Raises
    ------
    ValueError
        If the table or the checkpoint is not valid, or they do not belong together; if a file to write is the
        table, or another file to write.

    See Also
    --------
    lann.streams.prequential : The same for arrays.

    Examples
    --------
    >>> import os, tempfile
    >>> from lann.streams import SAMKNN
    >>> from lann.tables import StreamRun
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     file = os.path.join(folder, "switch.csv")
    ...     with open(file, "w") as stream:
    ...         print("x,y", *(f"{i % 7},{'high' if i % 7 > 3 else 'low'}" for i in range(500)), sep="\\n",
    ...               file=stream)
    ...     with StreamRun(file, "y", SAMKNN(random_state=0)) as run:
    ...         run.run()
    >>> run.evaluation.n_rows, round(run.evaluation.scores.accuracy, 2)
    (500, 0.99)
    """

    def __init__(
        self,
        path: str | os.PathLike[str],
        target: str | None = None,
        estimator: Any = None,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        output: str | os.PathLike[str] | None = None,
        evaluation_window: int = 1000,
        drop: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        guard_formulas: bool = False,
        **options: Any,
    ) -> None:
        self._path, self._output_path, self._guard_formulas = path, output, guard_formulas
        self._check_different(checkpoint)
        self.n_read = self._output_bytes = 0
        self.is_busy = self._is_stopped = False
        self._output: IO[bytes] | None = None
        table = open_table(path, FileOptions(**options), as_it_comes=True)
        self.name, self._blocks = table.name, table.blocks()
        self._rest = pd.DataFrame(columns=table.columns)
        if checkpoint is not None:
            self._resume(checkpoint, target)
            return
        if target is None:
            raise ValueError("Name the column with the labels: the target.")
        self._read_at_least(N_FIRST_ROWS)
        first = self._rest[:N_FIRST_ROWS]
        first.attrs["decimal"] = options.get("decimal") or table.decimal
        self.columns = StreamColumns.from_rows(first, target, drop=drop, kinds=kinds, table=self.name)
        self.estimator = estimator or lann.streams.SAMLANN(random_state=0)
        self.evaluation = PrequentialEvaluation(window_size=evaluation_window)
        if output is not None:
            self._open_output(Path(output), None)

    @property
    def n_unlabeled(self) -> int:
        return self.n_read - self.evaluation.n_rows

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._blocks.close()  # type: ignore[attr-defined]
        if self._output is not None:
            self._output.close()

    def batches(self, every: int | None = None) -> Iterator[StreamBatch]:
        """Yield the predictions of the rest of the stream, after each has been scored and learned.

        Parameters
        ----------
        every : int or None, default=None
            A batch ends where a multiple of this number of rows has been read, or before.

        Yields
        ------
        batch : StreamBatch

        Raises
        ------
        ValueError
            If a cell is not what its column must have.
        KeyboardInterrupt
            If `stop` was called, after the batch that was being learned.
        """
        while self._read_at_least(1):
            batch = self._take(BATCH_ROWS if every is None else min(BATCH_ROWS, every - self.n_read % every))
            yield from self._learn(batch)
            if self._is_stopped:
                raise KeyboardInterrupt

    def run(
        self,
        *,
        checkpoint: str | os.PathLike[str] | None = None,
        every: int = 10_000,
        on_batch: Callable[[StreamBatch], None] | None = None,
        on_checkpoint: Callable[[], None] | None = None,
    ) -> None:
        """Read the rest of the stream.

        Parameters
        ----------
        checkpoint : str, path-like or None, default=None
            The file of checkpoints, of which the last is kept; that of the end, if the run is complete.
        every : int, default=10_000
            Number of rows between checkpoints, and of a batch, at most.
        on_batch, on_checkpoint : callable or None, default=None
            Called with every batch, and after every checkpoint.

        Raises
        ------
        ValueError
            If a cell is not what its column must have.
        KeyboardInterrupt
            As in `batches`.
        """
        saved = self.n_read
        self._check_different(checkpoint)

        def save_checkpoint() -> None:
            if checkpoint is not None:
                self.save(checkpoint)
                if on_checkpoint is not None:
                    on_checkpoint()

        for batch in self.batches(every):
            if on_batch is not None:
                on_batch(batch)
            if self.n_read // every > saved // every:
                save_checkpoint()
                saved = self.n_read
        if self.evaluation.n_rows and self.n_read > saved:
            save_checkpoint()

    def stop(self) -> None:
        """Raise KeyboardInterrupt: at once, or as soon as the batch that is being learned is complete.

        A second call does not wait.

        Raises
        ------
        KeyboardInterrupt
        """
        if self._is_stopped or not self.is_busy:
            raise KeyboardInterrupt
        self._is_stopped = True

    def save(self, path: str | os.PathLike[str]) -> None:
        """Save a checkpoint: the classifier, the evaluation, and what was read.

        Parameters
        ----------
        path : str or path-like
            A model file, usually ``*.lann``, which `lann.load` loads, too.

        Raises
        ------
        ValueError
            If nothing has been learned yet, or a batch was interrupted.
        """
        self._check_different(path)
        if self.is_busy or not self.evaluation.n_rows:
            raise ValueError("There is nothing to save: no batch is complete, or one was interrupted.")
        progress: dict[str, Any] = {
            "kind": KIND,
            "columns": self.columns.to_dict(),
            "evaluation": self.evaluation.to_dict(),
            "n_read": self.n_read,
            "output_bytes": None if self._output is None else self._output_bytes,
        }
        if self._output is not None:
            sync(self._output)
        save(self.estimator, path, progress=progress)

    def _read_at_least(self, n_rows: int) -> bool:
        """Read until this number of rows waits to be learned, or the table ends; return whether any does."""
        while len(self._rest) < n_rows and (block := next(self._blocks, None)) is not None:
            parts = [part for part in (self._rest, block) if len(part)]
            self._rest = pd.concat(parts or [block], ignore_index=True)
        return not self._rest.empty

    def _take(self, n_rows: int) -> pd.DataFrame:
        """Return at most this number of the rows that were read."""
        rows, self._rest = self._rest[:n_rows], self._rest[n_rows:].reset_index(drop=True)
        return rows

    def _learn(self, batch: pd.DataFrame) -> list[StreamBatch]:
        """Predict and learn the rows that have a label; the state is complete before and after."""
        labels = self.columns.labels(batch, self.name)
        has_label = pd.notna(labels)
        X = self.columns.rows(batch, self.n_read, self.name)[has_label]
        y = np.array(labels[has_label].tolist(), dtype=str)
        rows = self.n_read + np.flatnonzero(has_label)
        self.is_busy = True
        parts: list[StreamBatch] = []
        if len(rows):
            parts += iter_prequential(self.estimator, X, y, evaluation=self.evaluation)
        for part in parts if self._output is not None else []:
            numbers, rows = np.split(rows, [len(part.labels)])
            positions = part.first_row + np.arange(len(part.labels))
            marks = [np.isin(positions, found).astype(int) for found in (part.resets, part.alarms)]
            correct = (part.predictions == part.labels).astype(int)
            probabilities = [f"{probability:.6g}" for probability in part.probabilities]
            columns = [numbers, part.labels, part.predictions, probabilities, correct, *marks]
            self._write(pd.DataFrame(dict(zip(PREDICTION_COLUMNS, columns, strict=True))))
        self.n_read += len(labels)
        self.is_busy = False  # not after an error: the state is then that of a part of the batch
        return parts

    def _write(self, frame: pd.DataFrame, *, header: bool = False) -> None:
        """Add lines to the file for predictions."""
        assert self._output is not None
        name = str(self._output_path)
        content = csv_bytes(frame, name, header=header, guard_formulas=self._guard_formulas)
        self._output.write(content)
        self._output_bytes += len(content)

    def _check_different(self, checkpoint: str | os.PathLike[str] | None) -> None:
        """Raise ValueError if the table would be overwritten, or two files that are written are the same."""
        table = [] if str(self._path) == STANDARD_INPUT else [self._path]
        check_different(table, [path for path in (self._output_path, checkpoint) if path is not None])

    def _resume(self, path: str | os.PathLike[str], target: str | None) -> None:
        """Restore a checkpoint, and skip the rows that it has seen."""
        file = read_model_file(path)
        progress = file.progress or {}
        if progress.get("kind") != KIND:
            raise ValueError(f"{path} is not a checkpoint of a run over a stream.")
        try:
            self.columns = StreamColumns.from_dict(progress["columns"])
            self.evaluation = PrequentialEvaluation.from_dict(progress["evaluation"])
            n_rows, n_bytes = int(progress["n_read"]), progress["output_bytes"]
        except (KeyError, TypeError, ValueError) as error:
            raise ValueError(f"The checkpoint {path} is damaged.") from error
        self.estimator = file.model
        if target not in (None, self.columns.target):
            raise ValueError(f"The target of the run of {path} is {self.columns.target!r}, not {target!r}.")
        while self.n_read < n_rows:
            if not self._read_at_least(1):
                raise ValueError(
                    f"{self.name} has {self.n_read} rows, but the checkpoint {path} was made after {n_rows}."
                )
            self.n_read += len(self._take(n_rows - self.n_read))
        if (self._output_path is None) != (n_bytes is None):
            was = "without" if n_bytes is None else "with"
            raise ValueError(f"The run of {path} was started {was} a file for predictions; resume it so.")
        if self._output_path is not None:
            self._open_output(Path(self._output_path), n_bytes)

    def _open_output(self, path: Path, n_bytes: int | None) -> None:
        """Start the file for predictions, or remove what was written after the checkpoint."""
        check_writable(path)
        if n_bytes is None:
            self._output = path.open("wb")
            self._write(pd.DataFrame(columns=PREDICTION_COLUMNS), header=True)
            return
        kept = path.read_bytes()[:n_bytes] if path.is_file() else b""
        if len(kept) != n_bytes or not kept.endswith(b"\n") or not kept.startswith((b"row,", b'"row",')):
            raise ValueError(
                f"{path} does not have the predictions that were there at the checkpoint; name the file "
                "of that run, or start again without resuming."
            )
        self._output = path.open("r+b")
        self._output.truncate(n_bytes)
        self._output.seek(n_bytes)
        self._output_bytes = n_bytes


@dataclass(frozen=True)
class StreamColumns:
    """The columns of a stream, and how its rows become numbers.

    Numbers are as they are, bools are 0 and 1, dates are days. A category has an axis for each value of the
    first rows and one for all other values. Missing values are NaN.

    Attributes
    ----------
    target : str
        The column with the labels.
    columns : tuple of Column
        The columns that are used.
    categories : dict of str to tuple of str
        The values of each category that have an axis.

    Examples
    --------
    >>> import pandas as pd
    >>> from lann.tables import StreamColumns
    >>> rows = pd.DataFrame({"size": ["1.5", "2"], "city": ["Ulm", "Bonn"], "label": ["a", "b"]})
    >>> columns = StreamColumns.from_rows(rows, "label")
    >>> columns.feature_names
    ['size', 'city: Bonn', 'city: Ulm', 'city: other']
    >>> columns.rows(pd.DataFrame({"size": ["?"], "city": ["Kiel"]}), 2).round(2)
    array([[ nan, 0.  , 0.  , 0.71]])
    """

    target: str
    columns: tuple[Column, ...]
    categories: Mapping[str, tuple[str, ...]]

    @classmethod
    def from_rows(
        cls,
        frame: pd.DataFrame,
        target: str,
        *,
        drop: Sequence[str] = (),
        kinds: Mapping[str, str] | None = None,
        table: str = "the stream",
    ) -> StreamColumns:
        """Decide what the columns have from the first rows; their labels are not used.

        Parameters
        ----------
        frame : DataFrame
            The first rows.
        target : str
            The column with the labels.
        drop : sequence of str, default=()
            Columns not to use.
        kinds : mapping of str to str or None, default=None
            What columns have, if it is not to be inferred: "category", "number", "date", or a format of
            dates.
        table : str, default="the stream"
            Its name in messages.

        Returns
        -------
        columns : StreamColumns

        Raises
        ------
        ValueError
            If there is no such column, or none to learn from.

        Warns
        -----
        TableWarning
            If a column is ignored.
        """
        if frame.empty:
            raise ValueError(f"{table} has no rows.")
        check_has_columns(frame, [target], table, "the target")
        found, values = infer_columns(
            frame.drop(columns=target), kinds, drop=drop, keeps_constant=True, table=table
        )
        columns = tuple(column for column in found if column.is_used)
        if not columns:
            raise ValueError(f"{table} has no column to learn from beside the target {target!r}.")
        categories = {
            column.name: _frequent(column.name, values[column.name])
            for column in columns
            if column.kind == "category"
        }
        return cls(target, columns, categories)

    @property
    def feature_names(self) -> list[str]:
        """The names of the numbers of a row: those of columns, and "city: Ulm" for a category."""
        names: list[str] = []
        for column in self.columns:
            if column.kind == "category":
                names += [f"{column.name}: {value}" for value in (*self.categories[column.name], "other")]
            else:
                names.append(column.name)
        return names

    def rows(self, frame: pd.DataFrame, first_row: int, table: str = "the stream") -> Floats:
        """Return rows as numbers.

        Parameters
        ----------
        frame : DataFrame
        first_row : int
            Number of its first row, for messages.
        table : str, default="the stream"

        Returns
        -------
        X : ndarray of shape (n_rows, n_numbers)

        Raises
        ------
        ValueError
            If a cell is not what its column must have.
        """
        numbers = np.arange(first_row, first_row + len(frame))
        values = apply_columns(frame, self.columns, table, row_numbers=numbers)
        axes = []
        for column in self.columns:
            if column.kind == "category":
                axes.append(_one_hot(values[column.name], self.categories[column.name]))
            elif column.kind == "date":
                seconds = (values[column.name] - pd.Timestamp(0)).dt.total_seconds()
                axes.append((seconds / SECONDS_PER_DAY).to_numpy(np.float64))
            else:
                axes.append(values[column.name].astype("float64").to_numpy(np.float64, na_value=np.nan))
        return np.ascontiguousarray(np.column_stack(axes), dtype=np.float64)

    def labels(self, frame: pd.DataFrame, table: str = "the stream") -> np.ndarray[Any, Any]:
        """Return the labels of rows.

        Parameters
        ----------
        frame : DataFrame
        table : str, default="the stream"

        Returns
        -------
        labels : ndarray of shape (n_rows,)
            Text, None where a label is missing.
        """
        check_has_columns(frame, [self.target], table)
        return column_texts(frame[self.target])

    def to_dict(self) -> dict[str, Any]:
        """Return the columns as JSON has them.

        Returns
        -------
        state : dict
        """
        return {
            "target": self.target,
            "columns": [column.to_dict() for column in self.columns],
            "categories": {name: list(values) for name, values in self.categories.items()},
        }

    @classmethod
    def from_dict(cls, state: Any) -> StreamColumns:
        """Return the columns of which `to_dict` has made the state.

        Parameters
        ----------
        state : dict

        Returns
        -------
        columns : StreamColumns
        """
        return cls(
            state["target"],
            tuple(Column.from_dict(column) for column in state["columns"]),
            {name: tuple(values) for name, values in state["categories"].items()},
        )


def _frequent(name: str, values: pd.Series) -> tuple[str, ...]:
    """Return the most frequent values; of equally frequent ones, the first in the alphabet."""
    counts = values.value_counts()
    if len(counts) > MOST_CATEGORIES:
        warnings.warn(
            f"Column {name!r} has {len(counts)} different values in the first rows; the {MOST_CATEGORIES} "
            "most frequent are distinguished.",
            TableWarning,
            stacklevel=4,
        )
    order = sorted(counts.index, key=lambda value: (-counts[value], value))
    return tuple(sorted(order[:MOST_CATEGORIES]))


def _one_hot(values: pd.Series, categories: tuple[str, ...]) -> Floats:
    positions = pd.Index(categories).get_indexer(values)  # -1 for other values, which are the last
    found = np.zeros((len(values), len(categories) + 1))
    found[np.arange(len(values)), positions] = ONE_HOT
    found[values.isna().to_numpy()] = np.nan
    return found
