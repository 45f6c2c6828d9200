"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from numpy.typing import NDArray

from lann._format import counted, is_missing, percent
from lann.cli.consoles import collected_notes, note, progress, results, step
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    Coverage,
    Decimal,
    Encoding,
    ModelFile,
    RejectCost,
    Risk,
    RowsFile,
    Sep,
    Sheet,
    SpreadsheetSafe,
    TableOptions,
    make_reject_option,
    table_name,
)
from lann.cli.show_reject import reject_document, show_decisions

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from lann.tables import PredictionCounts, TableModel

MOST_ROWS = 20
MOST_CLASSES = 6


@one_sentence
def predict(
    model: ModelFile,
    data: RowsFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write: .csv, .csv.gz or .parquet. Without it, a table is printed.",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column to keep beside the predictions.",
            show_default="that of the model, if there",
        ),
    ] = None,
    reject_cost: RejectCost = None,
    coverage: Coverage = None,
    risk: Risk = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = False,
) -> None:
    """Predict labels for new rows.

    Returns the predicted label and, for every class, its probability. If the table has the target, its labels
    stand beside the predictions, and the accuracy is printed. Other columns that the model does not use are
    ignored.

    With --reject-cost, --coverage or --risk, the column "decision" says whether a prediction is accepted,
    ambiguous or far from the training rows. The prediction of a rejected row remains the label with the
    largest probability, which is not to be used. Thresholds are chosen from the held-out rows of the
    cross-validation of `lann fit`.

    With -o, large .parquet and text files are read, predicted and written in parts: they need not fit into
    memory.
    """
    from lann.tables import PredictionCounts, TableModel, check_table_path, is_large_table, write_table

    if output is not None:
        check_table_path(output)
    options, predictions = TableOptions(sep, decimal, encoding, sheet), None
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        reject = make_reject_option(fitted, reject_cost, coverage, risk)
        # A document has all rows: they are in memory anyway.
        if output is not None and not json and sheet is None and is_large_table(data):
            with progress() as bar:
                counts = options.predict_file(
                    fitted, data, output, notes, id, reject, step(bar, "Predicting"), spreadsheet_safe
                )
        else:
            frame = options.read(data, notes)
            predictions = fitted.predict(frame, id=id, reject=reject, name=table_name(data))
            labels = fitted.labels_in(frame)
            counts = PredictionCounts.of(*_columns(fitted, predictions, labels, decided=reject is not None))
            if output is not None:
                write_table(predictions, output, guard_formulas=spreadsheet_safe)
    console = results(quiet=json)
    if output is None and predictions is not None:
        console.print(_preview(predictions, len(fitted.classifier.classes_)))
    else:
        console.print(f"Wrote {counts.n_rows} predictions to {output}", soft_wrap=True)
    if counts.n_labels is not None:
        console.print(_accuracy(counts), soft_wrap=True)
    if reject is not None:
        show_decisions(reject, counts, console)
    for text in notes:
        note(text, console)
    if json and predictions is not None:
        has_labels, decided = counts.n_labels is not None, reject is not None
        print_document(
            {
                "model": model,
                "table": table_name(data),
                "target": fitted.target,
                "n_rows": counts.n_rows,
                "accuracy": counts.accuracy,
                "reject": None if reject is None else reject_document(reject, counts),
                "rows": _documents(fitted, predictions, has_labels=has_labels, decided=decided),
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


def _columns(
    fitted: TableModel, predictions: pd.DataFrame, labels: NDArray[Any] | None, *, decided: bool
) -> tuple[NDArray[Any], NDArray[Any] | None, NDArray[Any] | None]:
    """Return the predicted labels, the true ones and the decisions."""
    last = -len(fitted.classifier.classes_) - 1
    decisions = predictions.iloc[:, last].to_numpy() if decided else None
    return predictions.iloc[:, last - decided].to_numpy(), labels, decisions


def _documents(
    fitted: TableModel, predictions: pd.DataFrame, *, has_labels: bool, decided: bool
) -> list[dict[str, Any]]:
    """Return the predictions as dictionaries."""
    classes = [str(label) for label in fitted.classifier.classes_]
    # The columns before the probabilities: the names of the rows, labels, predictions, decisions.
    n_first = len(predictions.columns) - len(classes)
    names = ["true_label"] * has_labels + ["prediction"] + ["decision"] * decided
    names = ["id"] * (n_first > len(names)) + names
    return [
        {"row": row}
        | dict(zip(names, cells[:n_first], strict=True))
        | {"probabilities": dict(zip(classes, cells[n_first:], strict=True))}
        for row, cells in enumerate(predictions.itertuples(index=False, name=None))
    ]


def _accuracy(counts: PredictionCounts) -> str:
    """Return the share of the rows with a label whose prediction is correct."""
    n_labels = counts.n_labels or 0
    rows = counted(n_labels, "row") + ("" if n_labels == counts.n_rows else " with a label")
    return f"Accuracy: {percent(counts.accuracy or 0.0, 1)} ({counts.n_correct:,} of {rows})"


def _preview(predictions: pd.DataFrame, n_classes: int) -> Table:
    """Return the first rows and classes."""
    from rich.table import Table

    n_text = len(predictions.columns) - n_classes  # names of the rows and labels come first
    names = list(predictions.columns)[: n_text + MOST_CLASSES]
    n_rows, n_classes = len(predictions) - MOST_ROWS, len(predictions.columns) - len(names)
    more = [f"{n} more {what}" for n, what in ((n_rows, "rows"), (n_classes, "classes")) if n > 0]
    table = Table(
        caption=f"and {' and '.join(more)}: write all to a file with -o" if more else None,
        caption_justify="left",
    )
    table.add_column("row", justify="right", style="dim")
    for j, name in enumerate(names):
        table.add_column(name, justify="left" if j < n_text else "right")
    for row, cells in enumerate(predictions.iloc[:MOST_ROWS, : len(names)].itertuples(index=False)):
        shown = ["" if is_missing(cell) else str(cell) for cell in cells[:n_text]]
        shown += [f"{cell:.3f}" for cell in cells[n_text:]]
        table.add_row(str(row), *shown)
    return table
