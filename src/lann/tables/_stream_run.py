"""A classifier that runs over a table larger than memory, can be stopped, and continues from a checkpoint."""

from __future__ import annotations

import hashlib
import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Self

import numpy as np

from lann._support.files import check_different
from lann.columns.text import TableWarning
from lann.persist import read_model_file, save
from lann.streams import PrequentialEvaluation, StreamBatch, iter_prequential
from lann.tables._predictions_file import PredictionsFile
from lann.tables._reading import STANDARD_INPUT
from lann.tables._stream_columns import StreamColumns
from lann.tables._stream_source import Batch, StreamSource, length, open_stream, row_bytes, split

# Rows from which it is decided what columns have.
N_FIRST_ROWS = 1000
PROGRESS = {
    "kind",
    "columns",
    "evaluation",
    "n_read",
    "n_unlabeled",
    "digest",
    "output_bytes",
    "output_digest",
    "guard_formulas",
}
KIND = "lann stream"
SKIPPED_AT_ONCE = 10_000


class StreamRun:
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
        A CSV file for the predictions. If the run is resumed, the file must start with what was written up to
        the checkpoint, and what was written after it is written again.
    evaluation_window : int, default=1000
        Number of rows of the moving window of the scores.
    drop : sequence of str, default=()
        Columns not to use.
    kinds : mapping of str to str or None, default=None
        What columns have, if it is not to be inferred: "category", "number", "date", or a format of dates.
    sep, decimal, encoding : str or None, default=None
        How text is written; by default it is found.
    guard_formulas : bool, default=False
        Whether labels in the file for the predictions are guarded for spreadsheets, as by `write_table`. A
        run that is resumed writes as it began.

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
        sep: str | None = None,
        decimal: str | None = None,
        encoding: str | None = None,
        guard_formulas: bool = False,
    ) -> None:
        self._path, self._output_path = path, output
        self._check_different(checkpoint)
        self.n_read = self.n_unlabeled = 0
        self.is_busy = self._is_stopped = False
        self._first: Batch = {}
        self._hash = hashlib.sha256()
        self._output: PredictionsFile | None = None
        self._guard_formulas = guard_formulas
        with ExitStack() as stack:
            self._source: StreamSource = stack.enter_context(
                open_stream(Path(path), sep=sep, encoding=encoding)
            )
            self.name = self._source.name
            if checkpoint is not None:
                self._resume(checkpoint, target)
            else:
                if target is None:
                    raise ValueError("Name the column with the labels: the target.")
                first = self._source.read(N_FIRST_ROWS)
                if self._source.is_interrupted and not length(first):
                    raise KeyboardInterrupt
                self.columns = StreamColumns.from_rows(
                    first, target, drop=drop, kinds=kinds, decimal=decimal, table=self.name
                )
                if self._source.is_interrupted:
                    warnings.warn(
                        f"Interrupted after {length(first)} rows: it was decided from them what columns have,"
                        f" not from the first {N_FIRST_ROWS}.",
                        TableWarning,
                        stacklevel=2,
                    )
                self._first = first
                self.estimator = _default_estimator() if estimator is None else estimator
                self.evaluation = PrequentialEvaluation(window_size=evaluation_window)
                self._output = None
                if output is not None:
                    self._output = PredictionsFile(output, guard_formulas=guard_formulas)
            if self._output is not None:
                stack.callback(self._output.close)
            self._open_files = stack.pop_all()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._open_files.close()

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
            If `stop` was called, or it was raised while rows were waited for; the rows that had come are
            learned first.
        """
        while True:
            n_rows = self._source.batch_rows
            batch = self._read(n_rows if every is None else min(n_rows, every - self.n_read % every))
            if not length(batch):
                if self._source.is_interrupted:
                    raise KeyboardInterrupt
                return
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
            # Only the last part of what was read at once is a place to continue from.
            is_end = batch.first_row + len(batch.labels) == self.evaluation.n_rows
            if is_end and self.n_read // every > saved // every:
                save_checkpoint()
                saved = self.n_read
        if self.evaluation.n_rows and self.n_read > saved:
            save_checkpoint()

    def stop(self) -> None:
        """Raise KeyboardInterrupt as soon as the batch that is being learned is complete."""
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
            If nothing has been learned yet, or a batch is not complete.
        """
        self._check_different(path)
        if self.is_busy:
            raise ValueError("There is nothing to save: a batch was interrupted before it was complete.")
        if not self.evaluation.n_rows:
            raise ValueError("There is nothing to save: no row has been learned.")
        progress = {
            "kind": KIND,
            "columns": self.columns.to_dict(),
            "evaluation": self.evaluation.to_dict(),
            "n_read": self.n_read,
            "n_unlabeled": self.n_unlabeled,
            "digest": self._hash.hexdigest(),
            "output_bytes": None if self._output is None else self._output.flush(),
            "output_digest": None if self._output is None else self._output.digest,
            "guard_formulas": self._guard_formulas,
        }
        save(self.estimator, path, progress=progress)

    def _read(self, n_rows: int) -> Batch:
        """Return the next rows, at most so many, those from which columns were inferred first."""
        if not length(self._first):
            return self._source.read(n_rows)
        batch, self._first = split(self._first, n_rows)
        return batch

    def _learn(self, batch: Batch) -> list[StreamBatch]:
        """Predict and learn the rows that have a label; the state is complete before and after."""
        labels = self.columns.labels(batch, self.name)
        has_label = np.array([label is not None for label in labels])
        X = self.columns.rows(batch, self.n_read, self.name)[has_label]
        y = np.array(labels[has_label].tolist(), dtype=str)
        rows = self.n_read + np.flatnonzero(has_label)
        self.is_busy = True
        found: list[StreamBatch] = []
        if len(rows):
            found += iter_prequential(self.estimator, X, y, evaluation=self.evaluation)
        start = 0
        for part in found if self._output is not None else []:
            assert self._output is not None
            self._output.add(part, rows[start : start + len(part.labels)])
            start += len(part.labels)
        self.n_read += len(labels)
        self.n_unlabeled += int(np.sum(~has_label))
        self._hash.update(row_bytes(batch))
        self.is_busy = False  # not after an error: the state is then that of a part of the batch
        return found

    def _check_different(self, checkpoint: str | os.PathLike[str] | None) -> None:
        """Raise ValueError if the table would be overwritten, or two files that are written are the same."""
        table = [] if str(self._path) == STANDARD_INPUT else [self._path]
        check_different(table, [path for path in (self._output_path, checkpoint) if path is not None])

    def _resume(self, path: str | os.PathLike[str], target: str | None) -> None:
        """Restore a checkpoint, and read the rows that it has seen once more."""
        output = self._output_path
        file = read_model_file(path)
        self.estimator, progress = file.model, file.progress
        state = check_progress(progress, path)
        self.columns = StreamColumns.from_dict(state["columns"])
        if target not in (None, self.columns.target):
            raise ValueError(f"The target of the run of {path} is {self.columns.target!r}, not {target!r}.")
        self.evaluation = PrequentialEvaluation.from_dict(state["evaluation"])
        if (output is None) != (state["output_bytes"] is None):
            was = "without" if state["output_bytes"] is None else "with"
            raise ValueError(f"The run of {path} was started {was} a file for predictions; resume it so.")
        self._skip(state["n_read"], state["digest"], path)
        self.n_unlabeled = state["n_unlabeled"]
        self._guard_formulas = state["guard_formulas"]
        if output is not None:
            self._output = PredictionsFile(
                output,
                state["output_bytes"],
                state["output_digest"],
                guard_formulas=self._guard_formulas,
            )

    def _skip(self, n_rows: int, digest: str, path: str | os.PathLike[str]) -> None:
        while self.n_read < n_rows:
            batch = self._source.read(min(n_rows - self.n_read, SKIPPED_AT_ONCE))
            if self._source.is_interrupted:
                raise KeyboardInterrupt
            if not length(batch):
                raise ValueError(
                    f"{self.name} has {self.n_read} rows, but the checkpoint {path} was made after {n_rows}."
                )
            self._hash.update(row_bytes(batch))
            self.n_read += length(batch)
        if self._hash.hexdigest() != digest:
            raise ValueError(
                f"The first {n_rows} rows of {self.name} are not those of the checkpoint {path}."
            )


def check_progress(progress: Any, path: str | os.PathLike[str]) -> dict[str, Any]:
    """Return the progress of a checkpoint; raise ValueError if it is not one of a run over a stream."""
    if not isinstance(progress, dict) or progress.get("kind") != KIND:
        raise ValueError(f"{path} is not a checkpoint of a run over a stream.")
    counts = [progress.get(name) for name in ("n_read", "n_unlabeled", "output_bytes")]
    is_valid = (
        set(progress) == PROGRESS
        and all(type(count) is int and count >= 0 for count in counts[:2])
        and (counts[2] is None or (type(counts[2]) is int and counts[2] >= 0))
        and isinstance(progress["digest"], str)
        and isinstance(progress["guard_formulas"], bool)
        and isinstance(progress["output_digest"], type(None) if counts[2] is None else str)
    )
    if not is_valid:
        raise ValueError(f"The checkpoint {path} is damaged.")
    return progress


def _default_estimator() -> Any:
    from lann.streams import SAMLANN

    return SAMLANN(random_state=0)
