"""`lann counterfactual`: the smallest changes of rows that lead to another prediction."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._format import percent, value_text
from lann.cli.consoles import collected_notes, note, progress, results, step
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    Decimal,
    Encoding,
    ModelFile,
    RowNames,
    RowsFile,
    Sep,
    Sheet,
    SpreadsheetSafe,
    TableOptions,
    named_rows,
    table_name,
)

if TYPE_CHECKING:
    from rich.table import Table

MOST_ROWS = 20
# Rows that are changed between two reports of the progress.
ROWS_AT_ONCE = 20
HOW_TO_READ = (
    "With these values instead, and all others as they are, the model predicts the other class. This is what "
    "the model does, not what a change would cause; a smaller change may exist."
)


@one_sentence
def counterfactual(
    model: ModelFile,
    data: RowsFile,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="A row to change; the first one below the header is 0. May be repeated.", show_default="0"
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FROM:TO", help="Rows to change, without the last one: 0:20.")
    ] = None,
    target_class: Annotated[
        str | None,
        typer.Option(metavar="CLASS", help="The class that is wanted.", show_default="any other"),
    ] = None,
    frozen: Annotated[
        list[str] | None,
        typer.Option(metavar="COLUMN", help="A column that must not change. May be repeated."),
    ] = None,
    max_columns: Annotated[
        int, typer.Option("--max-columns", min=1, help="Number of columns that change together, at most.")
    ] = 3,
    id: RowNames = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write a table with a line per row and changed column: .csv, .csv.gz or .parquet.",
        ),
    ] = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = True,
) -> None:  # fmt: skip
    """Find what would have to be different for another prediction.

    Changes as few columns as possible, as little as possible, within the range of the training rows, and
    predicts again. Columns that cannot change, such as an age, are given as --frozen.
    """
    import pandas as pd

    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    with progress(quiet=json) as bar, collected_notes() as notes:
        report = step(bar, "Reading")
        fitted = TableModel.load(model)
        frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        chosen = named_rows(row, rows, len(frame)) or [0]
        report = step(bar, "Searching")
        parts = []
        for start in range(0, len(chosen), ROWS_AT_ONCE):
            part = fitted.counterfactuals(
                frame, chosen[start : start + ROWS_AT_ONCE], target=target_class, frozen=frozen or [],
                max_features=max_columns, id=id, name=table_name(data),
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
    for text in notes:
        note(text, console)
    if json:
        print_document(
            {
                "model": model,
                "table": table_name(data),
                "n_rows": len(changes),
                "n_found": sum(result["found"] for result in changes),
                "rows": changes,
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


def _change_table(changes: list[dict[str, Any]]) -> Table:
    """Return a table with the changes of the first rows, a line for each column that changes."""
    from rich.table import Table

    n_more, has_ids = len(changes) - MOST_ROWS, "id" in changes[0]
    table = Table(
        caption=f"and {n_more} more rows: write all to a file with -o" if n_more > 0 else None,
        caption_justify="left",
    )
    table.add_column("row", justify="right")
    if has_ids:
        table.add_column("id")
    for name in ("prediction", "becomes", "column"):
        table.add_column(name, overflow="fold")
    table.add_column("this row", justify="right")
    table.add_column("instead", justify="right")
    for result in changes[:MOST_ROWS]:
        names = [str(result["row"]), *([result["id"]] if has_ids else [])]
        names.append(f"{result['prediction']} ({percent(result['probability'])})")
        names.append(_outcome(result))
        lines = [
            (change["column"], value_text(change["from"]), value_text(change["to"]))
            for change in result["changes"]
        ] or [("", "", "")]
        for number, line in enumerate(lines):
            own = names if number == 0 else [""] * len(names)
            table.add_row(*own, *line, end_section=number == len(lines) - 1)
    return table


def _outcome(result: dict[str, Any]) -> str:
    if result["changes"]:
        return f"{result['becomes']} ({percent(result['new_probability'])})"
    return "it is that already" if result["found"] else "no change found"
