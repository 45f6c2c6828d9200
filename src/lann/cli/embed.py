"""`lann embed`: an embedding of rows under the learned metrics, as a page, a figure or a table."""

from __future__ import annotations

from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from lann._markup import texts as _texts
from lann._support.files import check_writable
from lann._support.format import counted, percent
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
    styled,
)

if TYPE_CHECKING:
    from rich.console import Console

    from lann.tables import ClassAccuracy, EmbeddedTable, EmbeddingSummary

PAGES, FIGURES, TABLES = (".html", ".htm"), (".png", ".svg", ".pdf"), (".csv", ".csv.gz", ".parquet")
GIVE_NEW_ROWS = "Give a table of new rows with labels for a fair estimate."
HOLD_OUT_ROWS = "Hold out rows with --held-out 0.3, or give test rows with --test, for a fair estimate."
# With more classes than this, the ones with the lowest accuracies are shown.
MOST_CLASSES = 20
MOST_PAIRS = 3


class LayoutMethod(StrEnum):
    """The choices of the parameter `method` of LANNEmbedding."""

    umap = "umap"
    densmap = "densmap"
    tsne = "tsne"


NewRows = Annotated[
    Path | None,
    opt.file_argument(f"The table: {opt.FORMATS} With --model, it has new rows, and may be left out."),
]
Target = Annotated[str | None, opt.column_option("The column with the classes.", default="that of --model")]
Output = Annotated[
    list[Path],
    opt.output_option(
        "The file to write: .html (an interactive page), .png, .svg or .pdf (a figure), .csv, .csv.gz or "
        ".parquet (a table of coordinates and predictions). May be repeated."
    ),
]
Test = Annotated[
    Path | None, typer.Option(metavar="FILE", help="A table of test rows, in the formats of the table.")
]
HeldOut = Annotated[
    float | None, typer.Option(metavar="SHARE", help="The share of the rows to hold out: 0.3.")
]
Method = Annotated[LayoutMethod, typer.Option(help="The method of the layout.")]
Neighbors = Annotated[
    int, typer.Option(min=2, help="Size of a neighborhood: small shows details, large the whole.")
]
MinDist = Annotated[float, typer.Option(min=0, max=1, help="Least distance of similar rows; not for tsne.")]
Epochs = Annotated[
    int | None,
    typer.Option(min=1, help="Number of epochs of the layout.", show_default="depends on the method"),
]
Columns = Annotated[
    int, typer.Option(min=1, help="Number of columns to list for each row, the most relevant first.")
]


def embed(
    data: NewRows = None,
    target: Target = None,
    output: Output = [Path("embedding.html")],  # noqa: B006
    model: opt.SavedModel = None,
    test: Test = None,
    held_out: HeldOut = None,
    id: opt.Id = None,
    drop: opt.Drop = None,
    categorical: opt.Categorical = None,
    numeric: opt.Numeric = None,
    dates: opt.Dates = None,
    metric: opt.Metric = opt.MetricForm.diagonal,
    balanced: opt.Balanced = False,
    method: Method = LayoutMethod.umap,
    neighbors: Neighbors = 15,
    min_dist: MinDist = 0.1,
    epochs: Epochs = None,
    columns: Columns = 5,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = False,
    jobs: opt.Jobs = None,
    seed: opt.Seed = 0,
) -> None:
    """Embed rows in two dimensions: rows that are similar under the learned metrics are near each other.

    Fits a model to a table as `lann fit` does, or loads one, and embeds its training rows. Test rows, or a
    share of the rows (--held-out), are embedded but not learned from: their accuracies are a fair estimate.
    The page is one file; it shows the label, the prediction, the neighbors and the relevant columns of the
    row under the mouse.
    """
    from lann.embedding import LANNEmbedding
    from lann.tables import TableModel, TrainingTable

    _check_options(output, method, epochs, jobs, seed)
    kinds = opt.column_kinds(categorical, numeric, dates)
    training_options = {
        "--drop": drop, "--categorical, --numeric or --dates": kinds, "--balanced": balanced, "--test": test,
        "--metric": metric != opt.MetricForm.diagonal, "--held-out": held_out is not None,
    }  # fmt: skip
    opt.check_table_or_model(data, model, target, training_options)
    _check_test_rows(data, test, held_out)
    layout = LANNEmbedding(
        n_neighbors=neighbors, min_dist=min_dist, method=method.value, max_iter=epochs, n_jobs=jobs,
        random_state=seed,
    )  # fmt: skip
    tables = opt.TableOptions(sep, decimal, encoding, sheet)
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        frame = None if data is None else tables.read(data, notes).frame
        test_frame = None if test is None else tables.read(test, notes).frame
        name = "" if data is None else opt.table_name(data)
        rows, embedded_frame, embedded_name, title = None, frame, name, name
        if model is not None:
            fitted = TableModel.load(model)
            title = model.name if data is None else f"{name} among the training rows of {model.name}"
        else:
            assert frame is not None
            assert target is not None
            table = TrainingTable.from_frame(frame, target, id=id, drop=drop or [], kinds=kinds, name=name)
            if held_out is not None:
                table, rows = table.split(held_out, random_state=seed)
            elif test is not None:
                embedded_frame, embedded_name, target = test_frame, opt.table_name(test), None
                title = f"{name}, with the test rows of {embedded_name}"
            else:
                embedded_frame = target = id = None
            classifier = opt.make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed)
            fitted = table.fit(classifier, callback=step(bar, "Fitting"))
        step(bar, "Embedding")
        embedded = fitted.embed(
            embedded_frame, rows, embedding=layout, target=target, id=id, name=embedded_name
        )
    console, summary = results(quiet=json), embedded.summarize()
    _show_embedding(embedded, summary, console)
    advice = HOLD_OUT_ROWS if model is None else GIVE_NEW_ROWS
    optimistic = [] if summary.has_held_out else [f"{_texts.OPTIMISTIC} {advice}"]
    shown_notes = [*optimistic, *notes]
    show_notes(shown_notes, console)
    for path in output:
        shown_notes += _write(path, embedded, title, notes, columns, spreadsheet_safe, console)
    if json:
        document = {"title": title, "n_train": embedded.n_train, "n_new": embedded.n_new}
        document |= _accuracies(embedded, summary)
        document |= {"rows": frame_records(embedded.to_frame(columns)), "files": output, "notes": shown_notes}
        print_document(document)


def _check_test_rows(data: Path | None, test: Path | None, held_out: float | None) -> None:
    if held_out is not None and test is not None:
        raise ValueError("Give either --test or --held-out, not both.")
    if str(data) == str(test) == "-":
        raise ValueError("Only one of the table and --test can be standard input.")


def _check_options(
    output: list[Path], method: LayoutMethod, epochs: int | None, jobs: int | None, seed: int
) -> None:
    """Validate, before the work, what would fail late or under another name."""
    from lann.embedding import LEAST_TSNE_ITER, check_installed
    from lann.plot import check_matplotlib_support
    from lann.tables import check_table_path

    for path in output:
        if path.name.lower().endswith(TABLES):
            check_table_path(path)
        elif path.suffix.lower() not in PAGES + FIGURES:
            listed = ", ".join((PAGES[0], *FIGURES, *TABLES[:-1]))
            raise ValueError(
                f"{path} has an unknown format; give a file name that ends in {listed} or {TABLES[-1]}."
            )
        check_writable(path)
    if epochs is not None and method == LayoutMethod.tsne and epochs < LEAST_TSNE_ITER:
        raise ValueError(f"--epochs must be at least {LEAST_TSNE_ITER} with --method tsne; got {epochs}.")
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    if not 0 <= seed < 2**32:
        raise ValueError(f"--seed must be from 0 to {2**32 - 1}; got {seed}.")
    check_installed(method.value)
    if any(path.suffix.lower() in FIGURES for path in output):
        check_matplotlib_support()


def _show_embedding(embedded: EmbeddedTable, summary: EmbeddingSummary, console: Console) -> None:
    """Print the size of an embedding, the accuracies by class, and the classes that are confused."""
    new = f" and {counted(embedded.n_new, 'new row')}" if embedded.n_new else ""
    console.print(f"{counted(embedded.n_train, 'training row')}{new} embedded", soft_wrap=True)
    import numpy as np

    accuracies = [(line.held_out or line.training).in_embedding for line in summary.by_class]
    lowest = np.sort(np.argsort(accuracies, kind="stable")[:MOST_CLASSES])  # NaN, without rows, comes last
    lines = [[embedded.classes[index], *_cells(summary.by_class[index])] for index in lowest]
    overall = [styled(cell, "bold") for cell in ["all", *_cells(summary.overall)]]
    n_more = len(summary.by_class) - len(lowest)
    kinds = ("training rows", "held-out rows")[: 1 + summary.has_held_out]
    table = make_table(
        ["class", *[f">{name}" for kind in kinds for name in (kind, "by vote", "in embedding")]],
        [*lines, None, overall],
        title="Share of the rows whose class is predicted correctly",
        caption=f"and {n_more} more classes with higher shares" if n_more else None,
    )
    console.print(table)
    pairs = [
        f"{embedded.classes[pair.first]} and {embedded.classes[pair.second]} ({pair.n_confused} of their "
        f"{pair.n_rows} {kinds[-1]}, {percent(pair.n_confused / pair.n_rows)})"
        for pair in summary.pairs[:MOST_PAIRS]
    ]
    if pairs:
        console.print(f"Confused most often in the embedding: {'; '.join(pairs)}", soft_wrap=True)
    console.print(_texts.ACCURACIES, style="dim")


def _cells(line: ClassAccuracy) -> list[str]:
    cells = []
    for accuracy in (line.training, line.held_out):
        if accuracy is not None:
            shares = (accuracy.by_vote, accuracy.in_embedding)
            cells += [str(accuracy.n_rows), *("" if share != share else f"{share:.3f}" for share in shares)]
    return cells


def _write(
    path: Path,
    embedded: EmbeddedTable,
    title: str,
    notes: list[str],
    n_columns: int,
    guard_formulas: bool,
    console: Console,
) -> list[str]:
    """Write the embedding in the format that the file name has, and return notes about the file."""
    from lann.report import save_embedding_figure, save_embedding_page
    from lann.tables import write_table

    is_page = path.suffix.lower() in PAGES
    with collected_notes() as about_file:
        if is_page:
            save_embedding_page(path, embedded, title=title, n_features=n_columns, notes=notes)
        elif path.suffix.lower() in FIGURES:
            save_embedding_figure(path, embedded, title=title)
        else:
            write_table(embedded.to_frame(n_columns), path, guard_formulas=guard_formulas)
    hint = "; open it in a browser" if is_page else ""
    console.print(f"Wrote {path}: {len(embedded)} rows{hint}", soft_wrap=True)
    show_notes(about_file, console)
    return about_file


def _accuracies(embedded: EmbeddedTable, summary: EmbeddingSummary) -> dict[str, Any]:
    """Return the accuracies of all rows and by class, and the classes that are confused."""

    def accuracies(line: ClassAccuracy) -> dict[str, Any]:
        held_out = None if line.held_out is None else asdict(line.held_out)
        return {"training": asdict(line.training), "held_out": held_out}

    return {
        "accuracies": accuracies(summary.overall),
        "classes": [
            {"label": label, **accuracies(line)}
            for label, line in zip(embedded.classes, summary.by_class, strict=True)
        ],
        "confused_pairs": [
            {
                "labels": [embedded.classes[pair.first], embedded.classes[pair.second]],
                "n_confused": pair.n_confused,
                "n_rows": pair.n_rows,
            }
            for pair in summary.pairs
        ],
    }
