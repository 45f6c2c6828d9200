"""Arguments and options that several commands take."""

from __future__ import annotations

from collections.abc import Callable
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from lann._format import size_text

if TYPE_CHECKING:
    import pandas as pd

    from lann.classifier import LANNClassifier
    from lann.reject import RejectOption
    from lann.tables import PredictionCounts, Reading, TableModel, TableSize

Report = Callable[[float, float], object]
ModelFile = Annotated[
    Path, typer.Argument(help="A model saved by `lann fit` or `lann.save`.", show_default=False)
]
FORMATS_HELP = ".csv, .tsv, .txt, .csv.gz, .parquet, .xlsx or .jsonl; - is standard input."
RowsFile = Annotated[
    Path, typer.Argument(help=f"The table with the rows: {FORMATS_HELP}", show_default=False)
]
RowNames = Annotated[
    str | None,
    typer.Option(
        "--id",
        metavar="COLUMN",
        help="A column that names the rows.",
        show_default="that of the model, if there",
    ),
]
Sep = Annotated[
    str | None,
    typer.Option(
        metavar="CHARACTER",
        help="What separates the cells of text: a character, comma, semicolon, tab or pipe.",
        show_default="found",
    ),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="The decimal separator: . or ,", show_default="found"),
]
Encoding = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The encoding of text, such as utf-8 or cp1252.", show_default="found"),
]
Sheet = Annotated[
    str | None,
    typer.Option(metavar="NAME", help="The sheet of an .xlsx file, or its number.", show_default="first"),
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column not to use. May be repeated.")
]
Categorical = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN", help="A column whose values are categories. May be repeated."),
]
Numeric = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column of numbers. May be repeated.")
]
Dates = Annotated[
    list[str] | None,
    typer.Option(metavar="COLUMN[=FORMAT]", help="A column of dates, such as day=%d/%m/%Y. May be repeated."),
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Give rare classes as much weight as frequent ones.")
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
SpreadsheetSafe = Annotated[
    bool,
    typer.Option(
        "--spreadsheet-safe/--no-spreadsheet-safe",
        help="Put an apostrophe before texts of CSV files that a spreadsheet would take as formulas.",
    ),
]
Jobs = Annotated[int | None, typer.Option(help="Number of threads; -1 uses all cores.")]
MaxRows = Annotated[
    int | None,
    typer.Option(
        "--max-rows",
        min=2,
        metavar="N",
        help="Learn from at most so many rows, drawn at random; the table can be larger than memory.",
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
METRIC_HELP = "Metric of a training row: a weight per column, or a small or full matrix."
SEED_HELP = "Random seed; the same seed gives the same result."


class TableOptions(NamedTuple):
    """The options about the format of tables."""

    sep: str | None = None
    decimal: str | None = None
    encoding: str | None = None
    sheet: str | None = None

    def read(self, path: Path, notes: list[str]) -> pd.DataFrame:
        """Read a table; add what was found about its file to the notes."""
        return self.reading(path, notes).frame

    def reading(self, path: Path, notes: list[str]) -> Reading:
        """Read a table with what was found about its file, which is added to the notes."""
        from lann.tables import Reading

        return self._noted(Reading.from_file(path, **self._asdict()), path, notes)

    def _noted(self, reading: Reading, path: Path, notes: list[str]) -> Reading:
        if reading.notes:
            notes.append(f"Found in {table_name(path)}: {reading.summary}.")
        return reading

    def training_rows(self, path: Path, limit: RowLimit, notes: list[str], report: Report) -> Reading:
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
            return self.reading(path, notes)
        reading = sample_table(
            path, limit.target, n_rows, random_state=limit.seed, callback=report, **self._asdict()
        )
        n_drawn = len(reading.frame)
        if n_drawn < (reading.n_labeled_rows or 0):  # those without a label have a note of their own
            text = f"{n_drawn:,} of {reading.n_file_rows:,} rows are drawn at random to learn from."
            notes.append(why + text)
        return self._noted(reading, path, notes)

    def predict_file(
        self,
        model: TableModel,
        path: Path,
        output: Path,
        notes: list[str],
        id: str | None,
        reject: RejectOption | None,
        report: Report,
        guard_formulas: bool = False,
    ) -> PredictionCounts:
        """Predict the rows of a large table and write them, in parts; add what was found to the notes."""
        counts = model.predict_file(
            path,
            output,
            id=id,
            reject=reject,
            name=table_name(path),
            callback=report,
            guard_formulas=guard_formulas,
            **self._asdict(),
        )
        if counts.notes:
            notes.append(f"Found in {table_name(path)}: {'; '.join(counts.notes)}.")
        return counts

    def _size(self, path: Path, limit: RowLimit) -> TableSize | None:
        """Estimate the memory for a fit; None where the table is small, or has to be read as a whole."""
        from lann.tables import is_large_table, table_size

        if limit.memory is None and (
            limit.max_rows is not None or self.sheet is not None or not is_large_table(path)
        ):
            return None
        size = table_size(path, memory=limit.memory, n_folds=limit.n_folds, **self._asdict())
        if size is None and limit.memory is not None:
            raise ValueError(f"--memory is for .parquet, .csv, .tsv and .txt files; got {table_name(path)}.")
        return size


class RowLimit(NamedTuple):
    """How many rows of a table are learned from, at most."""

    target: str
    max_rows: int | None
    memory: str | None
    n_folds: int
    seed: int


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
    """Return what columns have, as the options say; raise ValueError if two say it of the same column."""
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
    return list(dict.fromkeys([*(row or []), *([] if rows is None else _parse_range(rows, n_rows))]))


def _parse_range(text: str, n_rows: int) -> range:
    start, colon, stop = text.partition(":")
    try:
        first, end = int(start or 0), int(stop) if stop else n_rows
    except ValueError:
        first, end = -1, -1
    if not colon or first < 0 or (stop and end <= first):
        raise ValueError(f"--rows must be two numbers, the smaller first, like 0:20; got {text!r}.")
    return range(first, max(min(end, n_rows), first + 1))  # one row at least: it may not exist


def table_name(path: Path) -> str:
    """Return the name of a table in messages."""
    return "standard input" if str(path) == "-" else path.name


class Metric(StrEnum):
    """The choices of the parameter `metric` of LANNClassifier."""

    diagonal = "diagonal"
    low_rank = "low_rank"
    full = "full"


def make_classifier(
    metric: Metric | None, *, balanced: bool, jobs: int | None, seed: int, neighbors: int | None = None
) -> LANNClassifier:
    """Return the classifier that the options of a command describe."""
    from lann.classifier import LANNClassifier

    return LANNClassifier(
        "auto" if neighbors is None else neighbors,
        metric=(metric or Metric.diagonal).value,
        class_weight="balanced" if balanced else None,
        n_jobs=jobs,
        random_state=seed,
    )
