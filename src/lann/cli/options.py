"""Arguments and options that several commands take."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[
    Path, typer.Argument(help="A model written by `lann fit` or `lann.save`.", show_default=False)
]
RowsFile = Annotated[
    Path, typer.Argument(help="The file with the rows: .csv, .csv.gz or .parquet.", show_default=False)
]
Drop = Annotated[
    list[str] | None, typer.Option(metavar="COLUMN", help="A column not to use; may be given repeatedly.")
]
Balanced = Annotated[
    bool, typer.Option("--balanced", help="Give rare classes as much weight as frequent ones.")
]
Jobs = Annotated[int | None, typer.Option(help="Threads; -1 is all cores.")]
FORM = "The form of a row's own metric: weights, or a small or whole matrix."


class Metric(StrEnum):
    """The choices of `LANNClassifier`'s parameter of that name."""

    diagonal = "diagonal"
    low_rank = "low_rank"
    full = "full"
