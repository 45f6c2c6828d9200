"""`lann suspects`: training rows whose labels may be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._format import counted, percent, value_text
from lann.cli.consoles import collected_notes, note, progress, results, step
from lann.cli.documents import AsJson, frame_records, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    FORMATS_HELP,
    METRIC_HELP,
    SEED_HELP,
    Balanced,
    Categorical,
    Dates,
    Decimal,
    Drop,
    Encoding,
    Jobs,
    Metric,
    Numeric,
    Sep,
    Sheet,
    SpreadsheetSafe,
    TableOptions,
    column_kinds,
    make_classifier,
    table_name,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

HOW_TO_READ = (
    "Votes against: the share of the votes of the nearest other rows that is not for the label of the row. A "
    "row may be right all the same: check these rows, do not delete them."
)


@one_sentence
def suspects(
    data: Annotated[
        Path | None,
        typer.Argument(
            help=f"The table with the labels: {FORMATS_HELP} Leave it out with --model.", show_default=False
        ),
    ] = None,
    target: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column with the labels.", show_default=False)
    ] = None,
    model: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A saved model: its training rows are checked."),
    ] = None,
    id: Annotated[
        str | None, typer.Option("--id", metavar="COLUMN", help="A column that names the rows.")
    ] = None,
    drop: Drop = None,
    categorical: Categorical = None,
    numeric: Numeric = None,
    dates: Dates = None,
    metric: Annotated[Metric | None, typer.Option(help=METRIC_HELP, show_default="diagonal")] = None,
    balanced: Balanced = False,
    neighbors: Annotated[
        int, typer.Option(min=1, help="Number of neighbors that vote on a row; fewer for small classes.")
    ] = 20,
    most: Annotated[
        int, typer.Option(min=1, help="Number of rows to print, the most suspicious first.")
    ] = 20,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write a table of all rows, the most suspicious first: .csv, .csv.gz or .parquet.",
        ),
    ] = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = True,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help=SEED_HELP)] = 0,
) -> None:  # fmt: skip
    """Find rows of a table whose labels may be wrong.

    Fits a model to the table as `lann fit` does, or loads one, and lets the nearest other rows vote on every
    training row. Rows whose neighbors vote for another label are suspicious.
    """
    from lann.tables import TableModel, TrainingTable, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    options = {
        "--target": target, "--id": id, "--drop": drop, "--categorical": categorical, "--numeric": numeric,
        "--dates": dates, "--metric": metric, "--balanced": balanced,
    }  # fmt: skip
    _check_inputs(data, model, options)
    kinds = column_kinds(categorical, numeric, dates)
    classifier = make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed)
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        if model is not None:
            fitted = TableModel.load(model)
        else:
            assert data is not None
            assert target is not None
            frame = TableOptions(sep, decimal, encoding, sheet).read(data, notes)
            table = TrainingTable.from_frame(
                frame, target, id=id, drop=drop or [], kinds=kinds, name=table_name(data)
            )
            fitted = table.fit(classifier, callback=step(bar, "Fitting"))
        step(bar, "Comparing rows")
        suspicion = fitted.suspicious_rows(n_neighbors=neighbors)
        n_rows, n_suspects = len(suspicion.labels), len(suspicion.suspects)
        found = suspicion.to_frame()
        # The rows whose neighbors vote for another label, in the order of `Suspicion.suspects`.
        found = found[found["label"] != found["likely"]]
        values = fitted.relevant_values(suspicion.suspects if json else suspicion.suspects[:most])
    console = results(quiet=json)
    console.print(
        f"{counted(n_rows, 'training row')}; the neighbors of {n_suspects} "
        f"({percent(n_suspects / n_rows, 1)}) vote for another label",
        soft_wrap=True,
    )
    if n_suspects:
        console.print(_suspect_table(found, values[:most]))
        if n_suspects > most:
            more = f"and {n_suspects - most} more: show them with --most, or write all to a file with -o"
            console.print(more, soft_wrap=True)
        console.print(HOW_TO_READ, style="dim")
    if output is not None:
        write_table(suspicion.to_frame(), output, guard_formulas=spreadsheet_safe)
        console.print(f"Wrote {output}: {counted(n_rows, 'row')}, the most suspicious first", soft_wrap=True)
    for text in notes:
        note(text, console)
    if json:
        print_document(
            {
                "model": model,
                "table": None if data is None else table_name(data),
                "target": fitted.target,
                "n_rows": n_rows,
                "n_suspects": n_suspects,
                "suspects": [
                    row | {"values": own} for row, own in zip(frame_records(found), values, strict=True)
                ],
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


def _check_inputs(data: Path | None, model: Path | None, options: dict[str, Any]) -> None:
    """Raise ValueError if options are missing, or do not go together."""
    if model is not None:
        if data is not None:
            raise ValueError("Give either a table with its --target, or --model, not both.")
        if unused := [option for option, value in options.items() if value]:
            raise ValueError(f"{unused[0]} is for a model that is not fitted yet; it cannot go with --model.")
    elif data is None:
        raise ValueError("Give a table with its --target, or a fitted model with --model.")
    elif data.suffix == ".lann":
        raise ValueError(f"{data} is a model file; give it as --model {data}.")
    elif not options["--target"]:
        raise ValueError(f"Give the column of {table_name(data)} with the labels as --target.")


def _suspect_table(found: pd.DataFrame, values: list[dict[str, Any]]) -> Table:
    """Return a table of the first rows, as many as there are values for."""
    from rich.table import Table

    table = Table(title="Rows whose labels may be wrong", title_justify="left", title_style="bold")
    table.add_column("row", justify="right")
    if "id" in found:
        table.add_column("id")
    table.add_column("label", overflow="fold")
    table.add_column("neighbors say", overflow="fold")
    table.add_column("votes against", justify="right")
    table.add_column("its most relevant values", overflow="fold")
    lines = found.head(len(values)).itertuples(index=False)
    for (*names, label, likely, score), own in zip(lines, values, strict=True):
        texts = ", ".join(f"{name} {value_text(value)}" for name, value in own.items())
        table.add_row(*map(str, names), str(label), str(likely), percent(score), texts)
    return table
