"""`lann fit`: from a table to a saved model."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from lann._files import check_writable
from lann.cli.consoles import collected_notes, note, progress, results
from lann.cli.errors import one_sentence
from lann.cli.options import (
    FORMATS_HELP,
    METRIC_HELP,
    SEED_HELP,
    Balanced,
    Decimal,
    Drop,
    Encoding,
    Jobs,
    Metric,
    Sep,
    Sheet,
    TableOptions,
    make_classifier,
    table_name,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from lann.classifier import LANNClassifier
    from lann.tables import TrainingTable

MOST_CLASSES = 8
# The balanced accuracy is printed, too, if the largest class has more rows than this times the smallest.
IMBALANCED = 1.5
METHODS = {"LANN": "LANN", "kNN": "kNN (5, weighted by distance)"}


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
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help=SEED_HELP)] = 0,
) -> None:  # fmt: skip
    """Fit a model to a table and save it.

    Numeric columns are scaled, and their missing values replaced by the median. Other columns are text, and
    each of their values is a category. Empty cells, NA, N/A, NaN, null, ? and #N/A are missing values.
    Separator, decimal separator and encoding of text are found, and a note says what is unusual. The saved
    model contains these steps.
    """
    from lann.tables import TrainingTable

    check_writable(output)
    name = table_name(data)
    with collected_notes() as notes:
        frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        table = TrainingTable.from_frame(
            frame, target, id=id, drop=drop or [], sample_weight=sample_weight, name=name
        )
    if neighbors is not None and sample_weight is None and neighbors > len(table):
        raise ValueError(f"--neighbors {neighbors} is more than the {len(table)} rows of {name}.")
    classifier = make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed, neighbors=neighbors)
    console = results()
    _describe(table, notes, console)
    if cv:
        _cross_validate(table, classifier, folds, seed, console)
    model = table.fit(classifier)
    console.print(f"Vote: {model.classifier.vote_}", soft_wrap=True)
    model.save(output)
    console.print(f"Saved {output}", soft_wrap=True)


def _describe(table: TrainingTable, notes: list[str], console: Console) -> None:
    n_numeric, n_text = len(table.columns.numeric), len(table.columns.text)
    sizes = sorted(zip(table.class_sizes, table.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{label} ({size})" for size, label in sizes[:MOST_CLASSES])
    more = f" and {len(sizes) - MOST_CLASSES} more" if len(sizes) > MOST_CLASSES else ""
    console.print(f"{len(table)} rows; {n_numeric} numeric and {n_text} text columns", soft_wrap=True)
    console.print(f"{len(sizes)} classes of {table.target}: {shown}{more}", soft_wrap=True)
    for text in notes:
        note(text, console)


def _cross_validate(
    table: TrainingTable, classifier: LANNClassifier, n_folds: int, seed: int, console: Console
) -> None:
    from lann.tables import cross_validate

    smallest = int(table.class_sizes.min())
    if smallest < 2:
        rare = str(table.classes[table.class_sizes.argmin()])
        note(f"There is no cross-validation, as class {rare!r} has one row only.", console)
        return
    if smallest < n_folds:
        note(f"There are {smallest} folds, as the smallest class has {smallest} rows.", console)
    with progress() as bar:
        task = bar.add_task("Cross-validating")
        scores = cross_validate(
            table,
            classifier,
            n_folds=n_folds,
            random_state=seed,
            callback=lambda done, total: bar.update(task, completed=done, total=total),
        )
    columns = ["accuracy"]
    if table.class_sizes.max() > IMBALANCED * smallest:
        columns.append("balanced_accuracy")
    console.print(_score_table(scores, columns))


def _score_table(scores: pd.DataFrame, columns: list[str]) -> Table:
    from rich.table import Table

    title = f"Accuracy, {scores['fold'].nunique()}-fold cross-validation"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("method")
    for column in columns:
        table.add_column(column.replace("_", " "), justify="right")
    for method, part in scores.groupby("method", sort=False):
        means, deviations = (
            np.mean(part[columns].to_numpy(), axis=0),
            np.std(part[columns].to_numpy(), axis=0),
        )
        cells = [f"{mean:.3f} ± {std:.3f}" for mean, std in zip(means, deviations, strict=True)]
        table.add_row(METHODS[str(method)], *cells)
    return table
