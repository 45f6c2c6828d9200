"""`lann info`: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lann._format import counted, percent, value_text
from lann.cli.consoles import results
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import ModelFile
from lann.cli.show_columns import KINDS, MOST_CATEGORIES, shortened

if TYPE_CHECKING:
    from rich.table import Table

    from lann.tables import ColumnInfo, ModelInfo

MOST_CLASSES = 20


@one_sentence
def info(
    model: ModelFile,
    columns: Annotated[
        int, typer.Option(min=1, help="Number of columns to show; --json has all of them.")
    ] = 50,
    json: AsJson = False,
) -> None:
    """Show what is in a model file.

    Its version and estimator, the parameters that are not the defaults, the classes, the columns with their
    ranges or categories, and the hash of the file. Nothing in the file can run.
    """
    from lann.tables import ModelInfo

    found = ModelInfo.from_file(model)
    if json:
        print_document({"model": model, **found.to_dict()})
        return
    console = results()
    console.print(_facts(found, str(model)))
    if found.columns:
        console.print(_columns(found, columns))


def _facts(found: ModelInfo, path: str) -> Table:
    from rich.table import Table

    file, table = found.file, found.file.table
    n_more = len(found.classes) - MOST_CLASSES
    classes = ", ".join(
        printable(label) + ("" if n_rows is None else f" ({n_rows:,})")
        for label, n_rows in found.classes[:MOST_CLASSES]
    )
    facts = [
        ("file", f"{path}, {file.n_bytes:,} bytes"),
        ("SHA-256", file.sha256),
        ("written by", f"lann {printable(file.version)}, format {file.format}"),
        ("estimator", found.estimator),
        (
            "parameters",
            ", ".join(f"{k}={printable(v)}" for k, v in found.parameters.items()) or "the defaults",
        ),
        ("learned levels", None if found.levels is None else ", ".join(found.levels) or "none"),
        ("vote", found.vote),
        ("training rows", None if found.n_rows is None else f"{found.n_rows:,}"),
        ("target", None if found.target is None else printable(found.target)),
        ("classes", f"{len(found.classes)}: {classes}" + (f" and {n_more} more" if n_more > 0 else "")),
        ("names of rows", None if table is None or table.id_column is None else printable(table.id_column)),
        (
            "sample weights",
            None
            if table is None or table.sample_weight_column is None
            else printable(table.sample_weight_column),
        ),
        (
            "not used",
            "; ".join(f"{printable(name)} ({printable(why)})" for name, why in found.ignored.items()) or None,
        ),
    ]
    lines = Table(show_header=False, box=None, pad_edge=False)
    lines.add_column(style="bold", no_wrap=True)
    lines.add_column(overflow="fold")
    for name, text in facts:
        if text is not None and (name != "classes" or found.classes):
            lines.add_row(name, text)
    return lines


def _columns(found: ModelInfo, most: int) -> Table:
    from rich.table import Table

    n_more = len(found.columns) - most
    table = Table(
        title=counted(len(found.columns), "column"),
        title_justify="left",
        title_style="bold",
        caption=f"and {counted(n_more, 'more column')}: --columns {len(found.columns)}"
        if n_more > 0
        else None,
        caption_justify="left",
    )
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("values", overflow="fold")
    table.add_column("missing", justify="right")
    for column in found.columns[:most]:
        missing = percent(column.missing, 1) if column.missing else ""
        table.add_row(printable(column.name), KINDS[column.kind][0], _range(column), missing)
    return table


def _range(column: ColumnInfo) -> str:
    """Return the smallest and the largest value, or the most frequent categories."""
    if column.categories:
        shown = [
            f"{shortened(printable(value))} ({n_rows:,})"
            for value, n_rows in column.categories[:MOST_CATEGORIES]
        ]
        n_more = len(column.categories) - len(shown)
        return ", ".join(shown) + (f" and {n_more} more" if n_more else "")
    if column.low is None:
        return ""
    return f"{printable(value_text(column.low))} to {printable(value_text(column.high))}"


def printable(value: object) -> str:
    """Return a value of a file as text without control characters, which could change the terminal."""
    return "".join(character if character.isprintable() else "�" for character in str(value))
