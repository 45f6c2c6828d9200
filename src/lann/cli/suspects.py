"""`lann suspects`: training rows whose labels may be wrong."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._support.format import counted, percent, value_text
from lann.cli import options as opt
from lann.cli.output import (
    collected_notes,
    frame_records,
    make_table,
    print_document,
    progress,
    results,
    show_notes,
    step,
)

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

HOW_TO_READ = (
    "Votes against: the share of the votes of the nearest other rows that is not for the label of the row. A "
    "row may be right all the same: check these rows, do not delete them."
)
LabeledTable = Annotated[
    Path | None, opt.file_argument(f"The table with the labels: {opt.FORMATS} Leave it out with --model.")
]
Neighbors = Annotated[
    int, typer.Option(min=1, help="Number of neighbors that vote on a row; fewer for small classes.")
]
Most = Annotated[int, typer.Option(min=1, help="Number of rows to print, the most suspicious first.")]


def suspects(
    data: LabeledTable = None,
    target: Annotated[str | None, opt.column_option("The column with the labels.", default=False)] = None,
    model: opt.SavedModel = None,
    id: opt.Id = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    numeric: opt.Numeric = None,
    dates: opt.Dates = None,
    metric: opt.Metric = opt.MetricForm.diagonal,
    balanced: opt.Balanced = False,
    neighbors: Neighbors = 20,
    most: Most = 20,
    output: Annotated[
        Path | None,
        opt.output_option(f"Write a table of all rows, the most suspicious first: {opt.TABLE_FORMATS}"),
    ] = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
    jobs: opt.Jobs = None,
    seed: opt.Seed = 0,
) -> None:
    """Find rows of a table whose labels may be wrong.

    Fits a model to the table as `lann fit` does, or loads one, and lets the nearest other rows vote on every
    training row. Rows whose neighbors vote for another label are suspicious.
    """
    from lann.tables import TableModel, TrainingTable, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    if model is not None and data is not None:
        raise ValueError("Give either a table with its --target, or --model, not both.")
    kinds = opt.column_kinds(categorical, numeric, dates)
    training_options = {
        "--target": target, "--id": id, "--drop": drop, "--categorical, --numeric or --dates": kinds,
        "--metric": metric != opt.MetricForm.diagonal, "--balanced": balanced,
    }  # fmt: skip
    opt.check_table_or_model(data, model, target, training_options)
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        if data is None or target is None:
            assert model is not None
            fitted = TableModel.load(model)
        else:
            frame = opt.TableOptions(sep, decimal, encoding, sheet).read(data, notes).frame
            table = TrainingTable.from_frame(
                frame, target, id=id, drop=drop or [], kinds=kinds, name=opt.table_name(data)
            )
            classifier = opt.make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed)
            fitted = table.fit(classifier, callback=step(bar, "Fitting"))
        step(bar, "Comparing rows")
        suspicion = fitted.suspicious_rows(n_neighbors=neighbors)
        every = suspicion.to_frame()
        # The rows whose neighbors vote for another label, in the order of `Suspicion.suspects`.
        found = every[every["label"] != every["likely"]]
        values = fitted.relevant_values(suspicion.suspects if json else suspicion.suspects[:most])
    console, n_rows, n_suspects = results(quiet=json), len(every), len(found)
    share = percent(n_suspects / n_rows, 1)
    rows = f"{counted(n_rows, 'training row')}; the neighbors of {n_suspects} ({share})"
    console.print(f"{rows} vote for another label", soft_wrap=True)
    if n_suspects:
        console.print(_suspect_table(found, values[:most]))
        console.print(HOW_TO_READ, style="dim")
    if output is not None:
        write_table(every, output, guard_formulas=spreadsheet_safe)
        console.print(f"Wrote {output}: {counted(n_rows, 'row')}, the most suspicious first", soft_wrap=True)
    show_notes(notes, console)
    if json:
        listed = [row | {"values": own} for row, own in zip(frame_records(found), values, strict=True)]
        print_document(
            {
                "model": model,
                "table": None if data is None else opt.table_name(data),
                "target": fitted.target,
                "n_rows": n_rows,
                "n_suspects": n_suspects,
                "suspects": listed,
                "files": [] if output is None else [output],
                "notes": notes,
            }
        )


def _suspect_table(found: pd.DataFrame, values: list[dict[str, Any]]) -> Table:
    """Return a table of the first rows, as many as there are values for."""
    lines = []
    rows = found.head(len(values)).itertuples(index=False)
    for (*names, label, likely, score), own in zip(rows, values, strict=True):
        texts = ", ".join(f"{name} {value_text(value)}" for name, value in own.items())
        lines.append([*map(str, names), str(label), str(likely), percent(score), texts])
    ids = ["id"] if "id" in found else []
    columns = [">row", *ids, "label", "neighbors say", ">votes against", "its most relevant values"]
    n_more = len(found) - len(values)
    hint = ": show them with --most, or write all to a file with -o"
    return make_table(
        columns,
        lines,
        title="Rows whose labels may be wrong",
        caption=f"and {n_more} more{hint}" if n_more else None,
    )
