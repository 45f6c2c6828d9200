"""`lann counterfactual`: the smallest changes of rows that lead to another prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._support.format import percent, value_text
from lann.cli import options as opt
from lann.cli.output import collected_notes, make_table, print_document, progress, results, show_notes, step

if TYPE_CHECKING:
    from rich.table import Table

MOST_ROWS = 20
# Rows that are changed between two reports of the progress.
ROWS_AT_ONCE = 20
HOW_TO_READ = (
    "With these values instead, and all others as they are, the model predicts the other class. This is what "
    "the model does, not what a change would cause; a smaller change may exist."
)
Row = Annotated[
    list[int] | None,
    typer.Option(
        help="A row to change; the first one below the header is 0. May be repeated.", show_default="0"
    ),
]
TargetClass = Annotated[
    str | None, typer.Option(metavar="CLASS", help="The class that is wanted.", show_default="any other")
]
MaxColumns = Annotated[int, typer.Option(min=1, help="Number of columns that change together, at most.")]


def counterfactual(
    model: opt.ModelFile,
    data: opt.RowsFile,
    row: Row = None,
    rows: opt.Rows = None,
    target_class: TargetClass = None,
    frozen: opt.Frozen = None,
    max_columns: MaxColumns = 3,
    id: opt.RowNames = None,
    output: Annotated[
        Path | None,
        opt.output_option(f"Write a table with a line per row and changed column: {opt.TABLE_FORMATS}"),
    ] = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Find what would have to be different for another prediction.

    Changes as few columns as possible, as little as possible, within the range of the training rows, and
    predicts again. Columns that cannot change, such as an age, are given as --frozen.
    """
    import pandas as pd

    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    name, parts = opt.table_name(data), []
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        fitted = TableModel.load(model)
        frame = opt.TableOptions(sep, decimal, encoding, sheet).read(data, notes).frame
        chosen = opt.named_rows(row, rows, len(frame)) or [0]
        report = step(bar, "Searching")
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            part = fitted.counterfactuals(
                frame, chosen[start : start + ROWS_AT_ONCE], target=target_class, frozen=frozen or [],
                max_features=max_columns, id=id, name=name,
            )  # fmt: skip
            parts.append(part)
            report(start + len(part), len(chosen))
    changes = [result for part in parts for result in part.to_dict()]
    console = results(quiet=json)
    console.print(_change_table(changes))
    if output is not None:
        table = pd.concat([part.to_frame() for part in parts], ignore_index=True)
        write_table(table, output, guard_formulas=spreadsheet_safe)
        console.print(f"Wrote {output}", soft_wrap=True)
    console.print(HOW_TO_READ, style="dim")
    show_notes(notes, console)
    if json:
        print_document(
            {
                "model": model,
                "table": name,
                "n_rows": len(changes),
                "n_found": sum(result["found"] for result in changes),
                "rows": changes,
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


def _change_table(changes: list[dict[str, Any]]) -> Table:
    """Return a table with the changes of the first rows, a line for each column that changes."""
    n_more, has_ids = len(changes) - MOST_ROWS, "id" in changes[0]
    lines: list[list[str] | None] = []
    for result in changes[:MOST_ROWS]:
        becomes = "it is that already" if result["found"] else "no change found"
        if result["changes"]:
            becomes = f"{result['becomes']} ({percent(result['new_probability'])})"
        names = [str(result["row"]), *([result["id"]] if has_ids else [])]
        names += [f"{result['prediction']} ({percent(result['probability'])})", becomes]
        changed = [
            [change["column"], value_text(change["from"]), value_text(change["to"])]
            for change in result["changes"]
        ] or [["", "", ""]]
        lines.append([*names, *changed[0]])
        lines += [[""] * len(names) + line for line in changed[1:]]
        lines.append(None)
    ids = ["id"] if has_ids else []
    return make_table(
        [">row", *ids, "prediction", "becomes", "column", ">this row", ">instead"],
        lines,
        caption=f"and {n_more} more rows: write all to a file with -o" if n_more > 0 else None,
    )
