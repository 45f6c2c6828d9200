"""`lann fit`: from a table to a saved model."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer
from numpy.typing import NDArray

from lann.cli.columns import Columns, make_pipeline, prepare
from lann.cli.consoles import note, progress, results
from lann.cli.errors import one_sentence
from lann.cli.labels import check_labels, labels_of
from lann.cli.options import FORM, Balanced, Drop, Jobs, Metric
from lann.cli.tables import check_output, read_table

if TYPE_CHECKING:
    import pandas as pd
    from sklearn.pipeline import Pipeline

# Where the largest class is larger than the smallest by more than this, accuracy alone tells too little.
UNLIKE = 1.5


@one_sentence
def fit(
    data: Annotated[
        Path, typer.Argument(help="The training data: .csv, .csv.gz or .parquet.", show_default=False)
    ],
    target: Annotated[
        str, typer.Option(metavar="COLUMN", help="The column to predict.", show_default=False)
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", help="Where to save the model.")
    ] = Path("model.skops"),
    id: Annotated[
        str | None,
        typer.Option("--id", metavar="COLUMN", help="A column that names the rows; explanations show it."),
    ] = None,
    drop: Drop = None,
    neighbors: Annotated[int, typer.Option(min=1, help="How many neighbors vote.")] = 5,
    metric: Annotated[Metric, typer.Option(help=FORM)] = Metric.diagonal,
    balanced: Balanced = False,
    folds: Annotated[int, typer.Option(min=2, help="Folds of the cross-validation.")] = 5,
    cv: Annotated[bool, typer.Option("--cv/--no-cv", help="Whether to cross-validate first.")] = True,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help="Of everything random: the same seed gives the same model.")] = 0,
) -> None:  # fmt: skip
    """Train on a table and save the model.

    Numeric columns are scaled, their gaps filled with the median; other columns are taken as text, each value
    a category. Empty cells, NA, N/A, NaN, null and ? are gaps. The saved model does all this by itself.
    """
    from lann.classifier import LANNClassifier
    from lann.persist import save

    check_output(output, kinds=())
    task = make_task(read_table(data), data.name, target=target, id=id, drop=drop or [])
    if neighbors > len(task.labels):
        raise ValueError(f"--neighbors {neighbors} is more than the {len(task.labels)} rows of {data.name}.")
    classifier = LANNClassifier(
        neighbors,
        metric=metric.value,
        class_weight="balanced" if balanced else None,
        n_jobs=jobs,
        random_state=seed,
    )
    model = make_pipeline(task.columns, classifier)
    console = results()
    _describe(task, console)
    if cv:
        _cross_validate(model, task, folds, seed, console)
    save(fit_task(model, task), output)
    console.print(f"Saved {output}", soft_wrap=True)


@dataclass
class Task:
    """A table made ready for training."""

    rows: pd.DataFrame
    labels: NDArray[Any]
    columns: Columns
    target: str
    row_numbers: NDArray[np.int64]
    ids: NDArray[Any] | None
    classes: NDArray[Any]
    class_sizes: NDArray[np.int64]
    notes: list[str] = field(default_factory=list)


def make_task(frame: pd.DataFrame, source: str, *, target: str, id: str | None, drop: list[str]) -> Task:
    """Decide which rows and columns are used, and how."""
    for option, name in [("--target", target), ("--id", id), *(("--drop", name) for name in drop)]:
        if name is not None and name not in frame:
            known = ", ".join(map(repr, frame.columns[:20])) + (" ..." if len(frame.columns) > 20 else "")
            raise ValueError(f"{source} has no column {name!r} for {option}; its columns are {known}.")
    notes = []
    row_numbers = np.flatnonzero(frame[target].notna())
    if len(row_numbers) == 0:
        raise ValueError(f"The target {target!r} is empty in every row of {source}.")
    if without := len(frame) - len(row_numbers):
        notes.append(f"{without} rows have no {target!r} and are left out.")
    frame = frame.iloc[row_numbers].reset_index(drop=True)
    labels = labels_of(frame[target])
    classes, sizes = check_labels(labels, target)
    features = frame.drop(columns=list({target, *drop, *([id] if id is not None else [])}))
    columns = Columns.of(features)
    if not columns.used:
        raise ValueError(f"{source} has no column to learn from beside {target!r}.")
    notes += [f"Column {name!r} is ignored: {why}." for name, why in columns.ignored.items()]
    ids = None
    if id is not None:
        from lann.cli.trained import id_column

        ids = id_column(frame, id, source)
    rows = prepare(features, columns.numeric, columns.text, source)
    return Task(rows, labels, columns, target, row_numbers, ids, classes, sizes, notes)


def fit_task(model: Pipeline, task: Task) -> Pipeline:
    """Fit, and note in the model where its training rows stand in the file, and where they had gaps."""
    model.fit(task.rows, task.labels)
    model.target_, model.training_rows_, model.training_ids_ = task.target, task.row_numbers, task.ids
    model.training_gaps_ = np.argwhere(task.rows.isna().to_numpy())
    return model


def _describe(task: Task, console: Any) -> None:
    n_numeric, n_text = len(task.columns.numeric), len(task.columns.text)
    sizes = sorted(zip(task.class_sizes, task.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{label} ({size})" for size, label in sizes[:8])
    more = f" and {len(sizes) - 8} more" if len(sizes) > 8 else ""
    console.print(f"{len(task.labels)} rows; {n_numeric} numeric and {n_text} text columns", soft_wrap=True)
    console.print(f"{len(sizes)} classes of {task.target}: {shown}{more}", soft_wrap=True)
    for text in task.notes:
        note(text, console)


def _cross_validate(model: Pipeline, task: Task, folds: int, seed: int, console: Any) -> None:
    from rich.table import Table

    smallest = int(task.class_sizes.min())
    if smallest < 2:
        name = task.classes[task.class_sizes.argmin()]
        note(f"No cross-validation, as class {str(name)!r} has one row only.", console)
        return
    if smallest < folds:
        folds = smallest
        note(f"{folds} folds, as the smallest class has {smallest} rows.", console)
    scores = cross_validated(model, task, folds, seed)
    table = Table(title=f"Accuracy, {folds}-fold cross-validation", title_justify="left", title_style="bold")
    table.add_column("method")
    table.add_column("accuracy", justify="right")
    unlike = task.class_sizes.max() > UNLIKE * smallest
    if unlike:
        table.add_column("balanced accuracy", justify="right")
    for name, values in scores.items():
        means, spreads = np.mean(values, axis=0), np.std(values, axis=0)
        cells = [f"{mean:.3f} ± {spread:.3f}" for mean, spread in zip(means, spreads, strict=True)]
        table.add_row(name, *cells[: 1 + unlike])
    console.print(table)


def cross_validated(
    model: Pipeline, task: Task, folds: int, seed: int
) -> dict[str, list[tuple[float, float]]]:
    """Accuracy and balanced accuracy in every fold, of the model and of plain kNN on the same columns."""
    import warnings

    from sklearn.base import clone
    from sklearn.metrics import accuracy_score, balanced_accuracy_score
    from sklearn.model_selection import StratifiedKFold
    from sklearn.neighbors import KNeighborsClassifier

    splits = list(StratifiedKFold(folds, shuffle=True, random_state=seed).split(task.rows, task.labels))
    n_train = min(len(train) for train, _ in splits)
    if model[-1].n_neighbors > n_train:
        raise ValueError(
            f"{model[-1].n_neighbors} neighbors are more than the {n_train} rows that each fold trains on; "
            "lower --neighbors or give --no-cv."
        )
    plain = make_pipeline(task.columns, KNeighborsClassifier(min(5, n_train), weights="distance"))
    models = {"LANN": model, "kNN (5, weighted by distance)": plain}
    scores: dict[str, list[tuple[float, float]]] = {name: [] for name in models}
    with progress() as bar, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # categories that only the test fold has
        for train, test in bar.track(splits, description="Cross-validating"):
            for name, candidate in models.items():
                fitted = clone(candidate).fit(task.rows.iloc[train], task.labels[train])
                right, predicted = task.labels[test], fitted.predict(task.rows.iloc[test])
                scores[name].append(
                    (accuracy_score(right, predicted), balanced_accuracy_score(right, predicted))
                )
    return scores
