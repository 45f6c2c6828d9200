"""`lann fit`: from a table to a saved model."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from lann._markup import texts as _texts
from lann._support.files import check_writable
from lann._support.format import counted, percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more, styled

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

    from lann.tables import FittedFold, TrainingTable

# Singular and plural of what a column holds.
KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "bool": ("true/false", "true/false"),
    "date": ("date", "dates"),
}
MOST_CLASSES = 8
# Classes in the table of recalls, the smallest ones.
MOST_RECALLS = 12
MOST_CATEGORIES, MOST_CHARACTERS = 3, 20

TrainingFile = Annotated[Path, opt.file_argument(f"The training table: {opt.FORMATS}")]
Target = Annotated[str, opt.column_option("The column to predict.", default=False)]
ModelFile = Annotated[Path, opt.output_option("The file to save the model in.")]
Neighbors = Annotated[int | None, opt.at_least(1, "Number of neighbors that vote.", default="auto")]
CrossValidate = Annotated[bool, opt.option("Whether to cross-validate first.", "--cv/--no-cv")]
ShowColumns = Annotated[bool, opt.option("Print what each column holds and how it is used.", "--columns")]
MaxRows = Annotated[
    int | None,
    opt.option(
        "Learn from at most this number of rows, drawn at random; the table can be larger than memory.",
        metavar="N",
        default="all that fit into memory",
        min=2,
    ),
]
TaskOption = Annotated[
    opt.Task,
    opt.option(
        "What is learned: classes, or numbers (regression).",
        default="regression if the target has more than 20 different numbers, or more than 10 with decimals",
    ),
]
Memory = Annotated[
    opt.Text,
    opt.option(
        "The memory that may be taken, such as 2GB: as many rows are drawn at random as fit into it.",
        metavar="SIZE",
        default="60% of what is available",
    ),
]


def fit(
    data: TrainingFile,
    *,
    target: Target,
    task: TaskOption = opt.Task.auto,
    output: ModelFile = Path("model.lann"),
    id: opt.Id = None,
    used: opt.ColumnOptions,
    sample_weight: opt.SampleWeight = None,
    neighbors: Neighbors = None,
    fitting: opt.ModelOptions,
    folds: Annotated[int, opt.at_least(2, "Number of folds of the cross-validation.")] = 5,
    cv: CrossValidate = True,
    columns: ShowColumns = False,
    max_rows: MaxRows = None,
    memory: Memory = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
) -> None:
    """Fit a model to a table and save it.

    The target has classes, or numbers, which are predicted by regression: its values decide, unless --task is
    given.

    Columns hold numbers, categories, booleans or dates; the type is detected, and --categorical, --numeric
    and --dates override it. Missing values are learned from, too: empty cells, NA, N/A, NaN, null, ? and #N/A
    are some. Separator, decimal separator and encoding of text are detected, and unusual formats are
    reported. The saved model reads later tables by the same rules.

    Tables of .parquet and text files can be larger than memory: --max-rows and --memory limit the number of
    rows, which are drawn at random while the file is read in parts. Without them, this is done if there is
    not enough memory for all rows, and a note says so.
    """
    from lann.explain import prepare_explanations
    from lann.tables import rows_in_memory

    check_writable(output)
    out, name = Output(json), opt.table_name(data)
    with out.progress() as step:
        sample: dict[str, Any] = {}
        limit, why = None, ""
        if memory is not None or max_rows is None:
            n_folds = folds if cv else 0
            limit, why = rows_in_memory(data, memory=memory, n_folds=n_folds, **asdict(tables))
        if max_rows is not None and (limit is None or max_rows <= limit):
            limit, why = max_rows, ""
        if limit is not None:
            sample = {"target": target, "n_rows": limit, "random_state": fitting.seed, "task": task.value}
            sample["callback"] = step("Reading")
        reading = tables.read(data, out.notes, **sample)
        frame, row_numbers = reading.frame, reading.row_numbers
        if len(frame) < (reading.n_labeled_rows or 0):  # there is another note about rows without a label
            text = f"{len(frame):,} of {reading.n_file_rows:,} rows are drawn at random to learn from."
            out.notes.append(f"{why}: {text}" if why else text)
        table = used.training_table(
            frame, target, id=id, sample_weight=sample_weight, row_numbers=row_numbers, task=task,
            name=name,
        )  # fmt: skip
    has_values = table.has_values
    classifier: Any = fitting.regressor(neighbors) if has_values else fitting.classifier(neighbors)
    out.print(*_summary(table))
    out.show_notes()
    if columns:
        out.print(_column_table(table))
    fitted: list[FittedFold] = []
    scores = _cross_validate(table, classifier, folds, fitting.seed, fitted, out) if cv else None
    with out.progress() as step:
        model = table.fit(
            classifier, scores=None if has_values else scores, folds=fitted, data_sha256=reading.sha256,
            callback=step("Fitting"),
        )  # fmt: skip
    out.print(f"Vote: {model.classifier.vote_}")
    prepare_explanations(model.classifier)
    model.save(output)
    out.files.append(output)
    out.print(f"Saved {output}")
    parts = {} if scores is None else dict(list(scores.groupby("method")))
    methods = [] if model.record is None else model.record.cross_validation or []
    vote, classes = model.classifier.vote_, table.classes.tolist()
    sizes = zip(classes, table.class_sizes.tolist(), strict=True)
    out.finish(
        table=name,
        target=table.target,
        task="regression" if has_values else "classification",
        n_rows=len(table),
        classes=[{"label": label, "n_rows": n_rows} for label, n_rows in sizes],
        columns=[
            {"name": column.name, "kind": column.kind, "reason": column.reason} for column in table.columns
        ],
        cross_validation=scores.groupby("method", sort=False).mean().drop(columns="fold").to_dict("index")
        if has_values and scores is not None
        else [
            vars(method)
            | {"recalls": {label: parts[method.method][f"recall of {label}"].mean() for label in classes}}
            for method in methods
        ],
        vote={"n_neighbors": vote.n_neighbors, "power": vote.power, "floor": vote.floor},
    )


def _summary(table: TrainingTable) -> tuple[str, str]:
    """Return the size of a table and the kinds of its columns, and its classes, in a line each."""
    kinds: list[str] = [column.kind for column in table.columns]
    parts = ", ".join(
        f"{kinds.count(kind)} with {names[1]}" for kind, names in KINDS.items() if kind in kinds
    )
    n_ignored = kinds.count("ignored")
    rest = f"; {n_ignored} {'is' if n_ignored == 1 else 'are'} not used" if n_ignored else ""
    columns = f"{counted(len(kinds) - n_ignored, 'column')}: {parts}{rest}"
    if table.has_values:
        ends = " to ".join(map(value_text, (table.labels.min(), table.labels.max())))
        text = f"{table.target} has numbers from {ends}: regression; --task classification predicts classes"
        return f"{counted(len(table), 'row')}; {columns}", text
    sizes = sorted(zip(table.class_sizes, table.classes, strict=True), key=lambda pair: -pair[0])
    shown = ", ".join(f"{label} ({size})" for size, label in sizes[:MOST_CLASSES])
    others = f" and {len(sizes) - MOST_CLASSES} more" if len(sizes) > MOST_CLASSES else ""
    classes = f"{len(sizes)} classes of {table.target}: {shown}{others}"
    return f"{counted(len(table), 'row')}; {columns}", classes


def _column_table(table: TrainingTable) -> Table:
    """Return a table with the kind of each column, its range or categories, and its missing values."""
    lines: list[list[Any]] = []
    for column in table.columns:
        if not column.is_used:
            lines.append([styled(text, "dim") for text in (column.name, "not used", "", "", column.reason)])
            continue
        values = table.rows[column.name]
        share = float(values.isna().mean())
        if column.kind in ("number", "date"):
            text = f"{column.format(values.min())} to {column.format(values.max())}"
        else:
            text = category_text([column.format(value) for value in values.value_counts().index])
        missing = percent(share, 1) if share else ""
        lines.append([column.name, KINDS[column.kind][0], text, missing, column.reason])
    return make_table(["column", "kind", "values", ">missing", "why"], lines, title="Columns")


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
    table: TrainingTable, classifier: Any, n_folds: int, seed: int, fitted: list[FittedFold], out: Output
) -> pd.DataFrame:
    """Print and return the scores; add the classifiers to `fitted`."""
    from lann.report import SCORES, VALUE_SCORES
    from lann.tables import cross_validate, cross_validate_values

    with out.progress() as step:
        report = step("Cross-validating")
        options: dict[str, Any] = {"n_folds": n_folds, "random_state": seed, "callback": report}
        if table.has_values:
            scores = cross_validate_values(table, classifier, **options)
        else:
            scores = cross_validate(table, classifier, folds=fitted, **options)
    by_method = scores.groupby("method", sort=False)
    means, deviations = by_method.mean(), by_method.std(ddof=0)
    known = VALUE_SCORES if table.has_values else SCORES
    names = {score: name for score, name in known.items() if score in means}

    def cell(score: str, method: str) -> str:
        mean, deviation = means[score][method], deviations[score][method]
        return (
            ""
            if mean != mean
            else f"{mean:.4g} ± {deviation:.2g}"
            if table.has_values
            else (f"{mean:.3f} ± {deviation:.3f}")
        )

    lines: list[list[Any]] = [[method, *(cell(score, method) for score in names)] for method in means.index]
    title = f"{scores['fold'].nunique()}-fold cross-validation"
    columns = ["method", *(f">{name}" for name in names.values())]
    out.print(make_table(columns, lines, title=title, caption=_texts.PLAIN_KNN))
    if table.has_values:
        return scores
    smallest = sorted(table.class_sizes.argsort(kind="stable")[:MOST_RECALLS])
    lines = [
        [str(table.classes[i]), int(table.class_sizes[i]), *means[f"recall of {table.classes[i]}"].tolist()]
        for i in smallest
    ]
    columns = ["class", ">rows", *(f">{method}" for method in means.index)]
    caption = more(len(table.classes) - len(lines), "class", plural="larger classes")
    out.print(make_table(columns, lines, title="Recall by class", caption=caption))
    out.show_notes()
    return scores
