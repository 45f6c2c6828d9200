"""`lann counterfactual`: the smallest changes of rows that lead to another prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more

if TYPE_CHECKING:
    from rich.table import Table

MOST_ROWS = 20
# Rows that are changed between two reports of the progress.
ROWS_AT_ONCE = 20
HOW_TO_READ = (
    "With these values instead, and all others as they are, the model predicts the other class. This is what "
    "the model does, not what a change would cause; a smaller change may exist."
)
TargetClass = Annotated[
    opt.Text, opt.option("The class that is wanted.", metavar="CLASS", default="any other")
]
OutputFile = Annotated[
    opt.File, opt.output_option(f"Write a table with a line per row and changed column: {opt.TABLE_FORMATS}")
]


def counterfactual(
    model: opt.ModelFile,
    data: opt.RowsFile,
    *,
    rows: opt.RowOptions,
    target_class: TargetClass = None,
    frozen: opt.Frozen = None,
    max_columns: Annotated[int, opt.at_least(1, "Number of columns that change together, at most.")] = 3,
    id: opt.RowNames = None,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Find what would have to be different for another prediction.

    Changes as few columns as possible, as little as possible, within the range of the training rows, and
    predicts again. Columns that cannot change, such as an age, are given as --frozen.
    """
    import pandas as pd

    from lann.tables import TableModel

    out = Output(json, table=output, guarded=spreadsheet_safe)
    name = opt.table_name(data)
    with out.progress() as step:
        step("Reading")
        fitted = TableModel.load(model)
        frame = tables.read(data, out.notes).frame
        report, chosen, parts = step("Searching"), rows.chosen(len(frame), [0]), []
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            part = fitted.counterfactuals(
                frame, chosen[start : start + ROWS_AT_ONCE], target=target_class, frozen=frozen or [],
                max_features=max_columns, id=id, name=name,
            )  # fmt: skip
            parts.append(part)
            report(start + len(part), len(chosen))
    changes = [result for part in parts for result in part.to_dict()]
    out.print(_change_table(changes))
    if output is not None:
        out.write_table(pd.concat([part.to_frame() for part in parts], ignore_index=True), output)
    out.hint(HOW_TO_READ)
    n_found = sum(result["found"] for result in changes)
    out.finish(model=model, table=name, n_rows=len(changes), n_found=n_found, rows=changes)


def _change_table(changes: list[dict[str, Any]]) -> Table:
    """Return a table with the changes of the first rows, a line for each column that changes."""
    ids = ["id"] if "id" in changes[0] else []
    lines: list[list[str] | None] = []
    for result in changes[:MOST_ROWS]:
        becomes = "it is that already" if result["found"] else "no change found"
        if result["changes"]:
            becomes = f"{result['becomes']} ({percent(result['new_probability'])})"
        prediction = f"{result['prediction']} ({percent(result['probability'])})"
        names = [str(result["row"]), *(result[id] for id in ids), prediction, becomes]
        for change in result["changes"] or [{"column": "", "from": "", "to": ""}]:
            lines.append([*names, change["column"], value_text(change["from"]), value_text(change["to"])])
            names = [""] * len(names)
        lines.append(None)
    return make_table(
        [">row", *ids, "prediction", "becomes", "column", ">this row", ">instead"],
        lines,
        caption=more(len(changes) - MOST_ROWS, "row", ": write all to a file with -o"),
    )
