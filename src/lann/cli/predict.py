"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

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

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

MOST_ROWS = 20
MOST_CLASSES = 6


@one_sentence
def predict(
    model: ModelFile,
    data: RowsFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output",
            "-o",
            help="The file to write: .csv, .csv.gz or .parquet. Without it, a table is printed.",
        ),
    ] = None,
    id: Annotated[
        str | None,
        typer.Option(
            "--id",
            metavar="COLUMN",
            help="A column to keep beside the predictions.",
            show_default="that of the model, if there",
        ),
    ] = None,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
) -> None:
    """Predict labels for new rows.

    Returns the label and, for every class, its probability. Columns that the model does not use are
    ignored.
    """
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        predictions = fitted.predict(frame, id=id, name=table_name(data))
    console = results()
    if output is None:
        console.print(_preview(predictions))
    else:
        write_table(predictions, output)
        console.print(f"Wrote {len(predictions)} predictions to {output}", soft_wrap=True)
    for text in notes:
        note(text, console)


def _preview(predictions: pd.DataFrame) -> Table:
    """Return the first rows and classes."""
    from rich.table import Table

    n_text = 2 if predictions.columns[1] == "prediction" else 1  # names of the rows come first
    names = list(predictions.columns)[: n_text + MOST_CLASSES]
    n_rows, n_classes = len(predictions) - MOST_ROWS, len(predictions.columns) - len(names)
    more = [f"{n} more {what}" for n, what in ((n_rows, "rows"), (n_classes, "classes")) if n > 0]
    table = Table(
        caption=f"and {' and '.join(more)}: write all to a file with -o" if more else None,
        caption_justify="left",
    )
    table.add_column("row", justify="right", style="dim")
    for j, name in enumerate(names):
        table.add_column(name, justify="left" if j < n_text else "right")
    for row, cells in enumerate(predictions.iloc[:MOST_ROWS, : len(names)].itertuples(index=False)):
        shown = [str(cell) for cell in cells[:n_text]] + [f"{cell:.3f}" for cell in cells[n_text:]]
        table.add_row(str(row), *shown)
    return table
