"""`lann suspects`: training rows whose labels may be wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from lann._support.format import counted, percent, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more

if TYPE_CHECKING:
    import pandas as pd
    from rich.table import Table

HOW_TO_READ = (
    "Votes against: the share of the votes of the nearest other rows that is not for the label of the row. A "
    "row may be right all the same: check these rows, do not delete them."
)
LabeledTable = Annotated[
    opt.File, opt.file_argument(f"The table with the labels: {opt.FORMATS} Leave it out with --model.")
]
Neighbors = Annotated[
    int, opt.at_least(1, "Number of neighbors that vote on a row; fewer for small classes.")
]
Most = Annotated[int, opt.at_least(1, "Number of rows to print, the most suspicious first.")]
OutputFile = Annotated[
    opt.File, opt.output_option(f"Write a table of all rows, the most suspicious first: {opt.TABLE_FORMATS}")
]


def suspects(
    data: LabeledTable = None,
    *,
    target: opt.TargetColumn = None,
    model: opt.SavedModel = None,
    id: opt.Id = None,
    used: opt.ColumnOptions,
    fitting: opt.ModelOptions,
    neighbors: Neighbors = 20,
    most: Most = 20,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Find rows of a table whose labels may be wrong.

    Fits a model to the table as `lann fit` does, or loads one, and lets the nearest other rows vote on every
    training row. Rows whose neighbors vote for another label are suspicious.
    """
    from lann.tables import TableModel

    if model is not None and data is not None:
        raise ValueError("Give either a table with its --target, or --model, not both.")
    opt.check_table_or_model(data, model, target, used, fitting, target=target, id=id)
    out = Output(json, table=output, guarded=spreadsheet_safe)
    with out.progress() as step:
        step("Reading")
        if model is not None:
            fitted = TableModel.load(model)
        else:
            assert data is not None and target is not None  # noqa: PT018
            frame = tables.read(data, out.notes).frame
            table = used.training_table(frame, target, id=id, name=opt.table_name(data))
            fitted = table.fit(fitting.classifier(), callback=step("Fitting"))
        step("Comparing rows")
        suspicion = fitted.suspicious_rows(n_neighbors=neighbors)
        every = suspicion.to_frame()
        # The rows whose neighbors vote for another label, in the order of `Suspicion.suspects`.
        suspicious = every[every["label"] != every["likely"]]
        values = fitted.relevant_values(suspicion.suspects if json else suspicion.suspects[:most])
    n_rows, n_suspects = len(every), len(suspicious)
    rows = f"{counted(n_rows, 'training row')}; the neighbors of {n_suspects}"
    out.print(f"{rows} ({percent(n_suspects / n_rows, 1)}) vote for another label")
    if n_suspects:
        out.print(_suspect_table(suspicious, values[:most]))
        out.hint(HOW_TO_READ)
    if output is not None:
        ending = f": {counted(n_rows, 'row')}, the most suspicious first"
        out.write_table(every, output, ending)
    out.finish(
        model=model,
        table=None if data is None else opt.table_name(data),
        target=fitted.target,
        n_rows=n_rows,
        n_suspects=n_suspects,
        suspects=lambda: [
            row | {"values": of_row}
            for row, of_row in zip(suspicious.to_dict("records"), values, strict=True)
        ],
    )


def _suspect_table(suspicious: pd.DataFrame, values: list[dict[str, Any]]) -> Table:
    """Return a table of the first rows, as many as there are values for."""
    lines = []
    rows = suspicious.head(len(values)).itertuples(index=False, name=None)
    for (*names, score), of_row in zip(rows, values, strict=True):
        texts = ", ".join(f"{name} {value_text(value)}" for name, value in of_row.items())
        lines.append([*map(str, names), percent(score), texts])
    ids = ["id"] * ("id" in suspicious)
    n_more = len(suspicious) - len(values)
    return make_table(
        [">row", *ids, "label", "neighbors say", ">votes against", "its most relevant values"],
        lines,
        title="Rows whose labels may be wrong",
        caption=more(n_more, "row", ": show them with --most, or write all to a file with -o"),
    )
