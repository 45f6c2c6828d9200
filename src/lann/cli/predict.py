"""`lann predict`: labels and probabilities for new rows."""

from __future__ import annotations

import warnings
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann.cli.consoles import note, results
from lann.cli.errors import one_sentence
from lann.cli.options import ModelFile, RowsFile
from lann.cli.tables import check_output, read_table, write_table

if TYPE_CHECKING:
    import pandas as pd

    from lann.cli.trained import Trained

PREVIEW_ROWS = 20
PREVIEW_CLASSES = 6


@one_sentence
def predict(
    model: ModelFile,
    data: RowsFile,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="Where to write: .csv, .csv.gz or .parquet. Without it, a table is shown."
        ),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="A column to keep beside the predictions.")
    ] = None,
) -> None:
    """Predict labels for new rows.

    Gives the label and, for every class, its share of the neighbors' votes. Columns that the model does not
    use are ignored.
    """
    from lann.cli.trained import Trained, id_column, unseen_notes

    if output is not None:
        check_output(output)
    trained = Trained.load(model)
    frame = read_table(data)
    rows = trained.prepare(frame, data.name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # unknown categories: said below, in words
        predicted = _predictions(trained, rows)
    if id is not None:
        predicted.insert(0, id, id_column(frame, id, data.name), allow_duplicates=True)
    console = results()
    if output is None:
        _preview(predicted, with_id=id is not None)
    else:
        write_table(predicted, output)
        console.print(f"Wrote {len(predicted)} predictions to {output}", soft_wrap=True)
    for text in [*trained.notes, *unseen_notes(trained.unseen_values(rows))]:
        note(text, console)


def _predictions(trained: Trained, rows: Any) -> pd.DataFrame:
    import pandas as pd

    probabilities = trained.model.predict_proba(rows)
    classes = trained.classifier.classes_
    table = {"prediction": classes[probabilities.argmax(axis=1)]}
    table |= {f"probability of {label}": probabilities[:, place] for place, label in enumerate(classes)}
    return pd.DataFrame(table)


def _preview(predicted: pd.DataFrame, *, with_id: bool) -> None:
    from rich.table import Table

    n_first = 2 if with_id else 1
    names = list(predicted.columns)[: n_first + PREVIEW_CLASSES]
    left_out = [
        f"{len(predicted) - PREVIEW_ROWS} more rows" if len(predicted) > PREVIEW_ROWS else "",
        f"{len(predicted.columns) - len(names)} more classes" if len(predicted.columns) > len(names) else "",
    ]
    left_out = [part for part in left_out if part]
    table = Table(
        caption=f"and {' and '.join(left_out)}: write all to a file with -o" if left_out else None,
        caption_justify="left",
    )
    table.add_column("row", justify="right", style="dim")
    for place, name in enumerate(names):
        table.add_column(name, justify="left" if place < n_first else "right")
    for row in range(min(PREVIEW_ROWS, len(predicted))):
        cells = [predicted.iloc[row, place] for place in range(len(names))]
        shown = [str(cell) for cell in cells[:n_first]] + [f"{cell:.3f}" for cell in cells[n_first:]]
        table.add_row(str(row), *shown)
    results().print(table)
