"""`lann info`: what is in a model file."""

from __future__ import annotations

from typing import Annotated, Any

from lann._support.format import counted, percent
from lann.cli import options as opt
from lann.cli.fit import KINDS, category_text
from lann.cli.output import Output, make_table, more

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
    from lann.persist import read_model_info

    content, out = read_model_info(model), Output(json)
    out.finish(model=model, **content)
    for name, text in _facts(content, str(model)).items():
        if text is not None:
            out.print(f"{name + ':':<{WIDEST_NAME}}{text}")
    if not content["columns"]:
        return
    lines = []
    for column in content["columns"][:columns]:
        counts = [(category["value"], category["n_rows"]) for category in column["categories"]]
        values = category_text(*map(list, zip(*counts, strict=True))) if counts else column["range"] or ""
        missing = percent(column["missing"], 1) if column["missing"] else ""
        lines.append([column["name"], KINDS.get(column["kind"], ("",))[0], values, missing])
    n_columns = content["n_columns"]
    title, names = counted(n_columns, "column"), ["column", "kind", "values", ">missing"]
    out.print(make_table(names, lines, title=title))
    if hint := more(n_columns - columns, "column", f": --columns {n_columns}"):
        out.print(hint)


def _facts(info: dict[str, Any], path: str) -> dict[str, Any]:
    """Return what is known about the model; None where it is not."""
    n_classes = len(info["classes"])
    classes = ", ".join(
        str(known["label"]) + ("" if known["n_rows"] is None else f" ({known['n_rows']:,})")
        for known in info["classes"][:MOST_CLASSES]
    )
    if n_classes > MOST_CLASSES:
        classes += f" and {n_classes - MOST_CLASSES} more"
    scores = [method for method in info["cross_validation"] if method["accuracy"] is not None]
    accuracies = ", ".join(
        f"{method['method']} {method['accuracy']:.3f} ± {method['accuracy_std'] or 0:.3f}"
        for method in scores
    )
    n_rows, levels, sha256 = info["n_rows"], info["levels"], info["data_sha256"]
    return {
        "file": f"{path}, {info['n_bytes']:,} bytes",
        "SHA-256": info["sha256"],
        "written by": f"lann {info['version']}, format {info['format']}",
        "estimator": info["estimator"],
        "parameters": ", ".join(f"{name}={value}" for name, value in info["parameters"].items())
        or "the defaults",
        "learned levels": None if levels is None else ", ".join(levels) or "none",
        "vote": info["vote"] and info["vote"]["text"],
        "training rows": None if n_rows is None else f"{n_rows:,}",
        "target": info["target"],
        "classes": f"{n_classes}: {classes}" if n_classes else None,
        "names of rows": info["id_column"],
        "sample weights": info["sample_weight_column"],
        "cross-validation": f"accuracy in {scores[0]['n_folds']} folds: {accuracies}" if scores else None,
        "training file": f"SHA-256 {sha256}" if sha256 else None,
        "not used": "; ".join(f"{x['name']} ({x['reason']})" for x in info["ignored"]) or None,
    }
