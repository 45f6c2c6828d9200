"""`lann counterfactual`: small changes of rows that lead to another prediction."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more

if TYPE_CHECKING:
    from rich.table import Table

MOST_CHANGES = 20
# Rows that are changed between two reports of the progress.
ROWS_AT_ONCE = 20
HOW_TO_READ = (
    "With these values instead, and all others as they are, the model predicts the other class; in brackets "
    "its probability before and after. Similar: how many of the ten nearest training rows then have that "
    "label, if all columns count alike. This is what the model does, not what a change would cause; a "
    "smaller change may exist."
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
    at_least: Annotated[float, opt.option("The probability that the other class is to have.")] = 0.6,
    constraints: opt.ConstraintOptions,
    max_columns: Annotated[int, opt.at_least(1, "Number of columns that change together, at most.")] = 3,
    results: Annotated[int, opt.at_least(1, "Number of different changes of each row, at most.")] = 1,
    id: opt.RowNames = None,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Find what would have to be different for another prediction.

    Changes few columns, as little as possible, such that similar training rows have the other label, and
    predicts again. Columns that cannot change, such as an age, are given as --frozen, or those that can as
    --allow; --constraints reads all of this from a file.
    """
    import pandas as pd

    from lann.tables import TableModel

    out = Output(json, table=output, guarded=spreadsheet_safe)
    name = opt.table_name(data)
    with out.progress() as step:
        step("Reading")
        fitted = TableModel.load(model)
        frame = tables.read(data, out.notes).frame
        allowed = constraints.of_file_and_options()
        report, chosen, parts = step("Searching"), rows.chosen(len(frame), [0]), []
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            part = fitted.counterfactuals(
                frame, chosen[start : start + ROWS_AT_ONCE], target=target_class, id=id, name=name,
                at_least=at_least, constraints=allowed, n_results=results, max_features=max_columns,
            )  # fmt: skip
            parts.append(part)
            report(min(start + ROWS_AT_ONCE, len(chosen)), len(chosen))
    changes = [result for part in parts for result in part.to_dict()]
    out.print(_change_table(changes, at_least))
    if output is not None:
        out.write_table(pd.concat([part.to_frame() for part in parts], ignore_index=True), output)
    out.hint(HOW_TO_READ)
    n_found = sum(result["found"] for result in changes if result["rank"] == 1)
    out.finish(model=model, table=name, n_rows=len(chosen), n_found=n_found, rows=changes)


def _change_table(changes: list[dict[str, Any]], at_least: float) -> Table:
    """Return a table with the first changes, a line for each column that changes."""
    named = [name for name in ("id", "rank") if any(result.get(name, 1) != 1 for result in changes)]
    lines: list[list[str] | None] = []
    for result in changes[:MOST_CHANGES]:
        becomes = "it is that already" if result["found"] else f"no change found for {percent(at_least)}"
        now, similar = f"{result['prediction']} ({percent(result['probability'])})", ""
        if result["changes"]:
            now = str(result["prediction"])
            before, after = (percent(result[f"probability_{when}"]) for when in ("before", "after"))
            becomes = f"{result['becomes']} ({before.rstrip('%')}→{after})"
            similar = f"{round(10 * result['plausibility'])}/10"
        cells = [str(result["row"]), *(str(result[name]) for name in named), now, becomes, similar]
        for change in result["changes"] or [{"column": "", "from": "", "to": ""}]:
            lines.append([*cells, change["column"], value_text(change["from"]), value_text(change["to"])])
            cells = [""] * len(cells)
        lines.append(None)
    return make_table(
        [">row", *named, "now", "becomes", ">similar", "column", ">from", ">to"],
        lines,
        caption=more(len(changes) - MOST_CHANGES, "change", ": write all to a file with -o"),
    )
