"""`lann stream`: predict, score and learn the rows of a table, one after the other."""

from __future__ import annotations

import signal
import time
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._support.files import atomic_file, check_writable
from lann._support.format import NO_FIGURE, counted, percent
from lann.cli import INTERRUPTED
from lann.cli import options as opt
from lann.cli.output import Output, make_table

if TYPE_CHECKING:
    from lann.streams import PrequentialEvaluation, PrequentialScores, StreamBatch
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
# Alarms that are listed.
N_ALARMS = 5


StreamModel = StrEnum("StreamModel", ["samlann", "samknn"])
StreamFile = Annotated[
    Path,
    opt.file_argument(
        "The table, in order of time: .csv, .tsv, .txt, .csv.gz or .parquet; - is standard input."
    ),
]
Target = Annotated[opt.Text, opt.column_option("The column with the labels.", "--target", "-t")]
Model = Annotated[
    StreamModel, opt.option("With learned metrics (samlann), or with the features as they are (samknn).")
]
Window = Annotated[int, opt.option("Number of rows that the memories have, at most.", metavar="ROWS")]
Neighbors = Annotated[int, opt.option("Number of neighbors.", "--neighbors", "-k")]
Checkpoint = Annotated[
    opt.File, opt.option("A file to save the state to, from which --resume continues.", metavar="FILE")
]
Every = Annotated[
    int,
    opt.at_least(
        1, "Rows between checkpoints, and between lines of progress; the most rows that are read at once."
    ),
]
Resume = Annotated[bool, opt.option("Continue after the checkpoint.", "--resume")]
OutputFile = Annotated[opt.File, opt.output_option("A .csv file for the prediction of every row.")]
Picture = Annotated[
    opt.File, opt.option("A picture of the accuracy along the stream: .png, .pdf or .svg.", metavar="FILE")
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
    keeps a short-term memory, which it makes smaller where fewer rows predict better, and a long-term memory
    of older rows that still agree with it. An alarm says that predictions are wrong more often than before:
    at most once in 50,000 rows on the mean if that is not true.

    Ctrl-C saves the checkpoint and the picture of what was seen.
    """
    import lann.streams
    from lann.tables import StreamRun

    if not resume and target is None:
        raise ValueError("Name the column with the labels: --target COLUMN.")
    _check_files(checkpoint, resume, output, picture)
    out = Output(json)
    kind = lann.streams.SAMLANN if model is StreamModel.samlann else lann.streams.SAMKNN
    with out.progress() as step:
        step("Waiting for the first rows, which show what the columns hold")
        run = StreamRun(
            data, target, None if resume else kind(neighbors, window_size=window, random_state=seed),
            checkpoint=checkpoint if resume else None, output=output, drop=used.drop or (),
            kinds=used.kinds, guard_formulas=spreadsheet_safe, **asdict(text),
        )  # fmt: skip
    out.show_notes()
    start, n_before, is_interrupted = time.perf_counter(), run.evaluation.n_rows, False
    n_lines = n_before // every

    def rows_per_second() -> float:
        return (run.evaluation.n_rows - n_before) / max(time.perf_counter() - start, 1e-9)

    def show_scores(batch: StreamBatch) -> None:
        nonlocal n_lines
        line = _scores_line(run.evaluation, rows_per_second())
        step(line)
        if run.evaluation.n_rows // every > n_lines:
            n_lines = run.evaluation.n_rows // every
            out.print(line)

    def show_checkpoint() -> None:
        out.print(f"Checkpoint after {counted(run.n_read, 'row')}")
        out.console.file.flush()

    # The first Ctrl-C waits until the rows that are being learned are complete.
    before = signal.signal(signal.SIGINT, lambda *_: run.stop())
    with run, out.progress() as step:
        try:
            run.run(checkpoint=checkpoint, every=every, on_batch=show_scores, on_checkpoint=show_checkpoint)
        except KeyboardInterrupt:
            is_interrupted = True
            if can_continue := checkpoint is not None and run.evaluation.n_rows and not run.is_busy:
                run.save(checkpoint)
        finally:
            signal.signal(signal.SIGINT, before)
    evaluation, n_rows = run.evaluation, run.evaluation.n_rows
    _show_scores(evaluation, rows_per_second(), out)
    _note_rows_without_label(run, picture is not None, out)
    if picture is not None and n_rows:
        _draw(run, picture)
    for path in (output, checkpoint, picture):
        if path is not None and (path == output or (n_rows and path.exists())):
            out.wrote(path)
    speed = rows_per_second()
    out.finish(
        table=opt.table_name(data), **_document(run), rows_per_second=speed, interrupted=is_interrupted
    )
    if is_interrupted:
        if can_continue:
            out.print("Interrupted. The same command with --resume continues.")
        raise typer.Exit(INTERRUPTED)


def _note_rows_without_label(run: StreamRun, has_picture: bool, out: Output) -> None:
    if not run.evaluation.n_rows:
        left_out = "there are no scores" + (" and no picture" if has_picture else "")
        subject = f"None of {run.n_read:,} rows has a label" if run.n_read else "No row was read"
        out.notes.append(f"{subject}; {left_out}.")
    elif run.n_unlabeled:
        out.notes.append(f"{run.n_unlabeled:,} of {run.n_read:,} rows have no label; they were left out.")
    out.show_notes()


def _document(run: StreamRun) -> dict[str, Any]:
    """Return what is known after the rows that were read."""
    evaluation = run.evaluation
    return {
        "target": run.columns.target,
        "model": type(run.estimator).__name__,
        "n_rows": evaluation.n_rows,
        "n_rows_without_label": run.n_unlabeled,
        "scores": _known(evaluation.scores),
        "last_rows": _known(evaluation.window_scores),
        "n_alarms": evaluation.n_alarms,
        "alarms": [alarm._asdict() for alarm in evaluation.alarms],
        "n_memory_resets": evaluation.n_resets,
        "memory_resets": evaluation.resets,
        "curve": evaluation.curve,
    }


def _check_files(checkpoint: Path | None, resume: bool, output: Path | None, picture: Path | None) -> None:
    """Raise an error before any work if a file is not named, or cannot be written."""
    if resume and checkpoint is None:
        raise ValueError("--resume needs the checkpoint: --checkpoint FILE.")
    if output is not None and output.suffix.lower() != ".csv":
        raise ValueError(f"--output must be a .csv file; got {output}.")
    if picture is not None:
        from lann.plot import check_matplotlib_support

        check_matplotlib_support()
        if picture.suffix.lower() not in PICTURES:
            raise ValueError(f"--picture must be a .png, .pdf or .svg file; got {picture}.")
    for path in filter(None, (checkpoint, output, picture)):
        check_writable(path)


def _draw(run: StreamRun, picture: Path) -> None:
    import matplotlib as mpl

    from lann.plot import StreamDisplay

    with mpl.rc_context({"backend": "agg"}), atomic_file(picture) as file:
        display = StreamDisplay.from_evaluation(
            run.evaluation, name=type(run.estimator).__name__, data_name=opt.table_name(Path(run.name))
        )
        display.figure_.savefig(file, format=picture.suffix[1:].lower(), dpi=150)


def _known(scores: PrequentialScores) -> dict[str, Any]:
    """Return scores; None if there is no row to score."""
    values = scores._asdict()
    return values if scores.n_rows else dict.fromkeys(values) | {"n_rows": 0}


def _scores_line(evaluation: PrequentialEvaluation, rate: float) -> str:
    scores, window = evaluation.scores, evaluation.window_scores
    return (
        f"{scores.n_rows:,} rows: accuracy {percent(scores.accuracy, 1)} "
        f"({percent(window.accuracy, 1)} now), kappa-temporal {scores.kappa_temporal:.3f}, "
        f"log-loss {scores.log_loss:.3f}, {counted(evaluation.n_alarms, 'alarm')}, {rate:,.0f} rows/s"
    )


def _show_scores(evaluation: PrequentialEvaluation, rate: float, out: Output) -> None:
    """Print the scores over all rows and over the last ones, the sizes of the memories, and alarms."""
    scores, window, curve = evaluation.scores, evaluation.window_scores, evaluation.curve
    lines = []
    for field, name in SCORES.items():
        values = [getattr(one, field) for one in (scores, window)]
        if not scores.n_rows:
            values = [NO_FIGURE] * 2
        elif "accuracy" in field:
            values = [percent(value, 1) for value in values]
        lines.append([name, *values])
    columns = ["", ">all rows", f">last {window.n_rows:,}"]
    out.print(make_table(columns, lines, title=f"{scores.n_rows:,} rows, {rate:,.0f} rows/s"))
    if not len(curve.rows):
        return
    low, high = percent(curve.accuracy.min(), 0), percent(curve.accuracy.max(), 0)
    out.print(f"Accuracy over time: from {low} to {high}; --picture draws it")
    short, long = curve.short_term_size[-1], curve.long_term_size[-1]
    if short == short:  # not NaN
        resets = counted(evaluation.n_resets, "memory reset")
        out.print(f"Rows in memory: {short:,.0f} short-term, {long:,.0f} long-term, after {resets}")
    n_alarms = counted(evaluation.n_alarms, "alarm") if evaluation.n_alarms else "No alarm"
    out.print(f"{n_alarms}: rows at which predictions are found to be wrong more often than before")
    for alarm in evaluation.alarms[-N_ALARMS:]:
        rates = f"{percent(alarm.error_before)} to {percent(alarm.error_after)}"
        out.print(f"  row {alarm.row:,}: errors rose from {rates} since about row {alarm.onset:,}")
