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
    "Score: from 0 to 1, how much the nearest other rows contradict the label; above 0.5, they favor the "
    "likely one. As many rows are listed as labels are expected to be wrong. Where classes overlap, a row "
    "may be an exception and no error: check these rows, do not delete them."
)
LabeledTable = Annotated[
    opt.File, opt.file_argument(f"The table with the labels: {opt.FORMATS} Leave it out with --model.")
]
Neighbors = Annotated[
    int, opt.at_least(1, "Number of nearest rows with one vote each; fewer for small classes.")
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
    neighbors: Neighbors = 30,
    most: Most = 20,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Find rows of a table whose labels may be wrong.

    Fits a model to the table as `lann fit` does, or loads one, and predicts the label of every training row
    by the nearest other rows. The rows whose labels they contradict most are listed, as many as labels are
    expected to be wrong.
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
        suspicious = every[every["suspect"]].drop(columns="suspect")  # in the order of `suspects`
        values = fitted.relevant_values(suspicion.suspects if json else suspicion.suspects[:most])
    n_rows, n_suspects = len(every), len(suspicious)
    expected = f"{n_suspects} labels are" if n_suspects != 1 else "1 label is"
    rows = counted(n_rows, "training row")
    out.print(f"{rows}; {expected} expected to be wrong ({percent(n_suspects / n_rows, 1)})")
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
        lines.append([*map(str, names), f"{score:.3f}", texts])
    ids = ["id"] * ("id" in suspicious)
    n_more = len(suspicious) - len(values)
    return make_table(
        [">row", *ids, "label", "likely", ">score", "its most relevant values"],
        lines,
        title="Rows whose labels may be wrong",
        caption=more(n_more, "row", ": show them with --most, or write all to a file with -o"),
    )
