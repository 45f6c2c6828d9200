"""Arguments and options that several commands take, and groups of them.

A parameter of a command whose type is a group gets the options that are the fields of the group.
"""

from __future__ import annotations

import re
from dataclasses import asdict, dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

    from lann.classifier import LANNClassifier
    from lann.explain import Constraints
    from lann.regressor import LANNRegressor
    from lann.reject import RejectOption
    from lann.tables import Reading, TableModel, TrainingTable

FORMATS = ".csv, .tsv, .txt, .csv.gz, .parquet, .xlsx or .jsonl; - is standard input."
TABLE_FORMATS = ".csv, .csv.gz or .parquet."


def file_argument(help: str) -> Any:
    """Return an argument that names a file."""
    return typer.Argument(help=help, show_default=False)


def option(help: str, *names: str, default: str | bool = True, **more: Any) -> Any:
    """Return an option; `default` is what the help says of the default."""
    return typer.Option(*names, help=help, show_default=default, **more)


def column_option(help: str, *names: str, default: str | bool = True) -> Any:
    """Return an option that names a column."""
    return option(help, *names, metavar="COLUMN", default=default)


def detected(help: str, metavar: str, default: str = "detected") -> Any:
    """Return an option about the format of a file."""
    return option(help, metavar=metavar, default=default)


def output_option(help: str) -> Any:
    """Return the option for the file to write."""
    return option(help, "--output", "-o")


def at_least(least: int, help: str, default: str | bool = True) -> Any:
    """Return an option that is an integer."""
    return option(help, default=default, min=least)


Text = str | None
Names = list[str] | None
Share = float | None
File = Path | None
ModelFile = Annotated[Path, file_argument("A model saved by `lann fit` or `lann.save`.")]
RowsFile = Annotated[Path, file_argument(f"The table with the rows: {FORMATS}")]
SavedModel = Annotated[File, option("A saved model to use its training rows.", metavar="FILE")]
TargetColumn = Annotated[Text, column_option("The column with the labels.", default=False)]
RowNames = Annotated[
    Text, column_option("A column that names the rows.", "--id", default="that of the model")
]
Id = Annotated[Text, column_option("A column that names the rows; explanations show it.", "--id")]
SampleWeight = Annotated[Text, column_option("The sample-weight column; 2 is the same as a row twice.")]
Frozen = Annotated[Names, column_option("A column that counterfactuals do not change. May be repeated.")]
AsJson = Annotated[bool, option("Print one JSON document instead of tables.", "--json")]
SpreadsheetSafe = Annotated[
    bool,
    option(
        "Put an apostrophe before texts of CSV files that a spreadsheet would take as formulas.",
        "--spreadsheet-safe/--no-spreadsheet-safe",
    ),
]
Seed = Annotated[int, option("Random seed; the same seed gives the same result.")]


@dataclass(frozen=True)
class RowOptions:
    """The rows of a table that a command is about."""

    row: Annotated[list[int] | None, option("A row, from 0. May be repeated.", default="0")] = None
    rows: Annotated[Text, option("A range of rows, without the last: 0:20.", metavar="FROM:TO")] = None

    def chosen(self, n_rows: int, default: list[int]) -> list[int]:
        """Return the rows that are named, each once, in the order given; without any, the default."""
        if not self.row and self.rows is None:
            return default
        chosen = list(self.row or [])
        if self.rows is not None:
            match = re.fullmatch(r"(\d*):(\d*)", self.rows)
            first, end = (int(match[1] or 0), int(match[2] or n_rows)) if match else (0, 0)
            if match is None or (match[2] and end <= first):
                raise ValueError(
                    f"--rows must be two numbers, the smaller first, like 0:20; got {self.rows!r}."
                )
            chosen += range(first, max(min(end, n_rows), first + 1))  # one row at least: it may not exist
        return list(dict.fromkeys(chosen))


@dataclass(frozen=True)
class TextOptions:
    """The format of text; what is not given is detected."""

    sep: Annotated[Text, detected("A character, comma, semicolon, tab or pipe.", "SEPARATOR")] = None
    decimal: Annotated[Text, detected("The decimal separator: . or ,", "CHARACTER")] = None
    encoding: Annotated[Text, detected("The encoding of text: utf-8 or cp1252.", "NAME")] = None
    na_values: Annotated[
        Names, option("A further text that means a missing value. May be repeated.", metavar="TEXT")
    ] = None


@dataclass(frozen=True)
class TableOptions(TextOptions):
    """The format of tables."""

    sheet: Annotated[Text, detected("The sheet of an .xlsx file, or its number.", "NAME", "first")] = None

    def read(self, path: Path, notes: list[str], **sample: Any) -> Reading:
        """Read a table, or a sample by `sample_table`; add what is unusual about its file to the notes."""
        from lann.tables import Reading, sample_table

        read = sample_table if sample else Reading.from_file
        reading = read(path, **sample, **asdict(self))
        if reading.notes:
            notes.append(f"Found in {table_name(path)}: {reading.summary}.")
        return reading


Task = StrEnum("Task", ["auto", "classification", "regression"])


@dataclass(frozen=True)
class ColumnOptions:
    """What the columns of a training table hold."""

    drop: Annotated[Names, column_option("A column not to use. May be repeated.")] = None
    categorical: Annotated[Names, column_option("A column of categories. May be repeated.")] = None
    numeric: Annotated[Names, column_option("A column of numbers. May be repeated.")] = None
    dates: Annotated[
        Names, option("A column of dates: day=%d/%m/%Y. May be repeated.", metavar="COLUMN[=FORMAT]")
    ] = None

    @property
    def kinds(self) -> dict[str, str]:
        """The kinds of columns that are given; ValueError if two contradict each other."""
        named = [("--categorical", column, "category") for column in self.categorical or []]
        named += [("--numeric", column, "number") for column in self.numeric or []]
        for text in self.dates or []:
            column, _, format = text.partition("=")
            if format and "%" not in format:
                raise ValueError(f"--dates {text} has no format of dates after =, such as %d/%m/%Y.")
            named.append(("--dates", column, format or "date"))
        kinds: dict[str, str] = {}
        for given, column, kind in named:
            if kinds.setdefault(column, kind) != kind:
                raise ValueError(
                    f"Column {column!r} is named in {given} and in another option; give it once."
                )
        return kinds

    def training_table(
        self, frame: pd.DataFrame, target: str, *, task: Task = Task.classification, **others: Any
    ) -> TrainingTable:
        """Return the training table that a data frame has with these columns."""
        from lann.tables import TrainingTable

        kinds = self.kinds
        if target in kinds:
            raise ValueError(f"Column {target!r} is named in both target and kinds.")
        if task != Task.auto:
            kinds[target] = "number" if task == Task.regression else "category"
        return TrainingTable.from_frame(frame, target, drop=self.drop or (), kinds=kinds, **others)


Jobs = Annotated[int | None, option("Number of threads; -1 uses all cores.")]
# The choices of the parameter `metric` of LANNClassifier.
MetricForm = StrEnum("MetricForm", ["diagonal", "low_rank", "full"])


@dataclass(frozen=True)
class ModelOptions:
    """How a model is fitted."""

    metric: Annotated[
        MetricForm, option("Metric of a training row: a weight per column, or a small or full matrix.")
    ] = MetricForm.diagonal
    balanced: Annotated[bool, option("Give all classes the same weight.", "--balanced")] = False
    jobs: Jobs = None
    seed: Seed = 0

    def classifier(self, n_neighbors: int | None = None) -> LANNClassifier:
        """Return the classifier that the options describe."""
        from lann.classifier import LANNClassifier

        return LANNClassifier(
            n_neighbors or "auto", metric=self.metric.value, n_jobs=self.jobs, random_state=self.seed,
            class_weight="balanced" if self.balanced else None,
        )  # fmt: skip

    def regressor(self, n_neighbors: int | None = None) -> LANNRegressor:
        """Return the regressor that the options describe."""
        from lann.regressor import LANNRegressor

        if self.balanced:
            raise ValueError("--balanced is for classes; the target has numbers.")
        return LANNRegressor(
            n_neighbors or "auto", metric=self.metric.value, n_jobs=self.jobs, random_state=self.seed
        )


@dataclass(frozen=True)
class ConstraintOptions:
    """What counterfactuals may change; options are added to those of the file."""

    allow: Annotated[
        Names, column_option("A column that may change; all others then stay. May be repeated.")
    ] = None
    frozen: Frozen = None
    direction: Annotated[
        Names,
        option("A column that only goes up or down: price=down. May be repeated.", metavar="COLUMN=up|down"),
    ] = None
    constraints: Annotated[
        File, option("A TOML file with allow, frozen, direction, range and cost.", metavar="FILE")
    ] = None

    def of_file_and_options(self) -> Constraints:
        """Return the constraints of the file and of the options."""
        from lann.explain import Constraints

        given = Constraints.of(self.constraints)
        pairs = [(text if "=" in text else f"{text}=").rpartition("=") for text in self.direction or []]
        return replace(
            given,
            allow=given.allow if self.allow is None else [*(given.allow or []), *self.allow],
            frozen=[*given.frozen, *(self.frozen or [])],
            direction={**given.direction, **{column: sign for column, _, sign in pairs}},
        )


@dataclass(frozen=True)
class RejectOptions:
    """Which predictions are rejected."""

    reject_cost: Annotated[
        Share, option("Reject rows where this costs less than expected errors, which cost 1.", metavar="COST")
    ] = None
    coverage: Annotated[
        Share, option("Reject the least certain rows, and accept this share: 0.9.", metavar="SHARE")
    ] = None
    risk: Annotated[
        Share, option("Reject rows so that this share of the accepted ones is wrong: 0.01.", metavar="SHARE")
    ] = None

    def reject_option(self, model: TableModel) -> RejectOption | None:
        """Return the reject option that is asked for; None if none is."""
        if self == RejectOptions():
            return None
        if model.has_values:
            raise ValueError("Predicted numbers are not rejected; their intervals say how sure they are.")
        return model.reject_option(cost=self.reject_cost, coverage=self.coverage, risk=self.risk)


def check_table_or_model(
    data: File, model: File, labels: Text, columns: ColumnOptions, options: ModelOptions, **others: Any
) -> None:
    """Raise ValueError unless there is a table with its target, or a model without options of a fit."""
    if model is not None:
        is_metric_given = options.metric != MetricForm.diagonal
        given = asdict(columns) | {"metric": is_metric_given, "balanced": options.balanced} | others
        for name in (name.replace("_", "-") for name, value in given.items() if value):
            raise ValueError(f"--{name} is for a model that is not fitted yet; it cannot go with --model.")
    elif data is None:
        raise ValueError("Give a table with its --target, or a fitted model with --model.")
    elif data.suffix == ".lann":
        raise ValueError(f"{data} is a model file; give it as --model {data}.")
    elif labels is None:
        raise ValueError(f"Give the column of {table_name(data)} with the labels as --target.")


def table_name(path: Path) -> str:
    """Return the name of a table in messages."""
    return "standard input" if str(path) == "-" else path.name
