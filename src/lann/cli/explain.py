"""`lann explain`: the neighbors and columns behind predictions."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lann._format import counted
from lann._markup import check_page_path
from lann.cli.consoles import collected_notes, note, results
from lann.cli.errors import one_sentence
from lann.cli.options import (
    Decimal,
    Encoding,
    ModelFile,
    RowsFile,
    Sep,
    Sheet,
    TableOptions,
    table_name,
)

# Rows of a report by default, and at most: a page of about ten megabytes.
REPORTED_ROWS, MOST_REPORTED_ROWS = 20, 500


@one_sentence
def explain(
    model: ModelFile,
    data: RowsFile,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="A row to explain; the first one below the header is 0. May be repeated.",
            show_default="0, or the first 20 for --html",
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FROM:TO", help="Rows to explain, without the last one: 0:20.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report, a page for the browser, instead of printing tables."
        ),
    ] = None,
    columns: Annotated[
        int, typer.Option(min=1, help="Number of columns to show, the most relevant first.")
    ] = 10,
    id: Annotated[
        str | None,
        typer.Option(
            "--id", metavar="COLUMN", help="A column that names the rows.",
            show_default="that of the model, if there",
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write a table with a line per neighbor and column: .csv, .csv.gz or .parquet.",
        ),
    ] = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
) -> None:  # fmt: skip
    """Explain predictions.

    Shows the training rows that voted, with their values, and the columns that the prediction depends on: the
    share of the vote that changes when the value of a column is replaced by other values, and whether the
    value supports the prediction. Row numbers start at 0, below the header.
    """
    from lann.cli.show_row import show_rows
    from lann.report import save_report
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    if html is not None:
        check_page_path(html)
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        chosen = _chosen_rows(row or [], rows, len(frame), is_report=html is not None)
        explanation = fitted.explain(frame, chosen, id=id, name=table_name(data))
    console = results()
    if html is not None:
        title = f"{model.name} on {table_name(data)}"
        save_report(html, fitted, explanation, title=title, n_features=columns, notes=notes)
        explained = f"{counted(len(explanation), 'row')} explained"
        console.print(f"Wrote {html}: {explained}; open it in a browser", soft_wrap=True)
    else:
        show_rows(explanation, console, n_columns=columns)
    if output is not None:
        write_table(explanation.to_long_frame(), output)
        console.print(f"Wrote {output}", soft_wrap=True)
    for text in notes:
        note(text, console)


def _chosen_rows(row: list[int], rows: str | None, n_rows: int, *, is_report: bool) -> list[int]:
    """Return the rows that --row and --rows name, each once, in the order given."""
    if not row and rows is None:
        return list(range(min(REPORTED_ROWS, n_rows))) if is_report else [0]
    chosen = list(dict.fromkeys([*row, *([] if rows is None else _parse_range(rows, n_rows))]))
    if is_report and len(chosen) > MOST_REPORTED_ROWS:
        raise ValueError(
            f"A report has at most {MOST_REPORTED_ROWS} rows; got {len(chosen)}. Give fewer with --rows, or "
            "write all of them to a table with -o."
        )
    return chosen


def _parse_range(text: str, n_rows: int) -> range:
    start, colon, stop = text.partition(":")
    try:
        first, end = int(start or 0), int(stop) if stop else n_rows
    except ValueError:
        first, end = -1, -1
    if not colon or first < 0 or (stop and end <= first):
        raise ValueError(f"--rows must be two numbers, the smaller first, like 0:20; got {text!r}.")
    return range(first, max(min(end, n_rows), first + 1))  # one row at least: it may not exist
