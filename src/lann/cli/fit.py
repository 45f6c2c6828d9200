"""`lann fit`: from a table to a saved model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from lann import _texts
from lann._files import check_writable
from lann._format import counted
from lann._types import Floats
from lann.cli.consoles import collected_notes, note, progress, results, step
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    FORMATS_HELP,
    METRIC_HELP,
    SEED_HELP,
    Balanced,
    Categorical,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Jobs,
    MaxRows,
    Memory,
    Metric,
    Numeric,
    RowLimit,
    Sep,
    Sheet,
    TableOptions,
    column_kinds,
    make_classifier,
    table_name,
)
from lann.cli.show_columns import column_summary, column_table

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from lann.classifier import LANNClassifier
    from lann.tables import FittedFold, TableModel, TrainingTable
    from lann.vote import VoteChoice

MOST_CLASSES = 8
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
}
# Of the smallest classes, if there are more.
MOST_RECALLS = 12


@one_sentence
def fit(
    data: Annotated[
        Path, typer.Argument(help=f"The training table: {FORMATS_HELP}", show_default=False)
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column to predict.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="The file to save the model in.")
    ] = Path("model.lann"),
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="A column that names the rows; explanations show it."),
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    dates: Dates = None,
    sample_weight: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="A column that tells as how many rows each row counts."),
    ] = None,
    neighbors: Annotated[
        int | None, typer.Option(min=1, help="Number of neighbors that vote; chosen if not given.")
    ] = None,
    metric: Annotated[Metric, typer.Option(help=METRIC_HELP)] = Metric.diagonal,
    balanced: Balanced = False,
    folds: Annotated[int, typer.Option(min=2, help="Number of folds of the cross-validation.")] = 5,
    cv: Annotated[bool, typer.Option("--cv/--no-cv", help="Whether to cross-validate first.")] = True,
    columns: Annotated[
        bool, typer.Option("--columns", help="Print what each column has, and what is done with it.")
    ] = False,
    max_rows: MaxRows = None,
    memory: Memory = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help=SEED_HELP)] = 0,
) -> None:  # fmt: skip
    """Fit a model to a table and save it.

    Columns have numbers, categories, true and false, or dates; what they have is found, and --categorical,
    --numeric and --dates override it. Missing values are learned from, too: empty cells, NA, N/A, NaN, null,
    ? and #N/A are some. Separator, decimal separator and encoding of text are found, and a note says what is
    unusual. The saved model reads later tables by the same rules.

    Tables of .parquet and text files can be larger than memory: --max-rows and --memory limit the number of
    rows, which are drawn at random while the file is read in parts. Without them, this is done if there is
    not enough memory for all rows, and a note says so.
    """
    from lann.tables import TrainingTable

    check_writable(output)
    name = table_name(data)
    kinds = column_kinds(categorical, numeric, dates)
    with collected_notes() as notes:
        with progress(quiet=json) as bar:
            reading = TableOptions(sep, decimal, encoding, sheet).training_rows(
                data,
                RowLimit(target, max_rows, memory, folds if cv else 0, seed),
                notes,
                step(bar, "Reading"),
            )
        table = TrainingTable.from_frame(
            reading.frame,
            target,
            id=id,
            drop=drop or [],
            kinds=kinds,
            sample_weight=sample_weight,
            row_numbers=reading.row_numbers,
            name=name,
        )
    if neighbors is not None and sample_weight is None and neighbors > len(table):
        raise ValueError(f"--neighbors {neighbors} is more than the {len(table)} rows of {name}.")
    classifier = make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed, neighbors=neighbors)
    console = results(quiet=json)
    _describe(table, notes, console)
    if columns:
        console.print(column_table(table))
    fitted: list[FittedFold] = []
    scores = _cross_validate(table, classifier, folds, seed, console, notes, fitted) if cv else None
    with progress(quiet=json) as bar:
        report = step(bar, "Fitting")
        model = table.fit(
            classifier, scores=scores, folds=fitted, data_sha256=reading.sha256, callback=report
        )
    console.print(f"Vote: {model.classifier.vote_}", soft_wrap=True)
    model.save(output)
    console.print(f"Saved {output}", soft_wrap=True)
    if json:
        print_document({"table": name, **_document(table, model, scores), "files": [output], "notes": notes})


def _document(table: TrainingTable, model: TableModel, scores: pd.DataFrame | None) -> dict[str, Any]:
    """Return what was found, the scores of the cross-validation, and the vote."""
    vote: VoteChoice = model.classifier.vote_
    methods = [] if model.record is None else model.record.cross_validation or []
    classes = table.classes.tolist()
    by_method = {} if scores is None else dict(list(scores.groupby("method", sort=False)))
    return {
        "target": table.target,
        "n_rows": len(table),
        "classes": [
            {"label": label, "n_rows": n_rows}
            for label, n_rows in zip(classes, table.class_sizes.tolist(), strict=True)
        ],
        "columns": [
            {"name": column.name, "kind": column.kind, "reason": column.reason} for column in table.columns
        ],
        "cross_validation": [
            asdict(method)
            | {"recalls": {label: by_method[method.method][f"recall of {label}"].mean() for label in classes}}
            for method in methods
        ],
        "vote": {"n_neighbors": vote.n_neighbors, "power": vote.power, "floor": vote.floor},
    }


def _describe(table: TrainingTable, notes: list[str], console: Console) -> None:
    sizes = sorted(zip(table.class_sizes, table.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{label} ({size})" for size, label in sizes[:MOST_CLASSES])
    more = f" and {len(sizes) - MOST_CLASSES} more" if len(sizes) > MOST_CLASSES else ""
    console.print(f"{counted(len(table), 'row')}; {column_summary(table)}", soft_wrap=True)
    console.print(f"{len(sizes)} classes of {table.target}: {shown}{more}", soft_wrap=True)
    for text in notes:
        note(text, console)


def _cross_validate(
    table: TrainingTable,
    classifier: LANNClassifier,
    n_folds: int,
    seed: int,
    console: Console,
    notes: list[str],
    fitted: list[FittedFold],
) -> pd.DataFrame | None:
    """Cross-validate and print the scores; return them, None if every class has one row only.

    What there is to note is printed and added to the notes, and the classifiers to `fitted`.
    """
    from lann.tables import cross_validate

    if table.class_sizes.max() < 2:
        notes.append("There is no cross-validation, as every class has one row only.")
        note(notes[-1], console)
        return None
    with progress(quiet=console.quiet) as bar, collected_notes() as found:
        report = step(bar, "Cross-validating")
        scores = cross_validate(
            table, classifier, n_folds=n_folds, random_state=seed, callback=report, folds=fitted
        )
    console.print(_score_table(scores))
    console.print(_recall_table(scores, table))
    for text in found:
        note(text, console)
    notes += found
    return scores


def _score_table(scores: pd.DataFrame) -> Table:
    from rich.table import Table

    title = f"{scores['fold'].nunique()}-fold cross-validation"
    table = Table(
        title=title,
        title_justify="left",
        title_style="bold",
        caption=_texts.PLAIN_KNN,
        caption_justify="left",
    )
    table.add_column("method")
    for column in SCORES.values():
        table.add_column(column, justify="right")
    for method, part in scores.groupby("method", sort=False):
        values = part[list(SCORES)].to_numpy()
        parts = zip(_mean(values), np.nanstd(values, axis=0), strict=True)
        table.add_row(str(method), *[f"{mean:.3f} ± {std:.3f}" for mean, std in parts])
    return table


def _recall_table(scores: pd.DataFrame, training: TrainingTable) -> Table:
    """Return the recall of each class: the share of its rows that are predicted correctly."""
    from rich.table import Table

    order = np.argsort(training.class_sizes, kind="stable")[:MOST_RECALLS]
    n_more = len(training.classes) - len(order)
    table = Table(
        title="Recall by class",
        title_justify="left",
        title_style="bold",
        caption=f"and {n_more} larger classes" if n_more else None,
        caption_justify="left",
    )
    table.add_column("class", overflow="fold")
    table.add_column("rows", justify="right")
    parts = {str(method): part for method, part in scores.groupby("method", sort=False)}
    for method in parts:
        table.add_column(method, justify="right")
    for index in np.sort(order):
        label = training.classes[index]
        means = [_mean(part[[f"recall of {label}"]].to_numpy())[0] for part in parts.values()]
        shares = ["" if np.isnan(mean) else f"{mean:.3f}" for mean in means]
        table.add_row(str(label), f"{training.class_sizes[index]:,}", *shares)
    return table


def _mean(values: Floats) -> Floats:
    """Return the mean of each column, without NaN; NaN if there is nothing else."""
    n_known = (~np.isnan(values)).sum(axis=0)
    return np.divide(
        np.nansum(values, axis=0), n_known, out=np.full(values.shape[1], np.nan), where=n_known > 0
    )
