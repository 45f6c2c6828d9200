"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from lann._format import counted, is_missing, percent
from lann.cli.consoles import collected_notes, note, results
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
    TableOptions,
    make_reject_option,
    table_name,
)
from lann.cli.show_reject import reject_document, show_decisions

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from lann.tables import TableModel

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
) -> None:
    """Predict labels for new rows.

    Returns the predicted label and, for every class, its probability. If the table has the target, its labels
    stand beside the predictions, and the accuracy is printed. Other columns that the model does not use are
    ignored.

    With --reject-cost, --coverage or --risk, the column "decision" says whether a prediction is accepted,
    ambiguous or far from the training rows. The prediction of a rejected row remains the label with the
    largest probability, which is not to be used. Thresholds are chosen from the held-out rows of the
    cross-validation of `lann fit`.
    """
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        reject = make_reject_option(fitted, reject_cost, coverage, risk)
        frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        predictions = fitted.predict(frame, id=id, reject=reject, name=table_name(data))
    labels, n_classes = fitted.labels_in(frame), len(fitted.classifier.classes_)
    console = results(quiet=json)
    if output is None:
        console.print(_preview(predictions, n_classes))
    else:
        write_table(predictions, output)
        console.print(f"Wrote {len(predictions)} predictions to {output}", soft_wrap=True)
    decided = reject is not None
    predicted = predictions.iloc[:, -n_classes - 1 - decided].to_numpy()
    decisions = predictions.iloc[:, -n_classes - 1].to_numpy() if decided else None
    if labels is not None:
        console.print(_accuracy(labels, predicted), soft_wrap=True)
    if reject is not None and decisions is not None:
        show_decisions(reject, decisions, labels, predicted, console)
    for text in notes:
        note(text, console)
    if json:
        print_document(
            {
                "model": model,
                "table": table_name(data),
                "target": fitted.target,
                "n_rows": len(predictions),
                "accuracy": None if labels is None else _n_correct(labels, predicted) / _n_labels(labels),
                "reject": None
                if reject is None or decisions is None
                else reject_document(reject, decisions, labels, predicted),
                "rows": _documents(fitted, predictions, has_labels=labels is not None, decided=decided),
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


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


def _accuracy(labels: NDArray[Any], predictions: NDArray[Any]) -> str:
    """Return the share of the rows with a label whose prediction is correct."""
    n_labels, n_correct = _n_labels(labels), _n_correct(labels, predictions)
    rows = counted(n_labels, "row") + ("" if n_labels == len(labels) else " with a label")
    return f"Accuracy: {percent(n_correct / n_labels, 1)} ({n_correct:,} of {rows})"


def _n_labels(labels: NDArray[Any]) -> int:
    return sum(label is not None for label in labels)


def _n_correct(labels: NDArray[Any], predictions: NDArray[Any]) -> int:
    return int(np.sum(labels == predictions))


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
