"""`lann fit`: from a table to a saved model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._markup import texts as _texts
from lann._support.files import check_writable
from lann._support.format import counted, percent
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
    from rich.table import Table

    from lann.tables import Column, FittedFold, TableModel, TrainingTable

# Singular and plural of what a column holds.
KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "bool": ("true/false", "true/false"),
    "date": ("date", "dates"),
}
SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
}
MOST_CLASSES = 8
# Classes in the table of recalls, the smallest ones.
MOST_RECALLS = 12
MOST_CATEGORIES, MOST_CHARACTERS = 3, 20

MaxRows = Annotated[
    int | None,
    typer.Option(
        min=2,
        metavar="N",
        help="Learn from at most this number of rows, drawn at random; the table can be larger than memory.",
        show_default="all that fit into memory",
    ),
]
Memory = Annotated[
    str | None,
    typer.Option(
        metavar="SIZE",
        help="The memory that may be taken, such as 2GB: as many rows are drawn at random as fit into it.",
        show_default="60% of what is available",
    ),
]
Neighbors = Annotated[
    int | None, typer.Option(min=1, help="Number of neighbors that vote.", show_default="auto")
]
Folds = Annotated[int, typer.Option(min=2, help="Number of folds of the cross-validation.")]
CrossValidate = Annotated[bool, typer.Option("--cv/--no-cv", help="Whether to cross-validate first.")]
ShowColumns = Annotated[
    bool, typer.Option("--columns", help="Print what each column holds and how it is used.")
]


def fit(
    data: Annotated[Path, opt.file_argument(f"The training table: {opt.FORMATS}")],
    target: Annotated[str, opt.column_option("The column to predict.", default=False)],
    output: Annotated[Path, opt.output_option("The file to save the model in.")] = Path("model.lann"),
    id: opt.Id = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    numeric: opt.Numeric = None,
    dates: opt.Dates = None,
    sample_weight: opt.SampleWeight = None,
    neighbors: Neighbors = None,
    metric: opt.Metric = opt.MetricForm.diagonal,
    balanced: opt.Balanced = False,
    folds: Folds = 5,
    cv: CrossValidate = True,
    columns: ShowColumns = False,
    max_rows: MaxRows = None,
    memory: Memory = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    jobs: opt.Jobs = None,
    seed: opt.Seed = 0,
) -> None:
    """Fit a model to a table and save it.

    Columns hold numbers, categories, booleans or dates; the type is detected, and --categorical, --numeric
    and --dates override it. Missing values are learned from, too: empty cells, NA, N/A, NaN, null, ? and #N/A
    are some. Separator, decimal separator and encoding of text are detected, and unusual formats are
    reported. The saved model reads later tables by the same rules.

    Tables of .parquet and text files can be larger than memory: --max-rows and --memory limit the number of
    rows, which are drawn at random while the file is read in parts. Without them, this is done if there is
    not enough memory for all rows, and a note says so.
    """
    from lann.explain import prepare_explanations
    from lann.tables import TrainingTable

    check_writable(output)
    name, console = opt.table_name(data), results(quiet=json)
    kinds = opt.column_kinds(categorical, numeric, dates)
    limit = opt.RowLimit(target, max_rows, memory, folds if cv else 0, seed)
    with collected_notes() as notes:
        with progress(quiet=json) as bar:
            tables = opt.TableOptions(sep, decimal, encoding, sheet)
            reading = tables.read_training_rows(data, limit, notes, step(bar, "Reading"))
        table = TrainingTable.from_frame(
            reading.frame, target, id=id, drop=drop or [], kinds=kinds, sample_weight=sample_weight,
            row_numbers=reading.row_numbers, name=name,
        )  # fmt: skip
    if neighbors is not None and sample_weight is None and neighbors > len(table):
        raise ValueError(f"--neighbors {neighbors} is more than the {len(table)} rows of {name}.")
    classifier = opt.make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed, neighbors=neighbors)
    console.print(*_summary(table), sep="\n", soft_wrap=True)
    show_notes(notes, console)
    if columns:
        console.print(_column_table(table))
    scores: pd.DataFrame | None = None
    fitted: list[FittedFold] = []
    if cv:
        scores, found = _cross_validate(table, classifier, folds, seed, fitted, quiet=json)
        if scores is not None:
            console.print(_score_table(scores), _recall_table(scores, table))
        show_notes(found, console)
        notes += found
    with progress(quiet=json) as bar:
        report = step(bar, "Fitting")
        model = table.fit(
            classifier, scores=scores, folds=fitted, data_sha256=reading.sha256, callback=report
        )
    console.print(f"Vote: {model.classifier.vote_}", soft_wrap=True)
    prepare_explanations(model.classifier)
    model.save(output)
    console.print(f"Saved {output}", soft_wrap=True)
    if json:
        print_document({"table": name, **_document(table, model, scores), "files": [output], "notes": notes})


def _summary(table: TrainingTable) -> tuple[str, str]:
    """Return the size of a table and the kinds of its columns, and its classes, in a line each."""
    kinds: list[str] = [column.kind for column in table.columns]
    counts = [(kinds.count(kind), names[1]) for kind, names in KINDS.items()]
    parts = ", ".join(f"{count} with {name}" for count, name in counts if count)
    n_ignored = kinds.count("ignored")
    rest = f"; {n_ignored} {'is' if n_ignored == 1 else 'are'} not used" if n_ignored else ""
    columns = f"{counted(len(kinds) - n_ignored, 'column')}: {parts}{rest}"
    sizes = sorted(zip(table.class_sizes, table.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{label} ({size})" for size, label in sizes[:MOST_CLASSES])
    more = f" and {len(sizes) - MOST_CLASSES} more" if len(sizes) > MOST_CLASSES else ""
    classes = f"{len(sizes)} classes of {table.target}: {shown}{more}"
    return f"{counted(len(table), 'row')}; {columns}", classes


def _column_table(table: TrainingTable) -> Table:
    """Return a table with the kind of each column, its range or categories, and its missing values."""
    lines: list[list[Any]] = []
    for column in table.columns:
        if column.is_used:
            values = table.rows[column.name]
            share = float(values.isna().mean())
            missing = percent(share, 1) if share else ""
            cells = column.name, KINDS[column.kind][0], _range(column, values), missing, column.reason
            lines.append(list(cells))
        else:
            lines.append([styled(text, "dim") for text in (column.name, "not used", "", "", column.reason)])
    return make_table(["column", "kind", "values", ">missing", "why"], lines, title="Columns")


def _range(column: Column, values: pd.Series) -> str:
    """Return the smallest and the largest value, or the most frequent categories."""
    if column.kind in ("number", "date"):
        return f"{column.format(values.min())} to {column.format(values.max())}"
    return category_text([column.format(value) for value in values.value_counts().index])


def category_text(categories: list[str], counts: list[int] | None = None) -> str:
    """Return the first of some categories, cut to a length that a line can have, and the number of others."""
    shown = [
        text if len(text) <= MOST_CHARACTERS else f"{text[: MOST_CHARACTERS - 1]}…"
        for text in categories[:MOST_CATEGORIES]
    ]
    if counts is not None:
        shown = [f"{text} ({count:,})" for text, count in zip(shown, counts, strict=False)]
    n_more = len(categories) - len(shown)
    return ", ".join(shown) + (f" and {n_more} more" if n_more else "")


def _cross_validate(
    table: TrainingTable, classifier: Any, n_folds: int, seed: int, fitted: list[FittedFold], *, quiet: bool
) -> tuple[pd.DataFrame | None, list[str]]:
    """Return the scores, None if every class has one row only, and notes; add classifiers to `fitted`."""
    from lann.tables import cross_validate

    if table.class_sizes.max() < 2:
        return None, ["There is no cross-validation, as every class has one row only."]
    with progress(quiet=quiet) as bar, collected_notes() as notes:
        report = step(bar, "Cross-validating")
        scores = cross_validate(
            table, classifier, n_folds=n_folds, random_state=seed, callback=report, folds=fitted
        )
    return scores, notes


def _score_table(scores: pd.DataFrame) -> Table:
    lines = []
    for method, part in scores.groupby("method", sort=False):
        values = [part[score] for score in SCORES]
        lines.append([str(method), *[f"{one.mean():.3f} ± {one.std(ddof=0):.3f}" for one in values]])
    title = f"{scores['fold'].nunique()}-fold cross-validation"
    columns = ["method", *[f">{name}" for name in SCORES.values()]]
    return make_table(columns, lines, title=title, caption=_texts.PLAIN_KNN)


def _recall_table(scores: pd.DataFrame, table: TrainingTable) -> Table:
    """Return the recall of each class: the share of its rows that are predicted correctly."""
    by_size = table.class_sizes.argsort(kind="stable")
    n_more = len(table.classes) - MOST_RECALLS
    parts = {str(method): part for method, part in scores.groupby("method", sort=False)}
    lines = []
    for index in sorted(by_size[:MOST_RECALLS]):
        label = table.classes[index]
        means = [part[f"recall of {label}"].mean() for part in parts.values()]
        recalls = ["" if mean != mean else f"{mean:.3f}" for mean in means]
        lines.append([str(label), f"{table.class_sizes[index]:,}", *recalls])
    return make_table(
        ["class", ">rows", *[f">{method}" for method in parts]],
        lines,
        title="Recall by class",
        caption=f"and {n_more} larger classes" if n_more > 0 else None,
    )


def _document(table: TrainingTable, model: TableModel, scores: pd.DataFrame | None) -> dict[str, Any]:
    """Return the columns and classes, the scores of the cross-validation, and the vote."""
    vote = model.classifier.vote_
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
