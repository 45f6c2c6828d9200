"""`--json`: one JSON document on stdout in place of tables and notes for people."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from pathlib import PurePath
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import pandas as pd

AsJson = Annotated[
    bool, typer.Option("--json", help="Print one JSON document, for programs, in place of tables.")
]


def print_document(document: Mapping[str, Any]) -> None:
    """Print a document as JSON, the only thing on stdout.

    Numbers that are not finite are null, and what JSON does not have is text. Characters outside ASCII are
    escaped, so that every terminal and pipe takes them.

    Parameters
    ----------
    document : mapping
        With keys in snake_case.
    """
    typer.echo(json.dumps(plain(document), indent=2, allow_nan=False))


def frame_records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows of a table as dictionaries; the order of the columns is kept."""
    return [dict(zip(frame.columns, row, strict=True)) for row in frame.itertuples(index=False, name=None)]


def plain(value: Any) -> Any:
    """Return a value, with all that is in it, as JSON has it."""
    if value is None or isinstance(value, bool | str):
        return value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    if isinstance(value, PurePath):
        return str(value)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    if hasattr(value, "tolist"):  # arrays and scalars of NumPy
        return plain(value.tolist())
    return None if value != value else str(value)  # NaT is not equal to itself
