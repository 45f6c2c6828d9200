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
WIDEST_NAME = 18


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
    for name, text in _facts(found, str(model)):
        console.print(f"{name + ':':<{WIDEST_NAME}}{text}", soft_wrap=True)
    if found.columns:
        console.print(_columns(found, columns))
        n_more = len(found.columns) - columns
        if n_more > 0:
            more = f"and {counted(n_more, 'more column')}: --columns {len(found.columns)}"
            console.print(more, soft_wrap=True)


def _facts(found: ModelInfo, path: str) -> list[tuple[str, str]]:
    """Return what there is to say about the model, without what is unknown."""
    file, table = found.file, found.file.table
    n_more = len(found.classes) - MOST_CLASSES
    classes = ", ".join(
        str(label) + ("" if n_rows is None else f" ({n_rows:,})")
        for label, n_rows in found.classes[:MOST_CLASSES]
    )
    more = f" and {n_more} more" if n_more > 0 else ""
    facts = [
        ("file", f"{path}, {file.n_bytes:,} bytes"),
        ("SHA-256", file.sha256),
        ("written by", f"lann {file.version}, format {file.format}"),
        ("estimator", found.estimator),
        (
            "parameters",
            ", ".join(f"{k}={v}" for k, v in found.parameters.items()) or "the defaults",
        ),
        ("learned levels", None if found.levels is None else ", ".join(found.levels) or "none"),
        ("vote", found.vote),
        ("training rows", None if found.n_rows is None else f"{found.n_rows:,}"),
        ("target", found.target),
        ("classes", f"{len(found.classes)}: {classes}{more}" if found.classes else None),
        ("names of rows", None if table is None else table.id_column),
        ("sample weights", None if table is None else table.sample_weight_column),
        ("cross-validation", _scores(found)),
        ("training file", None if table is None or not table.data_sha256 else f"SHA-256 {table.data_sha256}"),
        ("not used", "; ".join(f"{name} ({reason})" for name, reason in found.ignored.items()) or None),
    ]
    return [(name, text) for name, text in facts if text is not None]


def _scores(found: ModelInfo) -> str | None:
    """Return the accuracies of the cross-validation, if they are known."""
    parts = [
        f"{scores.method} {scores.accuracy:.3f} ± {scores.accuracy_std or 0:.3f}"
        for scores in found.cross_validation
        if scores.accuracy is not None
    ]
    if not parts:
        return None
    return f"accuracy in {found.cross_validation[0].n_folds} folds: {', '.join(parts)}"


def _columns(found: ModelInfo, most: int) -> Table:
    from rich.table import Table

    table = Table(
        title=counted(len(found.columns), "column"),
        title_justify="left",
        title_style="bold",
    )
    table.add_column("column", overflow="fold")
    table.add_column("kind")
    table.add_column("values", overflow="fold")
    table.add_column("missing", justify="right")
    for column in found.columns[:most]:
        missing = percent(column.missing, 1) if column.missing else ""
        table.add_row(column.name, KINDS[column.kind][0], _range(column), missing)
    return table


def _range(column: ColumnInfo) -> str:
    """Return the smallest and the largest value, or the most frequent categories."""
    if column.categories:
        shown = [f"{shortened(value)} ({n_rows:,})" for value, n_rows in column.categories[:MOST_CATEGORIES]]
        n_more = len(column.categories) - len(shown)
        return ", ".join(shown) + (f" and {n_more} more" if n_more else "")
    if column.low is None:
        return ""
    return f"{value_text(column.low)} to {value_text(column.high)}"
