"""`lann stream`: predict, score and learn the rows of a table, one after the other."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._support.format import counted, percent
from lann.cli import INTERRUPTED
from lann.cli import options as opt
from lann.cli.output import Output, make_table

if TYPE_CHECKING:
    from rich.console import Group

    from lann.streams import PrequentialScores, StreamBatch
    from lann.tables import StreamRun

SCORES = {
    "accuracy": "accuracy",
    "no_change_accuracy": "… of the label before",
    "majority_accuracy": "… of the most frequent label",
    "kappa": "kappa",
    "kappa_temporal": "kappa-temporal",
    "log_loss": "log-loss",
}
PICTURES = (".png", ".pdf", ".svg")
BLOCKS = "▁▂▃▄▅▆▇█"
N_BLOCKS = 40
N_DRIFTS = 5
SECONDS_BETWEEN_VIEWS = 0.25


class StreamModel(StrEnum):
    """The classifiers for streams."""

    samlann = "samlann"
    samknn = "samknn"


StreamFile = Annotated[
    Path,
    opt.file_argument(
        "The table, in order of time: .csv, .tsv, .txt, .csv.gz or .parquet; - is standard input."
    ),
]
Target = Annotated[opt.Text, opt.column_option("The column with the labels.", "--target", "-t")]
Model = Annotated[
    StreamModel,
    opt.option("With learned metrics (samlann), or with the features as they are (samknn)."),
]
Window = Annotated[int, opt.option("Number of rows that the memories have, at most.", metavar="ROWS")]
Neighbors = Annotated[int, opt.option("Number of neighbors.", "--neighbors", "-k")]
Checkpoint = Annotated[
    opt.File,
    opt.option("A file to save the state to, from which --resume continues.", metavar="FILE"),
]
Every = Annotated[
    int,
    opt.option(
        "Rows between checkpoints, and between lines of progress; the most rows that are read at once.",
        metavar="ROWS",
    ),
]
Resume = Annotated[bool, opt.option("Continue after the checkpoint.", "--resume")]
OutputFile = Annotated[opt.File, opt.output_option("A .csv file for the prediction of every row.")]
Picture = Annotated[
    opt.File,
    opt.option("A picture of the accuracy along the stream: .png, .pdf or .svg.", metavar="FILE"),
]


def stream(
    data: StreamFile,
    *,
    target: Target = None,
    model: Model = StreamModel.samlann,
    window: Window = 5000,
    neighbors: Neighbors = 5,
    checkpoint: Checkpoint = None,
    every: Every = 10_000,
    resume: Resume = False,
    output: OutputFile = None,
    picture: Picture = None,
    used: opt.ColumnOptions,
    seed: opt.Seed = 0,
    json: opt.AsJson = False,
    text: opt.TextOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
) -> None:
    """Predict every row of a stream before it is learned, and score the predictions.

    The rows are read in batches, so that the table may be larger than memory or never end. The classifier
    keeps a short-term memory, which it makes smaller when the data change, and a long-term memory of older
    rows that still agree with it.

    Ctrl-C saves the checkpoint and the picture of what was seen.
    """
    import lann.streams
    from lann.tables import StreamRun

    _check_options(target, checkpoint, every, resume, output, picture)
    out = Output(json)
    if str(data) == "-" and not resume:
        out.print("Waiting for the first rows, which show what the columns hold")
        out.console.file.flush()
    kind = lann.streams.SAMLANN if model is StreamModel.samlann else lann.streams.SAMKNN
    try:
        with out.collected_notes():
            run = StreamRun(
                data, target, None if resume else kind(neighbors, window_size=window, random_state=seed),
                checkpoint=checkpoint if resume else None, output=output, drop=used.drop or (),
                kinds=used.kinds, sep=text.sep, decimal=text.decimal, encoding=text.encoding,
                guard_formulas=spreadsheet_safe,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        typer.echo("Interrupted before a row was learned; nothing was saved.", err=True)
        raise typer.Exit(INTERRUPTED) from error
    out.show_notes()
    is_interrupted = False
    with run, StreamView(run, out, every) as view:
        try:
            with _gentle_interrupts(run):
                run.run(
                    checkpoint=checkpoint,
                    every=every,
                    on_batch=view.on_batch,
                    on_checkpoint=view.on_checkpoint,
                )
        except KeyboardInterrupt:
            is_interrupted = True
            if can_continue := checkpoint is not None and run.evaluation.n_rows and not run.is_busy:
                run.save(checkpoint)
    out.print(view.table())
    _finish(run, out, checkpoint=checkpoint, output=output, picture=picture)
    out.finish(lambda: {**_document(run, data, view.rows_per_second), "interrupted": is_interrupted})
    if is_interrupted:
        if can_continue:
            out.print("Interrupted. The same command with --resume continues.")
        raise typer.Exit(INTERRUPTED)


def _check_options(
    target: str | None,
    checkpoint: Path | None,
    every: int,
    resume: bool,
    output: Path | None,
    picture: Path | None,
) -> None:
    """Raise an error before any work if options are missing, or a file cannot be written."""
    from lann._support.files import check_writable

    if resume and checkpoint is None:
        raise ValueError("--resume needs the checkpoint: --checkpoint FILE.")
    if not resume and target is None:
        raise ValueError("Name the column with the labels: --target COLUMN.")
    if every < 1:
        raise ValueError(f"--every must be at least 1; got {every}.")
    if output is not None and output.suffix.lower() != ".csv":
        raise ValueError(f"--output must be a .csv file; got {output}.")
    if picture is not None:
        from lann.plot import check_matplotlib_support

        check_matplotlib_support()
        if picture.suffix.lower() not in PICTURES:
            raise ValueError(f"--picture must be a .png, .pdf or .svg file; got {picture}.")
    for path in (checkpoint, output, picture):
        if path is not None:
            check_writable(path)


@contextmanager
def _gentle_interrupts(run: StreamRun) -> Iterator[None]:
    """Let Ctrl-C wait until the rows that are being learned are complete; the second one does not wait."""
    n_received = 0

    def interrupt(*_: object) -> None:
        nonlocal n_received
        n_received += 1
        if not run.is_busy or n_received > 1:
            raise KeyboardInterrupt
        run.stop()

    if threading.current_thread() is not threading.main_thread():  # which signals arrive in
        yield
        return
    before = signal.signal(signal.SIGINT, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, before)


def _finish(
    run: StreamRun, out: Output, *, checkpoint: Path | None, output: Path | None, picture: Path | None
) -> None:
    """Draw the picture, name the files that were written, and note rows without a label."""
    n_rows, left_out = run.evaluation.n_rows, "there are no scores"
    if not n_rows:
        left_out += "" if picture is None else " and no picture"
        subject = f"None of {run.n_read:,} rows has a label" if run.n_read else "No row was read"
        out.notes.append(f"{subject}; {left_out}.")
    elif run.n_unlabeled:
        out.notes.append(f"{run.n_unlabeled:,} of {run.n_read:,} rows have no label; they were left out.")
    out.show_notes()
    if output is not None:
        out.wrote(output)
    if checkpoint is not None and n_rows and checkpoint.exists():
        out.wrote(checkpoint)
    if picture is not None and n_rows:
        _draw(run, picture)
        out.wrote(picture)


def _draw(run: StreamRun, picture: Path) -> None:
    import io

    import matplotlib as mpl

    from lann._support.files import write_atomically
    from lann.plot import StreamDisplay

    with mpl.rc_context({"backend": "agg"}):
        display = StreamDisplay.from_evaluation(
            run.evaluation, name=type(run.estimator).__name__, data_name=opt.table_name(Path(run.name))
        )
        content = io.BytesIO()
        display.figure_.savefig(content, format=picture.suffix[1:].lower(), dpi=150)
    write_atomically(picture, content.getvalue())


def _document(run: StreamRun, data: Path, rows_per_second: float | None) -> dict[str, Any]:
    def scores(found: PrequentialScores) -> dict[str, Any]:
        """Return the scores; None if there is no row to score."""
        values = found._asdict()
        return values if found.n_rows else dict.fromkeys(values) | {"n_rows": 0}

    evaluation = run.evaluation
    return {
        "table": opt.table_name(data),
        "target": run.columns.target,
        "model": type(run.estimator).__name__,
        "n_rows": evaluation.n_rows,
        "n_rows_without_label": run.n_unlabeled,
        "rows_per_second": rows_per_second,
        "scores": scores(evaluation.scores),
        "last_rows": scores(evaluation.window_scores),
        "n_drifts": evaluation.n_drifts,
        "drifts": evaluation.drifts,
        "curve": evaluation.curve,
    }


class StreamView:
    """Shows how far a run is.

    In a terminal it is a view that is drawn again and again; elsewhere it is a line every `every` rows.

    Parameters
    ----------
    run : StreamRun
    out : Output
    every : int
        Number of rows between lines.
    """

    def __init__(self, run: StreamRun, out: Output, every: int) -> None:
        self.run, self.out, self.every = run, out, every
        self._start, self._first_row = 0.0, 0
        self._last_line, self._last_view = run.evaluation.n_rows // every, 0.0
        self._live: Any = None

    def __enter__(self) -> StreamView:
        console = self.out.console
        if console.is_terminal and not console.quiet:
            from rich.live import Live

            self._live = Live(self.table(), console=console, auto_refresh=False, transient=True)
            self._live.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.stop()

    @property
    def rows_per_second(self) -> float | None:
        """Rows after the first batch of this process, which compiles kernels; None if there are none."""
        n_rows = self.run.evaluation.n_rows - self._first_row
        return n_rows / max(time.perf_counter() - self._start, 1e-9) if self._start and n_rows else None

    def on_batch(self, batch: StreamBatch) -> None:
        """Show the progress, if it is time to."""
        evaluation = self.run.evaluation
        if not self._start:
            self._start, self._first_row = time.perf_counter(), evaluation.n_rows
        if self._live is not None:
            now = time.perf_counter()
            if now - self._last_view >= SECONDS_BETWEEN_VIEWS:
                self._last_view = now
                self._live.update(self.table(), refresh=True)
        elif evaluation.n_rows // self.every > self._last_line:
            self._last_line = evaluation.n_rows // self.every
            scores, window = evaluation.scores, evaluation.window_scores
            self.out.print(
                f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)} "
                f"({percent(window.accuracy, 1)} now), kappa-temporal {scores.kappa_temporal:.3f}, log-loss "
                f"{scores.log_loss:.3f}, {counted(evaluation.n_drifts, 'drift')}{self._rate()}"
            )

    def on_checkpoint(self) -> None:
        """Say that a checkpoint was saved, where there is no live view."""
        if self._live is None:
            self.out.print(f"Checkpoint after {counted(self.run.n_read, 'row')}")
            self.out.console.file.flush()

    def _rate(self) -> str:
        rate = self.rows_per_second
        return "" if rate is None else f", {rate:,.0f} rows/s"

    def table(self) -> Group:
        """Return the scores over all rows and over the last ones, the sizes of the memories, and drifts."""
        from rich.console import Group
        from rich.text import Text

        evaluation = self.run.evaluation
        scores, window = evaluation.scores, evaluation.window_scores
        lines = []
        for field, name in SCORES.items():
            values = [getattr(one, field) for one in (scores, window)]
            if not scores.n_rows:
                lines.append([name, "–", "–"])
            elif "accuracy" in field:
                lines.append([name, *(percent(value, 1) for value in values)])
            else:
                lines.append([name, *(f"{value:.3f}" for value in values)])
        columns = ["", ">all rows", f">last {window.n_rows:,}"]
        table = make_table(columns, lines, title=f"{scores.n_rows:,} rows{self._rate()}")
        return Group(table, *(Text(line) for line in self._lines()))

    def _lines(self) -> Iterator[str]:
        """Yield the lines below the table: accuracy over time, memories, drifts."""
        curve, drifts = self.run.evaluation.curve, self.run.evaluation.drifts
        if not len(curve.rows):
            return
        accuracies = curve.accuracy.tolist()
        low, high = percent(min(accuracies), 0), percent(max(accuracies), 0)
        yield f"Accuracy over time, from {low} to {high}: {sparkline(accuracies)}"
        short, long = curve.short_term_size[-1], curve.long_term_size[-1]
        if short == short:  # not NaN
            yield f"Rows in memory: {short:,.0f} short-term, {long:,.0f} long-term"
        if self.run.evaluation.n_drifts:
            recent = ", ".join(f"{row:,}" for row in drifts[-N_DRIFTS:])
            yield f"{counted(self.run.evaluation.n_drifts, 'drift')}, the last at {recent}"


def sparkline(values: Sequence[float], n_blocks: int = N_BLOCKS) -> str:
    """Return a line of blocks, from the lowest to the highest of the values.

    >>> sparkline([0.0, 0.5, 1.0])
    '▁▅█'
    """
    if not values:
        return ""
    step = max(-(-len(values) // n_blocks), 1)
    means = [sum(values[i : i + step]) / len(values[i : i + step]) for i in range(0, len(values), step)]
    low, high = min(means), max(means)
    if high - low < 1e-12:
        return BLOCKS[-1] * len(means)
    return "".join(BLOCKS[round((len(BLOCKS) - 1) * (mean - low) / (high - low))] for mean in means)
