"""`lann stream`: predict, score and learn the rows of a table, one after the other."""

from __future__ import annotations

import signal
import threading
import time
from collections.abc import Iterator, Sequence
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._support.format import counted, percent
from lann.cli import INTERRUPTED
from lann.cli import options as opt
from lann.cli.output import collected_notes, make_table, print_document, results, show_notes

if TYPE_CHECKING:
    from rich.console import Console, Group

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
Target = Annotated[str | None, opt.column_option("The column with the labels.", "--target", "-t")]
Model = Annotated[
    StreamModel,
    typer.Option(help="With learned metrics (samlann), or with the features as they are (samknn)."),
]
Window = Annotated[int, typer.Option(metavar="ROWS", help="Number of rows that the memories have, at most.")]
Neighbors = Annotated[int, typer.Option("--neighbors", "-k", help="Number of neighbors.")]
Checkpoint = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file to save the state to, from which --resume continues."),
]
Every = Annotated[
    int,
    typer.Option(
        metavar="ROWS",
        help="Rows between checkpoints, and between lines of progress; the most rows that are read at once.",
    ),
]
Resume = Annotated[bool, typer.Option("--resume", help="Continue after the checkpoint.")]
Picture = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A picture of the accuracy along the stream: .png, .pdf or .svg."),
]


def stream(
    data: StreamFile,
    target: Target = None,
    model: Model = StreamModel.samlann,
    window: Window = 5000,
    neighbors: Neighbors = 5,
    checkpoint: Checkpoint = None,
    every: Every = 10_000,
    resume: Resume = False,
    output: Annotated[Path | None, opt.output_option("A .csv file for the prediction of every row.")] = None,
    picture: Picture = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    numeric: opt.Numeric = None,
    dates: opt.Dates = None,
    seed: opt.Seed = 0,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
) -> None:
    """Predict every row of a stream before it is learned, and score the predictions.

    The rows are read in batches, so that the table may be larger than memory or never end. The classifier
    keeps a short-term memory, which it makes smaller when the data change, and a long-term memory of older
    rows that still agree with it.

    Ctrl-C saves the checkpoint and the picture of what was seen; rows that have come are learned first.
    """
    import lann.streams
    from lann.tables import StreamRun

    _check_files(checkpoint, output, picture, resume=resume, target=target, every=every)
    console = results(quiet=json)
    if str(data) == "-" and not resume:
        console.print("Waiting for the first rows, which show what the columns hold", soft_wrap=True)
        console.file.flush()
    kind = lann.streams.SAMLANN if model is StreamModel.samlann else lann.streams.SAMKNN
    try:
        with collected_notes() as notes:
            run = StreamRun(
                data, target, None if resume else kind(neighbors, window_size=window, random_state=seed),
                checkpoint=checkpoint if resume else None, output=output, drop=drop or (),
                kinds=opt.column_kinds(categorical, numeric, dates), sep=sep, decimal=decimal,
                encoding=encoding, guard_formulas=spreadsheet_safe,
            )  # fmt: skip
    except KeyboardInterrupt as error:
        typer.echo("Interrupted before a row was learned; nothing was saved.", err=True)
        raise typer.Exit(INTERRUPTED) from error
    show_notes(notes, console)
    is_interrupted = False
    with run, StreamView(run, console, every) as view:
        try:
            with _GentleInterrupts(run):
                run.run(
                    checkpoint=checkpoint,
                    every=every,
                    on_batch=view.on_batch,
                    on_checkpoint=view.on_checkpoint,
                )
        except KeyboardInterrupt:
            is_interrupted = True
            if checkpoint is not None and run.evaluation.n_rows and not run.is_busy:
                run.save(checkpoint)
    console.print(view.table())
    found = list(_notes(run, picture))
    show_notes(found, console)
    files = _finish(run, console, checkpoint=checkpoint, output=output, picture=picture)
    if json:
        document = _document(run, opt.table_name(data), view.rows_per_second)
        print_document(document | {"interrupted": is_interrupted, "files": files, "notes": notes + found})
    if is_interrupted:
        if checkpoint is not None and run.evaluation.n_rows and not run.is_busy:
            console.print("Interrupted. The same command with --resume continues.", soft_wrap=True)
        raise typer.Exit(INTERRUPTED)


def _check_files(
    checkpoint: Path | None,
    output: Path | None,
    picture: Path | None,
    *,
    resume: bool,
    target: str | None,
    every: int,
) -> None:
    """Raise an error before any work if a file cannot be written, or options do not fit."""
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
        if picture.suffix.lower() not in (".png", ".pdf", ".svg"):
            raise ValueError(f"--picture must be a .png, .pdf or .svg file; got {picture}.")
    for path in (checkpoint, output, picture):
        if path is not None:
            check_writable(path)


class _GentleInterrupts:
    """Lets Ctrl-C wait until the rows that are being learned are complete; the second one does not wait."""

    def __init__(self, run: StreamRun) -> None:
        self.run, self.n_received = run, 0
        self._before: Any = None

    def __enter__(self) -> None:
        if threading.current_thread() is threading.main_thread():  # signals arrive there only
            self._before = signal.signal(signal.SIGINT, self._interrupt)

    def __exit__(self, *error: object) -> None:
        if self._before is not None:
            signal.signal(signal.SIGINT, self._before)

    def _interrupt(self, *_: object) -> None:
        self.n_received += 1
        if not self.run.is_busy or self.n_received > 1:
            raise KeyboardInterrupt
        self.run.stop()


def _notes(run: StreamRun, picture: Path | None) -> Iterator[str]:
    """Yield what must be known of the rows that were read."""
    if not run.evaluation.n_rows:
        left_out = "there are no scores" if picture is None else "there are no scores and no picture"
        subject = f"none of {run.n_read:,} rows has a label" if run.n_read else "no row was read"
        yield f"{subject[0].upper()}{subject[1:]}; {left_out}."
    elif run.n_unlabeled:
        yield f"{run.n_unlabeled:,} of {run.n_read:,} rows have no label; they were left out."


def _finish(
    run: StreamRun,
    console: Console,
    *,
    checkpoint: Path | None,
    output: Path | None,
    picture: Path | None,
) -> list[Path]:
    """Draw the picture, and return the files that were written."""
    files = [] if output is None else [output]
    if checkpoint is not None and run.evaluation.n_rows and checkpoint.exists():
        files.append(checkpoint)
    if picture is not None and run.evaluation.n_rows:
        _draw(run, picture)
        files.append(picture)
    for path in files:
        console.print(f"Wrote {path}", soft_wrap=True)
    return files


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


def _document(run: StreamRun, name: str, rows_per_second: float | None) -> dict[str, Any]:
    def scores(found: PrequentialScores) -> dict[str, Any]:
        """Return the scores; None if there is no row to score."""
        values = found._asdict()
        return values if found.n_rows else dict.fromkeys(values) | {"n_rows": 0}

    evaluation = run.evaluation
    return {
        "table": name,
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

    In a terminal it is a view that is drawn again and again; elsewhere it is a line every so many rows.

    Parameters
    ----------
    run : StreamRun
    console : Console
        For results.
    every : int
        Number of rows between lines.
    """

    def __init__(self, run: StreamRun, console: Console, every: int) -> None:
        self.run, self.console, self.every = run, console, every
        self._start, self._first_row = 0.0, 0
        self._last_line = run.evaluation.n_rows // every
        self._last_view = 0.0
        self._live: Any = None

    def __enter__(self) -> StreamView:
        if self.console.is_terminal and not self.console.quiet:
            from rich.live import Live

            self._live = Live(
                self.table(), console=self.console, auto_refresh=False, transient=True
            ).__enter__()
        return self

    def __exit__(self, *error: object) -> None:
        if self._live is not None:
            self._live.__exit__(None, None, None)

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
            self.console.print(
                f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)} "
                f"({percent(window.accuracy, 1)} now), kappa-temporal {scores.kappa_temporal:.3f}, log-loss "
                f"{scores.log_loss:.3f}, {counted(evaluation.n_drifts, 'drift')}{self._rate()}",
                soft_wrap=True,
            )

    def on_checkpoint(self) -> None:
        """Say that a checkpoint was saved, where there is no live view."""
        if self._live is None:
            self.console.print(f"Checkpoint after {counted(self.run.n_read, 'row')}", soft_wrap=True)
            self.console.file.flush()

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
