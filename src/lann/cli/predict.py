"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import counted, is_missing, percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, styled

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from lann.reject import RejectOption
    from lann.tables import PredictionCounts

MOST_ROWS = 20
MOST_CLASSES = 6

OutputFile = Annotated[
    opt.File, opt.output_option(f"The file to write, or a table is printed: {opt.TABLE_FORMATS}")
]


def predict(
    model: opt.ModelFile,
    data: opt.RowsFile,
    *,
    output: OutputFile = None,
    id: opt.RowNames = None,
    rejecting: opt.RejectOptions,
    jobs: opt.Jobs = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
) -> None:
    """Predict labels, or numbers, for new rows.

    Returns the predicted label and, for every class, its probability; of numbers, the prediction and the ends
    of an interval that 90% of such rows are in. If the table has the target, its labels
    are beside the predictions, and the accuracy is printed. Other columns that the model does not use are
    ignored.

    With --reject-cost, --coverage or --risk, the column "decision" says whether a prediction is accepted,
    ambiguous or far from the training rows. The prediction of a rejected row remains the label with the
    largest probability, which is not to be used. Thresholds are chosen from the held-out rows of the
    cross-validation of `lann fit`.

    With -o, large .parquet and text files are read, predicted and written in parts: they need not fit into
    memory.
    """
    from lann.tables import TableModel, prediction_documents

    out = Output(json, table=output, guarded=spreadsheet_safe)
    name = opt.table_name(data)
    with out.progress() as step:
        fitted = TableModel.load(model)
        fitted.classifier.set_params(n_jobs=jobs)
        reject = rejecting.reject_option(fitted)
        counts = fitted.predict_file(
            data, None if json else output, id=id, reject=reject, name=name, callback=step("Predicting"),
            guard_formulas=spreadsheet_safe, **asdict(tables),
        )  # fmt: skip
        if counts.notes:
            out.notes.append(f"Found in {name}: {'; '.join(counts.notes)}.")
    predictions: Any = counts.predictions
    ending = f": {counted(counts.n_rows, 'prediction')}"
    classes = ["low", "high"] if fitted.has_values else list(map(str, fitted.classifier.classes_))
    if output is None:
        out.print(_preview(predictions, len(classes)))
    elif json:
        out.write_table(predictions, output, ending)
    else:
        out.wrote(output, ending)
    _show_counts(counts, reject, out)
    out.finish(
        model=model,
        table=name,
        target=fitted.target,
        n_rows=counts.n_rows,
        accuracy=counts.accuracy,
        mean_absolute_error=counts.mean_error,
        reject=None if reject is None else _reject_document(reject, counts),
        rows=lambda: prediction_documents(predictions, None if fitted.has_values else classes),
    )


def _preview(predictions: pd.DataFrame, n_classes: int) -> Table:
    """Return the first rows and classes."""
    n_text = len(predictions.columns) - n_classes  # names of the rows and labels come first
    shown = predictions.iloc[:MOST_ROWS, : n_text + MOST_CLASSES]
    n_more = {"rows": len(predictions) - len(shown), "classes": n_classes - MOST_CLASSES}
    others = [f"{count} more {what}" for what, count in n_more.items() if count > 0]
    lines = []
    for row, cells in enumerate(shown.itertuples(index=False, name=None)):
        texts = ["" if is_missing(cell) else value_text(cell) for cell in cells[:n_text]]
        lines.append([styled(str(row), "dim"), *texts, *cells[n_text:]])
    return make_table(
        [">row", *shown.columns[:n_text], *[f">{name}" for name in shown.columns[n_text:]]],
        lines,
        caption=f"and {' and '.join(others)}: write all to a file with -o" if others else None,
    )


def _show_counts(counts: PredictionCounts, reject: RejectOption | None, out: Output) -> None:
    """Print the accuracy, how many rows are accepted, ambiguous and far, and the errors to expect."""
    n_rows, n_labels, decisions = counts.n_rows, counts.n_labels, counts.decisions
    if counts.mean_error is not None:
        out.print(f"Mean absolute error: {value_text(counts.mean_error)} ({counted(n_labels or 0, 'row')})")
    elif n_labels is not None:
        rows = counted(n_labels, "row") + ("" if n_labels == n_rows else " with a label")
        out.print(f"Accuracy: {percent(counts.accuracy or 0.0, 1)} ({counts.n_correct:,} of {rows})")
    if reject is None:
        return
    out.print(
        f"Accepted {decisions['accepted']:,} of {counted(n_rows, 'row')} "
        f"({percent(decisions['accepted'] / max(n_rows, 1))}); "
        f"{decisions['ambiguous']:,} ambiguous, {decisions['far']:,} far",
        expectation(reject),
    )
    error = counts.error_of_accepted
    if error is not None:
        rows = counted(counts.n_accepted_labels, "accepted row")
        out.print(f"Error of the {rows} with a label: {percent(error, 1)}")


def expectation(reject: RejectOption) -> str:
    """Return what is to be expected of rows like the held-out ones, in a sentence."""
    held_out = reject.held_out_
    n_rows, before = len(held_out.y_true), float((held_out.y_true != held_out.y_pred).mean())
    if reject.risk_ != reject.risk_:
        return f"None of the {counted(n_rows, 'held-out row')} of the cross-validation is accepted."
    return (
        f"Expected error of accepted rows: {percent(reject.risk_, 1)}, in place of {percent(before, 1)} of "
        f"all rows ({percent(reject.coverage_)} of {counted(n_rows, 'held-out row')} of the cross-validation "
        "are accepted)"
    )


def _reject_document(reject: RejectOption, counts: PredictionCounts) -> dict[str, Any]:
    """Return the target, the thresholds, and the decisions."""
    held_out = reject.held_out_
    return {
        "target": reject.target_.kind,
        "value": reject.target_.value,
        "certainty": reject.certainty,
        "threshold": reject.thresholds_[0],
        "novelty_threshold": reject.novelty_threshold_,
        **{f"n_{decision}": counts.decisions[decision] for decision in ("accepted", "ambiguous", "far")},
        "error_of_accepted": counts.error_of_accepted,
        "n_accepted_labels": counts.n_accepted_labels,
        "held_out": {
            "n_rows": len(held_out.y_true),
            "error": (held_out.y_true != held_out.y_pred).mean(),
            "coverage": reject.coverage_,
            "error_of_accepted": reject.risk_,
        },
    }
