"""`lann info`: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from lann._support.format import counted, percent, value_text
from lann.cli import options as opt
from lann.cli.fit import KINDS, category_text
from lann.cli.output import make_table, print_document, results

if TYPE_CHECKING:
    from lann.tables import ColumnInfo, ModelInfo

MOST_CLASSES = 20
WIDEST_NAME = 18


def info(
    model: opt.ModelFile,
    columns: Annotated[
        int, typer.Option(min=1, help="Number of columns to show; --json has all of them.")
    ] = 50,
    json: opt.AsJson = False,
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
        lines = [
            [
                column.name,
                KINDS[column.kind][0],
                _range(column),
                percent(column.missing, 1) if column.missing else "",
            ]
            for column in found.columns[:columns]
        ]
        title = counted(len(found.columns), "column")
        console.print(make_table(["column", "kind", "values", ">missing"], lines, title=title))
        n_more = len(found.columns) - columns
        if n_more > 0:
            more = f"and {counted(n_more, 'more column')}: --columns {len(found.columns)}"
            console.print(more, soft_wrap=True)


def _facts(found: ModelInfo, path: str) -> list[tuple[str, str]]:
    """Return what is known about the model."""
    file, table = found.file, found.file.table
    n_more = len(found.classes) - MOST_CLASSES
    classes = ", ".join(
        str(label) + ("" if n_rows is None else f" ({n_rows:,})")
        for label, n_rows in found.classes[:MOST_CLASSES]
    )
    more = f" and {n_more} more" if n_more > 0 else ""
    parameters = ", ".join(f"{name}={value}" for name, value in found.parameters.items())
    accuracies = ", ".join(
        f"{scores.method} {scores.accuracy:.3f} ± {scores.accuracy_std or 0:.3f}"
        for scores in found.cross_validation
        if scores.accuracy is not None
    )
    n_folds = found.cross_validation[0].n_folds if accuracies else 0
    facts = [
        ("file", f"{path}, {file.n_bytes:,} bytes"),
        ("SHA-256", file.sha256),
        ("written by", f"lann {file.version}, format {file.format}"),
        ("estimator", found.estimator),
        ("parameters", parameters or "the defaults"),
        ("learned levels", None if found.levels is None else ", ".join(found.levels) or "none"),
        ("vote", found.vote),
        ("training rows", None if found.n_rows is None else f"{found.n_rows:,}"),
        ("target", found.target),
        ("classes", f"{len(found.classes)}: {classes}{more}" if found.classes else None),
        ("names of rows", None if table is None else table.id_column),
        ("sample weights", None if table is None else table.sample_weight_column),
        ("cross-validation", f"accuracy in {n_folds} folds: {accuracies}" if accuracies else None),
        ("training file", None if table is None or not table.data_sha256 else f"SHA-256 {table.data_sha256}"),
        ("not used", "; ".join(f"{name} ({reason})" for name, reason in found.ignored.items()) or None),
    ]
    return [(name, text) for name, text in facts if text is not None]


def _range(column: ColumnInfo) -> str:
    """Return the smallest and the largest value, or the most frequent categories."""
    if column.categories:
        categories, counts = zip(*column.categories, strict=True)
        return category_text(list(categories), list(counts))
    return "" if column.low is None else f"{value_text(column.low)} to {value_text(column.high)}"
