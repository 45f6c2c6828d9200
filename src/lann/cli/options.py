"""Arguments that several commands take."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

ModelFile = Annotated[
    Path, typer.Argument(help="A model written by `lann fit` or `lann.save`.", show_default=False)
]
RowsFile = Annotated[
    Path, typer.Argument(help="The file with the rows: .csv, .csv.gz or .parquet.", show_default=False)
]
