"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lann._support.format import size_text

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier
    from lann.reject import RejectOption
    from lann.tables import Reading, TableModel, TableSize

Report = Callable[[float, float], object]
FORMATS = ".csv, .tsv, .txt, .csv.gz, .parquet, .xlsx or .jsonl; - is standard input."
TABLE_FORMATS = ".csv, .csv.gz or .parquet."


def file_argument(help: str) -> Any:
    """Return an argument that names a file."""
    return typer.Argument(help=help, show_default=False)


def column_option(help: str, *names: str, metavar: str = "COLUMN", default: str | bool = True) -> Any:
    """Return an option that names a column; `default` is what the help says of the default."""
    return typer.Option(*names, metavar=metavar, help=help, show_default=default)


def output_option(help: str) -> Any:
    """Return the option for the file to write."""
    return typer.Option("--output", "-o", help=help)


ModelFile = Annotated[Path, file_argument("A model saved by `lann fit` or `lann.save`.")]
RowsFile = Annotated[Path, file_argument(f"The table with the rows: {FORMATS}")]
SavedModel = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A saved model to use its training rows.")
]
Rows = Annotated[str | None, typer.Option(metavar="FROM:TO", help="A range of rows, without the last: 0:20.")]
RowNames = Annotated[
    str | None, column_option("A column that names the rows.", "--id", default="that of the model, if there")
]
Id = Annotated[str | None, column_option("A column that names the rows; explanations show it.", "--id")]
SampleWeight = Annotated[str | None, column_option("The sample-weight column; 2 is the same as a row twice.")]
Frozen = Annotated[
    list[str] | None, column_option("A column that must not change in a counterfactual. May be repeated.")
]
Drop = Annotated[list[str] | None, column_option("A column not to use. May be repeated.")]
Categorical = Annotated[
    list[str] | None, column_option("A column whose values are categories. May be repeated.")
]
Numeric = Annotated[list[str] | None, column_option("A column of numbers. May be repeated.")]
Dates = Annotated[
    list[str] | None,
    column_option("A column of dates, such as day=%d/%m/%Y. May be repeated.", metavar="COLUMN[=FORMAT]"),
]
Sep = Annotated[
    str | None,
    column_option(
        "What separates the cells of text: a character, comma, semicolon, tab or pipe.",
        metavar="CHARACTER",
        default="detected",
    ),
]
Decimal = Annotated[
    str | None, column_option("The decimal separator: . or ,", metavar="CHARACTER", default="detected")
]
Encoding = Annotated[
    str | None,
    column_option("The encoding of text, such as utf-8 or cp1252.", metavar="NAME", default="detected"),
]
Sheet = Annotated[
    str | None, column_option("The sheet of an .xlsx file, or its number.", metavar="NAME", default="first")
]
AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON document instead of tables.")]
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe/--no-spreadsheet-safe",
        help="Put an apostrophe before texts of CSV files that a spreadsheet would take as formulas.",
    ),
]
RejectCost = Annotated[
    float | None,
    typer.Option(
        "--reject-cost",
        metavar="COST",
        help="Reject rows where this costs less than expected errors, which cost 1: 0.2, for example.",
    ),
]
Coverage = Annotated[
    float | None,
    typer.Option(metavar="SHARE", help="Reject the least certain rows, and accept this share: 0.9."),
]
Risk = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE", help="Reject rows so that at most this share of the accepted ones is wrong: 0.01."
    ),
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Give rare classes as much weight as frequent ones.")
]
Jobs = Annotated[int | None, typer.Option(help="Number of threads; -1 uses all cores.")]
Seed = Annotated[int, typer.Option(help="Random seed; the same seed gives the same result.")]


class MetricForm(StrEnum):
    """The choices of the parameter `metric` of LANNClassifier."""

    diagonal = "diagonal"
    low_rank = "low_rank"
    full = "full"


Metric = Annotated[
    MetricForm,
    typer.Option(help="Metric of a training row: a weight per column, or a small or full matrix."),
]


def make_classifier(
    metric: MetricForm, *, balanced: bool, jobs: int | None, seed: int, neighbors: int | None = None
) -> LANNClassifier:
    """Return the classifier that the options of a command describe."""
    from lann.classifier import LANNClassifier

    return LANNClassifier(
        "auto" if neighbors is None else neighbors,
        metric=metric.value,
        class_weight="balanced" if balanced else None,
        n_jobs=jobs,
        random_state=seed,
    )


def make_reject_option(
    model: TableModel, cost: float | None, coverage: float | None, risk: float | None
) -> RejectOption | None:
    """Return the reject option that --reject-cost, --coverage or --risk asks for; None if none does."""
    given = {"--reject-cost": cost, "--coverage": coverage, "--risk": risk}
    named = [option for option, value in given.items() if value is not None]
    if len(named) > 1:
        raise ValueError(f"Give at most one of {', '.join(given)}; got {' and '.join(named)}.")
    for option, value in given.items():
        if value is not None and not 0 <= value <= 1:
            raise ValueError(f"{option} must be between 0 and 1; got {value:g}.")
    return model.reject_option(cost=cost, coverage=coverage, risk=risk) if named else None


def column_kinds(
    categorical: list[str] | None, numeric: list[str] | None, dates: list[str] | None
) -> dict[str, str]:
    """Return the kinds of columns that the options give; raise ValueError if two contradict each other."""
    named = [("--categorical", column, "category") for column in categorical or []]
    named += [("--numeric", column, "number") for column in numeric or []]
    for text in dates or []:
        column, _, format = text.partition("=")
        if format and "%" not in format:
            raise ValueError(f"--dates {text} has no format of dates after =, such as %d/%m/%Y.")
        named.append(("--dates", column, format or "date"))
    kinds: dict[str, str] = {}
    for option, column, kind in named:
        if kinds.setdefault(column, kind) != kind:
            raise ValueError(f"Column {column!r} is named in {option} and in another option; give it once.")
    return kinds


def named_rows(row: list[int] | None, rows: str | None, n_rows: int) -> list[int]:
    """Return the rows that --row and --rows name, each once, in the order given."""
    chosen = list(row or [])
    if rows is not None:
        start, colon, stop = rows.partition(":")
        try:
            first, end = int(start or 0), int(stop) if stop else n_rows
        except ValueError:
            first, end = -1, -1
        if not colon or first < 0 or (stop and end <= first):
            raise ValueError(f"--rows must be two numbers, the smaller first, like 0:20; got {rows!r}.")
        chosen += range(first, max(min(end, n_rows), first + 1))  # one row at least: it may not exist
    return list(dict.fromkeys(chosen))


def check_table_or_model(
    data: Path | None, model: Path | None, target: str | None, training_options: Mapping[str, Any]
) -> None:
    """Raise ValueError unless there is a table with its target, or a model without options of a fit."""
    if model is not None:
        if unused := [option for option, value in training_options.items() if value]:
            raise ValueError(f"{unused[0]} is for a model that is not fitted yet; it cannot go with --model.")
    elif data is None:
        raise ValueError("Give a table with its --target, or a fitted model with --model.")
    elif data.suffix == ".lann":
        raise ValueError(f"{data} is a model file; give it as --model {data}.")
    elif target is None:
        raise ValueError(f"Give the column of {table_name(data)} with the labels as --target.")


def table_name(path: Path) -> str:
    """Return the name of a table in messages."""
    return "standard input" if str(path) == "-" else path.name


class TableOptions(NamedTuple):
    """The options about the format of tables."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def read(self, path: Path, notes: list[str]) -> Reading:
        """Read a table; add what is unusual about its file to the notes."""
        from lann.tables import Reading

        return self._noted(Reading.from_file(path, **self._asdict()), path, notes)

    def _noted(self, reading: Reading, path: Path, notes: list[str]) -> Reading:
        if reading.notes:
            notes.append(f"Found in {table_name(path)}: {reading.summary}.")
        return reading

    def read_training_rows(self, path: Path, limit: RowLimit, notes: list[str], report: Report) -> Reading:
        """Read a table, or a sample of its rows if there is a limit or too little memory for all."""
        from lann.tables import sample_table

        n_rows, why = limit.max_rows, ""
        size = self._size(path, limit)
        if size is not None and not size.fits and (n_rows is None or size.n_fitting < n_rows):
            n_rows = size.n_fitting
            why = (
                f"A fit to all rows would take about {size_text(size.n_bytes)} of memory, of which "
                f"{size_text(size.memory)} may be taken: "
            )
        if n_rows is None:
            return self.read(path, notes)
        reading = sample_table(
            path, limit.target, n_rows, random_state=limit.seed, callback=report, **self._asdict()
        )
        n_drawn = len(reading.frame)
        if n_drawn < (reading.n_labeled_rows or 0):  # there is another note about rows without a label
            notes.append(
                f"{why}{n_drawn:,} of {reading.n_file_rows:,} rows are drawn at random to learn from."
            )
        return self._noted(reading, path, notes)

    def _size(self, path: Path, limit: RowLimit) -> TableSize | None:
        """Estimate the memory for a fit; None where the table is small, or has to be read as a whole."""
        from lann.tables import is_large_table, table_size

        is_limited = limit.max_rows is not None or self.sheet is not None
        if limit.memory is None and (is_limited or not is_large_table(path)):
            return None
        size = table_size(path, memory=limit.memory, n_folds=limit.n_folds, **self._asdict())
        if size is None and limit.memory is not None:
            raise ValueError("--memory cannot be used with standard input, which is read as a whole.")
        return size


class RowLimit(NamedTuple):
    """The number of rows of a table to learn from, at most."""

    target: str
    max_rows: int | None
    memory: str | None
    n_folds: int
    seed: int
