"""`lann info`: what is in a model file."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import counted, percent, value_text
from lann.cli import options as opt
from lann.cli.fit import KINDS, category_text
from lann.cli.output import Output, make_table, more

if TYPE_CHECKING:
    from lann.tables import ModelInfo

MOST_CLASSES = 20
WIDEST_NAME = 18


def info(
    model: opt.ModelFile,
    *,
    columns: Annotated[int, opt.at_least(1, "Number of columns to show; --json has all of them.")] = 50,
    json: opt.AsJson = False,
) -> None:
    """Show what is in a model file.

    Its version and estimator, the parameters that are not the defaults, the classes, the columns with their
    ranges or categories, and the hash of the file. Nothing in the file can run.
    """
    from lann.tables import ModelInfo

    content, out = ModelInfo.from_file(model), Output(json)
    if json:
        out.print_document({"model": model, **content.to_dict()})
    for name, text in _facts(content, str(model)).items():
        if text is not None:
            out.print(f"{name + ':':<{WIDEST_NAME}}{text}")
    if not content.columns:
        return
    lines = []
    for column in content.columns[:columns]:
        values = "" if column.low is None else f"{value_text(column.low)} to {value_text(column.high)}"
        if column.categories:
            values = category_text(*map(list, zip(*column.categories, strict=True)))
        missing = percent(column.missing, 1) if column.missing else ""
        lines.append([column.name, KINDS[column.kind][0], values, missing])
    n_columns = len(content.columns)
    title, names = counted(n_columns, "column"), ["column", "kind", "values", ">missing"]
    out.print(make_table(names, lines, title=title))
    if hint := more(n_columns - columns, "column", f": --columns {n_columns}"):
        out.print(hint)


def _facts(content: ModelInfo, path: str) -> dict[str, Any]:
    """Return what is known about the model; None where it is not."""
    file, table, n_classes = content.file, content.file.table, len(content.classes)
    classes = ", ".join(
        str(label) + ("" if n_rows is None else f" ({n_rows:,})")
        for label, n_rows in content.classes[:MOST_CLASSES]
    )
    if n_classes > MOST_CLASSES:
        classes += f" and {n_classes - MOST_CLASSES} more"
    accuracies = ", ".join(
        f"{scores.method} {scores.accuracy:.3f} ± {scores.accuracy_std or 0:.3f}"
        for scores in content.cross_validation
        if scores.accuracy is not None
    )
    n_folds = content.cross_validation[0].n_folds if accuracies else 0
    facts = {
        "file": f"{path}, {file.n_bytes:,} bytes",
        "SHA-256": file.sha256,
        "written by": f"lann {file.version}, format {file.format}",
        "estimator": content.estimator,
        "parameters": ", ".join(f"{name}={value}" for name, value in content.parameters.items())
        or "the defaults",
        "learned levels": None if content.levels is None else ", ".join(content.levels) or "none",
        "vote": content.vote,
        "training rows": None if content.n_rows is None else f"{content.n_rows:,}",
        "target": content.target,
        "classes": f"{n_classes}: {classes}" if n_classes else None,
    }
    if table is not None:
        facts["names of rows"] = table.id_column
        facts["sample weights"] = table.sample_weight_column
        facts["cross-validation"] = f"accuracy in {n_folds} folds: {accuracies}" if accuracies else None
        facts["training file"] = f"SHA-256 {table.data_sha256}" if table.data_sha256 else None
    ignored = "; ".join(f"{name} ({reason})" for name, reason in content.ignored.items())
    return facts | {"not used": ignored or None}
