"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import counted, is_missing, percent
from lann.cli import options as opt
from lann.cli.output import (
    collected_notes,
    make_table,
    print_document,
    progress,
    results,
    show_notes,
    step,
    styled,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from lann.reject import RejectOption
    from lann.tables import PredictionCounts, TableModel

MOST_ROWS = 20
MOST_CLASSES = 6


def predict(
    model: opt.ModelFile,
    data: opt.RowsFile,
    output: Annotated[
        Path | None,
        opt.output_option(f"The file to write, or a table is printed: {opt.TABLE_FORMATS}"),
    ] = None,
    id: opt.RowNames = None,
    reject_cost: opt.RejectCost = None,
    coverage: opt.Coverage = None,
    risk: opt.Risk = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
) -> None:
    """Predict labels for new rows.

    Returns the predicted label and, for every class, its probability. If the table has the target, its labels
    are beside the predictions, and the accuracy is printed. Other columns that the model does not use are
    ignored.

    With --reject-cost, --coverage or --risk, the column "decision" says whether a prediction is accepted,
    ambiguous or far from the training rows. The prediction of a rejected row remains the label with the
    largest probability, which is not to be used. Thresholds are chosen from the held-out rows of the
    cross-validation of `lann fit`.

    With -o, large .parquet and text files are read, predicted and written in parts: they need not fit into
    memory.
    """
    from lann.tables import (
        PredictionCounts,
        TableModel,
        check_table_path,
        is_large_table,
        predicted_columns,
        write_table,
    )

    if output is not None:
        check_table_path(output)
    tables, name = opt.TableOptions(sep, decimal, encoding, sheet), opt.table_name(data)
    predictions = None
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        reject = opt.make_reject_option(fitted, reject_cost, coverage, risk)
        if output is not None and not json and sheet is None and is_large_table(data):
            with progress() as bar:
                counts = fitted.predict_file(
                    data, output, id=id, reject=reject, name=name, callback=step(bar, "Predicting"),
                    guard_formulas=spreadsheet_safe, **tables._asdict(),
                )  # fmt: skip
            if counts.notes:
                notes.append(f"Found in {name}: {'; '.join(counts.notes)}.")
        else:
            frame = tables.read(data, notes).frame
            predictions = fitted.predict(frame, id=id, reject=reject, name=name)
            counts = PredictionCounts()
            counts.add(*predicted_columns(fitted, predictions, fitted.labels_in(frame), reject))
            if output is not None:
                write_table(predictions, output, guard_formulas=spreadsheet_safe)
    console = results(quiet=json)
    if output is None and predictions is not None:
        console.print(_preview(predictions, len(fitted.classifier.classes_)))
    else:
        console.print(f"Wrote {counts.n_rows} predictions to {output}", soft_wrap=True)
    _show_counts(counts, reject, console)
    show_notes(notes, console)
    if json and predictions is not None:
        has_labels, has_decisions = fitted.target in frame, reject is not None
        document = {
            "model": model,
            "table": name,
            "target": fitted.target,
            "n_rows": counts.n_rows,
            "accuracy": counts.accuracy,
            "reject": None if reject is None else _reject_document(reject, counts),
            "rows": _row_documents(fitted, predictions, has_labels=has_labels, has_decisions=has_decisions),
            "files": [] if output is None else [output],
            "notes": notes,
        }
        print_document(document)


def _preview(predictions: pd.DataFrame, n_classes: int) -> Table:
    """Return the first rows and classes."""
    n_text = len(predictions.columns) - n_classes  # names of the rows and labels come first
    names = list(predictions.columns)[: n_text + MOST_CLASSES]
    n_rows, n_classes = len(predictions) - MOST_ROWS, len(predictions.columns) - len(names)
    more = [f"{n} more {what}" for n, what in ((n_rows, "rows"), (n_classes, "classes")) if n > 0]
    lines = []
    for row, cells in enumerate(predictions.iloc[:MOST_ROWS, : len(names)].itertuples(index=False)):
        shown = ["" if is_missing(cell) else str(cell) for cell in cells[:n_text]]
        shown += [f"{cell:.3f}" for cell in cells[n_text:]]
        lines.append([styled(str(row), "dim"), *shown])
    return make_table(
        [">row", *names[:n_text], *[f">{name}" for name in names[n_text:]]],
        lines,
        caption=f"and {' and '.join(more)}: write all to a file with -o" if more else None,
    )


def _show_counts(counts: PredictionCounts, reject: RejectOption | None, console: Console) -> None:
    """Print the accuracy, how many rows are accepted, ambiguous and far, and the errors to expect."""
    n_rows, n_labels, decisions = counts.n_rows, counts.n_labels, counts.decisions
    if n_labels is not None:
        rows = counted(n_labels, "row") + ("" if n_labels == n_rows else " with a label")
        accuracy = f"{percent(counts.accuracy or 0.0, 1)} ({counts.n_correct:,} of {rows})"
        console.print(f"Accuracy: {accuracy}", soft_wrap=True)
    if reject is None:
        return
    console.print(
        f"Accepted {decisions['accepted']:,} of {counted(n_rows, 'row')} "
        f"({percent(decisions['accepted'] / max(n_rows, 1))}); "
        f"{decisions['ambiguous']:,} ambiguous, {decisions['far']:,} far",
        soft_wrap=True,
    )
    console.print(expectation(reject), soft_wrap=True)
    error = counts.error_of_accepted
    if error is not None:
        rows = counted(counts.n_accepted_labels, "accepted row")
        console.print(f"Error of the {rows} with a label: {percent(error, 1)}")


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


def _row_documents(
    fitted: TableModel, predictions: pd.DataFrame, *, has_labels: bool, has_decisions: bool
) -> list[dict[str, Any]]:
    """Return the predictions as dictionaries."""
    classes = [str(label) for label in fitted.classifier.classes_]
    # The columns before the probabilities: the names of the rows, labels, predictions, decisions.
    n_first = len(predictions.columns) - len(classes)
    names = ["true_label"] * has_labels + ["prediction"] + ["decision"] * has_decisions
    names = ["id"] * (n_first > len(names)) + names
    return [
        {"row": row}
        | dict(zip(names, cells[:n_first], strict=True))
        | {"probabilities": dict(zip(classes, cells[n_first:], strict=True))}
        for row, cells in enumerate(predictions.itertuples(index=False, name=None))
    ]
