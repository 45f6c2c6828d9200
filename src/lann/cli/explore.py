"""`lann explore`: a page, in one file, in which a person can question a model."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

from lann._support.format import counted
from lann.cli import options as opt
from lann.cli.embed import HeldOut, NewRows, Target, TestTable
from lann.cli.output import Output

# The choices of the parameter `method` of `lann.explore`.
MapMethod = StrEnum("MapMethod", ["auto", "umap", "densmap", "tsne", "pca"])
OutputPage = Annotated[Path, opt.output_option("The page to write, a file that ends in .html.")]
Method = Annotated[
    MapMethod, opt.option("The layout of the maps; auto is umap if it is installed, otherwise pca.")
]
Reasons = Annotated[
    int, opt.at_least(0, "Number of rows with reasons, those that are wrong or doubtful first.")
]
Title = Annotated[opt.Text, opt.option("The title of the page.", default="the name of the table")]


def explore(
    data: NewRows = None,
    *,
    target: Target = None,
    output: OutputPage = Path("explorer.html"),
    model: opt.SavedModel = None,
    test: TestTable = None,
    held_out: HeldOut = None,
    id: opt.Id = None,
    used: opt.ColumnOptions,
    fitting: opt.ModelOptions,
    method: Method = MapMethod.auto,
    reasons: Reasons = 400,
    title: Title = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
) -> None:
    """Write a page in which a person can question a model.

    Fits a model to a table as `lann fit` does, or loads one. The page has the training rows, each with the
    prediction of the others, and new rows: test rows (--test), a share of the rows (--held-out), or with
    --model the rows of the table. It needs no server and no network: a click on a row shows the rows that
    decided, and the prediction follows while values are changed.
    """
    from lann.explorer import Options, build_explorer
    from lann.tables import TableModel

    opt.check_table_or_model(data, model, target, used, fitting, test=test, held_out=held_out is not None)
    if held_out is not None and test is not None:
        raise ValueError("Give either --test or --held-out, not both.")
    out = Output(json, page=output)
    options = Options(method.value, reasons, fitting.seed)
    options.check()
    name = None if data is None else opt.table_name(data)
    with out.progress() as step:
        step("Reading")
        frame, new = None if data is None else tables.read(data, out.notes).frame, None
        if model is not None:
            fitted = TableModel.load(model)
            fitted.check_labels("The explorer")
            if frame is not None:
                new = fitted.new_rows(frame, target=target, id=id, name=str(name))
        else:
            assert frame is not None and target is not None  # noqa: PT018
            table, rows = used.training_table(frame, target, id=id, name=str(name)), None
            if held_out is not None:
                table, rows = table.split(held_out, random_state=fitting.seed)
            fitted = table.fit(fitting.classifier(), callback=step("Fitting"))
            if test is not None:
                new = fitted.new_rows(tables.read(test, out.notes).frame, name=opt.table_name(test))
            elif rows is not None:
                new = fitted.new_rows(frame, rows, name=str(name))
        shown = title or (name if model is None else model.name)
        explorer = build_explorer(fitted, new, options, title=shown, step=step)
        explorer.save(output)
    out.notes.extend(explorer.notes)
    n_bytes = output.stat().st_size
    ending = f": {counted(explorer.n_rows, 'row')}, {n_bytes / 1e6:.1f} MB; open it in a browser"
    out.wrote(output, ending)
    out.finish(model=model, table=name, n_rows=explorer.n_rows, n_bytes=n_bytes)
