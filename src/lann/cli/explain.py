"""`lann explain`: the neighbors and columns behind predictions."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import numpy as np
import typer

from lann.cli.consoles import note, results
from lann.cli.errors import one_sentence
from lann.cli.options import ModelFile, RowsFile
from lann.cli.tables import check_output, read_table, write_table

# What a report shows unless told, and at most: a page of some ten megabytes.
REPORTED_ROWS, MOST_REPORTED_ROWS = 20, 500


@one_sentence
def explain(
    model: ModelFile,
    data: RowsFile,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="Which row to explain; the first one below the header is 0. May be given repeatedly.",
            show_default="0, or the first 20 for --html",
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FROM:TO", help="Rows to explain, the last one excluded: 0:20.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report, one page for any browser, instead of showing tables here."
        ),
    ] = None,
    columns: Annotated[int, typer.Option(min=1, help="How many columns to show, most relevant first.")] = 10,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="A column that names the rows to explain.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write everything, one line per neighbor and column, to .csv, .csv.gz or .parquet.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Explain predictions.

    Shows the training rows that voted (row numbers count from 0, below the header), their values beside those
    of the row asked about, and what the prediction hangs on: the share of the vote that changes when a
    column's value is another's, and what speaks for the prediction or against it. A text column is one line,
    whatever the number of its values.
    """
    from lann.cli.account import accounts, explain_rows
    from lann.cli.trained import Trained, id_column, unseen_notes

    if output is not None:
        check_output(output)
    if html is not None:
        check_page(html)
    trained = Trained.load(model)
    frame = read_table(data)
    places = chosen_rows(row or [], rows, len(frame), data.name, reported=html is not None)
    prepared = trained.prepare(frame, data.name)
    chosen = prepared[places] if isinstance(prepared, np.ndarray) else prepared.iloc[places]
    ids = None if id is None else id_column(frame, id, data.name)[places]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown categories: said below, in words
        explanation = explain_rows(trained, chosen)
    found = accounts(trained, chosen, explanation, places, ids)
    notes = [*trained.notes, *unseen_notes(trained.unseen_values(chosen))]
    console = results()
    if html is not None:
        from lann.cli.report import write_report

        title = f"{model.name} on {data.name}"
        write_report(html, trained, explanation, found, title=title, shown_columns=columns, notes=notes)
        several = "1 row" if len(found) == 1 else f"{len(found)} rows"
        console.print(f"Wrote {html}: {several} explained; open it in a browser", soft_wrap=True)
    else:
        from lann.cli.show import show

        for place, account in enumerate(found):
            if len(found) > 1:
                called = "" if account.id is None else f", {account.id}"
                console.print(f"{'' if place == 0 else chr(10)}Row {account.row}{called}", style="bold")
            show(account, console, shown_columns=columns)
    if output is not None:
        import pandas as pd

        write_table(pd.concat([account.to_frame() for account in found], ignore_index=True), output)
        console.print(f"Wrote {output}", soft_wrap=True)
    for text in notes:
        note(text, console)


def check_page(path: Path) -> None:
    """Raise now, rather than after the work, if a page cannot be written."""
    if path.suffix.lower() not in (".html", ".htm"):
        raise ValueError(f"{path} is of an unknown kind; give a file that ends in .html for --html.")
    check_output(path, kinds=())


def chosen_rows(row: list[int], rows: str | None, n_rows: int, source: str, *, reported: bool) -> list[int]:
    """The rows that --row and --rows ask for, each once, in the order given."""
    if not row and rows is None:
        return list(range(min(REPORTED_ROWS, n_rows))) if reported else [0]
    for place in row:
        if not 0 <= place < n_rows:
            raise ValueError(f"There is no row {place} in {source}; its rows are 0 to {n_rows - 1}.")
    places = list(dict.fromkeys([*row, *(_stretch(rows, n_rows, source) if rows is not None else [])]))
    if reported and len(places) > MOST_REPORTED_ROWS:
        raise ValueError(
            f"A report shows at most {MOST_REPORTED_ROWS} rows, and {len(places)} are asked for; "
            "give fewer with --rows, or write them all to a table with -o."
        )
    return places


def _stretch(text: str, n_rows: int, source: str) -> range:
    start, colon, stop = text.partition(":")
    try:
        first, end = int(start or 0), int(stop) if stop else n_rows
    except ValueError:
        first, end = -1, -1
    if not colon or not 0 <= first < end:
        raise ValueError(
            f"--rows takes two numbers, the smaller first, with a colon between, like 0:20; got {text!r}."
        )
    if first >= n_rows:
        raise ValueError(f"There is no row {first} in {source}; its rows are 0 to {n_rows - 1}.")
    return range(first, min(end, n_rows))
