"""`lann embed`: an embedding of rows under the learned metrics, as a figure or a table."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from lann._markup import texts as _texts
from lann._support.files import check_writable
from lann._support.format import counted, percent
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more

if TYPE_CHECKING:
    from lann.tables import EmbeddedTable

FIGURES, TABLES = (".png", ".svg", ".pdf"), (".csv", ".csv.gz", ".parquet")
GIVE_NEW_ROWS = "Give a table of new rows with labels for a fair estimate."
HOLD_OUT_ROWS = "Hold out rows with --held-out 0.3, or give test rows with --test, for a fair estimate."
# With more classes than this, the ones with the lowest accuracies are shown.
MOST_CLASSES = 20
MOST_PAIRS = 3


# The choices of the parameter `method` of LANNEmbedding.
LayoutMethod = StrEnum("LayoutMethod", ["umap", "densmap", "tsne"])
NewRows = Annotated[
    opt.File,
    opt.file_argument(f"The table: {opt.FORMATS} With --model, it has new rows, and may be left out."),
]
Target = Annotated[opt.Text, opt.column_option("The column with the classes.", default="that of --model")]
OutputFiles = Annotated[
    list[Path],
    opt.output_option(
        "The file to write: .csv, .csv.gz or .parquet (a table of coordinates and predictions), .png, .svg "
        "or .pdf (a figure). May be repeated."
    ),
]
TestTable = Annotated[
    opt.File, opt.option("A table of test rows, in the formats of the table.", metavar="FILE")
]
HeldOut = Annotated[float | None, opt.option("The share of the rows to hold out: 0.3.", metavar="SHARE")]
Method = Annotated[LayoutMethod, opt.option("The method of the layout.")]
Neighbors = Annotated[int, opt.at_least(2, "Size of a neighborhood: small shows details, large the whole.")]
MinDist = Annotated[float, opt.option("Least distance of similar rows; not for tsne.", min=0, max=1)]
Epochs = Annotated[
    int | None, opt.at_least(1, "Number of epochs of the layout.", default="depends on the method")
]
Columns = Annotated[int, opt.at_least(1, "Number of columns to list for each row, the most relevant first.")]


def embed(
    data: NewRows = None,
    *,
    target: Target = None,
    output: OutputFiles = [Path("embedding.csv")],  # noqa: B006
    model: opt.SavedModel = None,
    test: TestTable = None,
    held_out: HeldOut = None,
    id: opt.Id = None,
    used: opt.ColumnOptions,
    fitting: opt.ModelOptions,
    method: Method = LayoutMethod.umap,
    neighbors: Neighbors = 15,
    min_dist: MinDist = 0.1,
    epochs: Epochs = None,
    columns: Columns = 5,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
) -> None:
    """Embed rows in two dimensions: rows that are similar under the learned metrics are near each other.

    Fits a model to a table as `lann fit` does, or loads one, and embeds its training rows. Test rows, or a
    share of the rows (--held-out), are embedded but not learned from: their accuracies are a fair estimate.
    `lann explore` writes a page in which the embedding can be explored.
    """
    from lann.embedding import LANNEmbedding
    from lann.tables import TableModel

    _check_files(output, method)
    opt.check_table_or_model(data, model, target, used, fitting, test=test, held_out=held_out is not None)
    if held_out is not None and test is not None:
        raise ValueError("Give either --test or --held-out, not both.")
    layout = LANNEmbedding(
        n_neighbors=neighbors, min_dist=min_dist, method=method.value, max_iter=epochs,
        n_jobs=fitting.jobs, random_state=fitting.seed,
    )  # fmt: skip
    out = Output(json, guarded=spreadsheet_safe)
    name = "" if data is None else opt.table_name(data)
    with out.progress() as step:
        step("Reading")
        frame = None if data is None else tables.read(data, out.notes).frame
        if model is not None:
            title = model.name if data is None else f"{name} among the training rows of {model.name}"
            fitted = TableModel.load(model)
            step("Embedding")
            embedded = fitted.embed(frame, embedding=layout, target=target, id=id, name=name)
        else:
            assert frame is not None and target is not None  # noqa: PT018
            table, title = used.training_table(frame, target, id=id, name=name), name
            new_rows: dict[str, Any] = {}
            if held_out is not None:
                table, rows = table.split(held_out, random_state=fitting.seed)
                new_rows = {"frame": frame, "rows": rows, "name": name}
            elif test is not None:
                new_rows = {"frame": tables.read(test, out.notes).frame, "name": opt.table_name(test)}
                title += f", with the test rows of {new_rows['name']}"
            fitted = table.fit(fitting.classifier(), callback=step("Fitting"))
            step("Embedding")
            embedded = fitted.embed(embedding=layout, **new_rows)
    summary = embedded.summarize()
    _show_embedding(embedded, summary, out)
    if not summary["has_held_out"]:
        out.notes.insert(0, f"{_texts.OPTIMISTIC} {HOLD_OUT_ROWS if model is None else GIVE_NEW_ROWS}")
    out.show_notes()
    _write(embedded, output, out, title=title, n_features=columns)
    classes = embedded.classes
    out.finish(
        title=title,
        n_train=embedded.n_train,
        n_new=embedded.n_new,
        rows=lambda: embedded.to_frame(columns).to_dict("records"),
        accuracies=summary["overall"],
        classes=[{"label": classes[line["class_index"]], **line} for line in summary["by_class"]],
        confused_pairs=[
            {"labels": [classes[pair["first"]], classes[pair["second"]]], **pair} for pair in summary["pairs"]
        ],
    )


def _write(embedded: EmbeddedTable, paths: list[Path], out: Output, *, title: str, n_features: int) -> None:
    """Write the embedded rows as tables or figures."""
    from lann.report import save_embedding_figure

    with out.progress() as step:
        step("Writing")
        for path in paths:
            ending = f": {len(embedded)} rows"
            if path.name.lower().endswith(TABLES):
                out.write_table(embedded.to_frame(n_features), path, ending)
                continue
            save_embedding_figure(path, embedded, title=title)
            out.wrote(path, ending)


def _check_files(output: list[Path], method: LayoutMethod) -> None:
    """Validate, before the work, the files to write and what they and the layout need."""
    from lann.embedding import check_installed
    from lann.plot import check_matplotlib_support
    from lann.tables import check_table_path

    for path in output:
        if path.name.lower().endswith(TABLES):
            check_table_path(path)
        elif path.suffix.lower() not in FIGURES:
            listed = ", ".join((*FIGURES, *TABLES[:-1]))
            raise ValueError(
                f"{path} has an unknown format; give a file name that ends in {listed} or {TABLES[-1]}. "
                "Pages are written by `lann explore`."
            )
        check_writable(path)
    check_installed(method.value)
    if any(path.suffix.lower() in FIGURES for path in output):
        check_matplotlib_support()


def _show_embedding(embedded: EmbeddedTable, summary: dict[str, Any], out: Output) -> None:
    """Print the size of an embedding, the accuracies by class, and the classes that are confused."""
    new = f" and {counted(embedded.n_new, 'new row')}" if embedded.n_new else ""
    out.print(f"{counted(embedded.n_train, 'training row')}{new} embedded")
    accuracies = [(line["held_out"] or line["training"])["in_embedding"] for line in summary["by_class"]]
    lowest = np.sort(np.argsort(accuracies, kind="stable")[:MOST_CLASSES])  # NaN, without rows, comes last
    lines = [[embedded.classes[index], *_cells(summary["by_class"][index])] for index in lowest]
    n_more = len(summary["by_class"]) - len(lowest)
    kinds = ("training rows", "held-out rows")[: 1 + summary["has_held_out"]]
    table = make_table(
        ["class", *[f">{name}" for kind in kinds for name in (kind, "by vote", "in embedding")]],
        [*lines, None, ["all", *_cells(summary["overall"])]],
        title="Share of the rows whose class is predicted correctly",
        caption=more(n_more, "class", " with higher shares", "more classes"),
    )
    out.print(table)
    pairs = []
    for pair in summary["pairs"][:MOST_PAIRS]:
        first, second, n_confused, n_rows = pair.values()
        share = f"{n_confused} of their {n_rows} {kinds[-1]}, {percent(n_confused / n_rows)}"
        pairs.append(f"{embedded.classes[first]} and {embedded.classes[second]} ({share})")
    if pairs:
        out.print(f"Confused most often in the embedding: {'; '.join(pairs)}")
    out.hint(_texts.ACCURACIES)


def _cells(line: dict[str, Any]) -> list[Any]:
    accuracies = filter(None, (line["training"], line["held_out"]))
    return [value for accuracy in accuracies for value in accuracy.values()]
