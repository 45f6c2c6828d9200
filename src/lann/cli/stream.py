"""`lann stream`: predict, score and learn the rows of a table, one after the other."""

from __future__ import annotations

import signal
import threading
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann.cli import INTERRUPTED
from lann.cli.consoles import collected_notes, note, results
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    SEED_HELP,
    Categorical,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Numeric,
    Sep,
    SpreadsheetSafe,
    column_kinds,
    table_name,
)

if TYPE_CHECKING:
    from collections.abc import Iterator

    from rich.console import Console

    from lann.cli.show_stream import StreamView
    from lann.streams import PrequentialScores
    from lann.tables import StreamRun


class Model(StrEnum):
    """The classifiers for streams."""

    samlann = "samlann"
    samknn = "samknn"


@one_sentence
def stream(
    data: Annotated[
        Path,
        typer.Argument(
            help="The table, in order of time: .csv, .tsv, .txt, .csv.gz or .parquet; - is standard input.",
            show_default=False,
        ),
    ],
    target: Annotated[
        str | None,
        typer.Option("--target", "-t", metavar="COLUMN", help="The column with the labels."),
    ] = None,
    model: Annotated[
        Model, typer.Option(help="With learned metrics (samlann), or with the features as they are (samknn).")
    ] = Model.samlann,
    window: Annotated[
        int, typer.Option(metavar="ROWS", help="Number of rows that the memories have, at most.")
    ] = 5000,
    neighbors: Annotated[int, typer.Option("--neighbors", "-k", help="Number of neighbors.")] = 5,
    checkpoint: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A file to save the state to, from which --resume continues."),
    ] = None,
    every: Annotated[
        int,
        typer.Option(
            metavar="ROWS",
            help="Rows between checkpoints, and between lines of progress; so many are read at once at most.",
        ),
    ] = 10_000,
    resume: Annotated[bool, typer.Option("--resume", help="Continue after the checkpoint.")] = False,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="A .csv file for the prediction of every row."),
    ] = None,
    picture: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A picture of the accuracy along the stream: .png, .pdf or .svg."),
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    dates: Dates = None,
    seed: Annotated[int, typer.Option(help=SEED_HELP)] = 0,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Predict every row of a stream before it is learned, and score the predictions.

    The rows are read in batches, so that the table may be larger than memory or never end. The classifier
    keeps a short-term memory, which it makes smaller when the data change, and a long-term memory of older
    rows that still agree with it.

    Ctrl-C saves the checkpoint and the picture of what was seen; rows that have come are learned first.
    """
    from lann.cli.show_stream import StreamView
    from lann.tables import StreamRun

    _check_files(checkpoint, output, picture, resume=resume, target=target, every=every)
    console = results(quiet=json)
    if str(data) == "-" and not resume:
        console.print("Waiting for the first rows, which show what the columns have", soft_wrap=True)
        console.file.flush()
    try:
        with collected_notes() as notes:
            run = StreamRun(
                data,
                target,
                None if resume else _make_model(model, window, neighbors, seed),
                checkpoint=checkpoint if resume else None,
                output=output,
                drop=drop or (),
                kinds=column_kinds(categorical, numeric, dates),
                sep=sep,
                decimal=decimal,
                encoding=encoding,
                guard_formulas=spreadsheet_safe,
            )
    except KeyboardInterrupt as error:
        typer.echo("Interrupted before a row was learned; nothing was saved.", err=True)
        raise typer.Exit(INTERRUPTED) from error
    for text in notes:
        note(text, console)
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
    for text in _notes(run, picture):
        notes.append(text)
        note(text, console)
    files = _finish(run, console, checkpoint=checkpoint, output=output, picture=picture)
    if json:
        print_document(_document(run, view, data, files, notes, is_interrupted=is_interrupted))
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
    from lann._files import check_writable

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


def _make_model(model: Model, window: int, neighbors: int, seed: int) -> Any:
    import lann.streams

    kind = lann.streams.SAMLANN if model is Model.samlann else lann.streams.SAMKNN
    return kind(neighbors, window_size=window, random_state=seed)


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

    from lann._files import write_atomically
    from lann.plot import StreamDisplay

    with mpl.rc_context({"backend": "agg"}):
        display = StreamDisplay.from_evaluation(
            run.evaluation, name=type(run.estimator).__name__, data_name=table_name(Path(run.name))
        )
        content = io.BytesIO()
        display.figure_.savefig(content, format=picture.suffix[1:].lower(), dpi=150)
    write_atomically(picture, content.getvalue())


def _document(
    run: StreamRun,
    view: StreamView,
    data: Path,
    files: list[Path],
    notes: list[str],
    *,
    is_interrupted: bool,
) -> dict[str, Any]:
    evaluation = run.evaluation
    return {
        "table": table_name(data),
        "target": run.columns.target,
        "model": type(run.estimator).__name__,
        "n_rows": evaluation.n_rows,
        "n_rows_without_label": run.n_unlabeled,
        "rows_per_second": view.rows_per_second,
        "scores": _scores(evaluation.scores),
        "last_rows": _scores(evaluation.window_scores),
        "n_drifts": evaluation.n_drifts,
        "drifts": evaluation.drifts,
        "curve": {name: values.tolist() for name, values in evaluation.curve._asdict().items()},
        "interrupted": is_interrupted,
        "files": files,
        "notes": notes,
    }


def _scores(scores: PrequentialScores) -> dict[str, Any]:
    """Return the scores as JSON has them: null if there is no row to score."""
    values = scores._asdict()
    return values if scores.n_rows else dict.fromkeys(values) | {"n_rows": 0}
