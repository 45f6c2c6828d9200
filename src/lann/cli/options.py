"""Arguments and options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from lann.classifier import LANNClassifier

ModelFile = Annotated[
    Path, typer.Argument(help="A model saved by `lann fit` or `lann.save`.", show_default=False)
]
RowsFile = Annotated[
    Path, typer.Argument(help="The table with the rows: .csv, .csv.gz or .parquet.", show_default=False)
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column not to use. May be repeated.")
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Give rare classes as much weight as frequent ones.")
]
Jobs = Annotated[int | None, typer.Option(help="Number of threads; -1 uses all cores.")]
METRIC_HELP = "Metric of a training row: a weight per column, or a small or full matrix."
SEED_HELP = "Random seed; the same seed gives the same result."


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
