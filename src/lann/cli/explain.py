"""`lann explain`: the neighbours and columns behind one prediction."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import Annotated

import typer

from lann.cli.consoles import note, results
from lann.cli.errors import one_sentence
from lann.cli.options import ModelFile, RowsFile
from lann.cli.tables import check_output, read_table, write_table


@one_sentence
def explain(
    model: ModelFile,
    data: RowsFile,
    row: Annotated[
        int, typer.Option(help="Which row to explain; the first one below the header is 0.")
    ] = 0,
    columns: Annotated[int, typer.Option(min=1, help="How many columns to show, most relevant first.")] = 10,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write everything, one line per neighbour and column, to .csv, .csv.gz or .parquet.",
        ),
    ] = None,
) -> None:  # fmt: skip
    """Explain the prediction for one row.

    Shows the training rows that voted (row numbers count from 0, below the header), their values beside
    those of the row asked about, and how much each column counts there. A text column is one line, whatever
    the number of its values.
    """
    from lann.cli.account import Account
    from lann.cli.show import show
    from lann.cli.trained import Trained, unseen_notes

    if output is not None:
        check_output(output)
    trained = Trained.load(model)
    frame = read_table(data)
    if not 0 <= row < len(frame):
        raise ValueError(f"There is no row {row} in {data.name}; its rows are 0 to {len(frame) - 1}.")
    rows = trained.prepare(frame, data.name)[row : row + 1]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown categories: said below, in words
        account = Account.of(trained, rows)
    console = results()
    show(account, console, shown_columns=columns)
    if output is not None:
        write_table(account.to_frame(row), output)
        console.print(f"Wrote {output}", soft_wrap=True)
    for text in [*trained.notes, *unseen_notes(trained.unseen_values(rows))]:
        note(text, console)
