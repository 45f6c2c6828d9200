"""`lann embed`: an embedding of rows under the learned metrics, as a page, a figure or a table."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict
from enum import StrEnum
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer

from lann import _texts
from lann._files import check_writable
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
    from lann.classifier import LANNClassifier
    from lann.embedding import LANNEmbedding
    from lann.tables import ClassAccuracy, EmbeddedTable, EmbeddingSummary

PAGES, FIGURES, TABLES = (".html", ".htm"), (".png", ".svg", ".pdf"), (".csv", ".csv.gz", ".parquet")
LARGEST_SEED = 2**32 - 1
GIVE_NEW_ROWS = "Give a table of new rows with labels for a fair estimate."
HOLD_OUT_ROWS = "Hold out rows with --held-out 0.3, or give test rows with --test, for a fair estimate."


class Method(StrEnum):
    """The choices of the parameter `method` of LANNEmbedding."""

    umap = "umap"
    densmap = "densmap"
    tsne = "tsne"


class Inputs(NamedTuple):
    """The options about the rows to embed."""

    data: Path | None
    model: Path | None
    test: Path | None
    held_out: float | None
    target: str | None
    id: str | None
    drop: list[str]
    kinds: dict[str, str]
    seed: int
    tables: TableOptions


@one_sentence
def embed(
    data: Annotated[
        Path | None,
        typer.Argument(
            help=f"The table: {FORMATS_HELP} With --model, it has new rows, and may be left out.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(metavar="COLUMN", help="The column with the classes.", show_default="that of --model"),
    ] = None,
    output: Annotated[
        list[Path],
        typer.Option(
            "--output", "-o",
            help="The file to write: .html (an interactive page), .png, .svg or .pdf (a figure), .csv, "
            ".csv.gz or .parquet (a table of coordinates and predictions). May be repeated.",
        ),
    ] = [Path("embedding.html")],  # noqa: B006
    model: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="A saved model, whose training rows are embedded."
        ),
    ] = None,
    test: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="A table of test rows, in the formats of the table."),
    ] = None,
    held_out: Annotated[
        float | None,
        typer.Option("--held-out", metavar="SHARE", help="The share of the rows to hold out: 0.3."),
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
    method: Annotated[Method, typer.Option(help="The method of the layout.")] = Method.umap,
    neighbors: Annotated[
        int, typer.Option(min=2, help="Size of a neighborhood: small shows details, large the whole.")
    ] = 15,
    min_dist: Annotated[
        float, typer.Option("--min-dist", min=0, max=1, help="Least distance of similar rows; not for tsne.")
    ] = 0.1,
    epochs: Annotated[
        int | None,
        typer.Option(min=1, help="Number of epochs of the layout.", show_default="depends on the method"),
    ] = None,
    columns: Annotated[
        int, typer.Option(min=1, help="Number of columns to list for each row, the most relevant first.")
    ] = 5,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = False,
    jobs: Jobs = None,
    seed: Annotated[int, typer.Option(help=SEED_HELP)] = 0,
) -> None:  # fmt: skip
    """Embed rows in two dimensions: rows that are similar under the learned metrics are near each other.

    Fits a model to a table as `lann fit` does, or loads one, and embeds its training rows. Test rows, or a
    share of the rows (--held-out), are embedded but not learned from: their accuracies are a fair estimate.
    The page is one file; it shows the label, the prediction, the neighbors and the relevant columns of the
    row under the mouse.
    """
    from lann.cli.show_embedding import show_embedding
    from lann.embedding import LANNEmbedding

    for path in output:
        _check_output(path)
    _check_options(method, epochs, jobs, seed)
    _check_installed(method, output)
    tables = TableOptions(sep, decimal, encoding, sheet)
    kinds = column_kinds(categorical, numeric, dates)
    inputs = Inputs(data, model, test, held_out, target, id, drop or [], kinds, seed, tables)
    _check_inputs(inputs, training_options={"--metric": metric, "--balanced": balanced})
    layout = LANNEmbedding(
        n_neighbors=neighbors, min_dist=min_dist, method=method.value, max_iter=epochs, n_jobs=jobs,
        random_state=seed,
    )  # fmt: skip
    classifier = make_classifier(metric, balanced=balanced, jobs=jobs, seed=seed)
    with progress(quiet=json) as bar, collected_notes() as notes:
        embedded, title = _embed(inputs, classifier, layout, partial(step, bar), notes)
    console = results(quiet=json)
    summary = embedded.summarize()
    show_embedding(embedded, summary, console)
    shown_notes = list(notes)
    if not summary.has_held_out:
        advice = HOLD_OUT_ROWS if model is None else GIVE_NEW_ROWS
        shown_notes.insert(0, f"{_texts.OPTIMISTIC} {advice}")
    for text in shown_notes:
        note(text, console)
    for path in output:
        with collected_notes() as about_page:
            _write(path, embedded, title, notes, columns, spreadsheet_safe)
        hint = "; open it in a browser" if path.suffix.lower() in PAGES else ""
        console.print(f"Wrote {path}: {len(embedded)} rows{hint}", soft_wrap=True)
        for text in about_page:
            note(text, console)
        shown_notes += about_page
    if json:
        print_document(
            {
                "title": title,
                "n_train": embedded.n_train,
                "n_new": embedded.n_new,
                **_accuracies(embedded, summary),
                "rows": frame_records(embedded.to_frame(columns)),
                "files": output,
                "notes": shown_notes,
            }
        )


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


def _embed(
    inputs: Inputs,
    classifier: LANNClassifier,
    layout: LANNEmbedding,
    next_step: Callable[[str], Callable[[float, float], None]],
    notes: list[str],
) -> tuple[EmbeddedTable, str]:
    """Return the embedding and a title; add what was found about the files to the notes."""
    from lann.tables import TableModel, TrainingTable

    data, model, test, target, id = inputs.data, inputs.model, inputs.test, inputs.target, inputs.id
    next_step("Reading")
    frame = None if data is None else inputs.tables.read(data, notes)
    if model is not None:
        fitted = TableModel.load(model)
        next_step("Embedding")
        name = "" if data is None else table_name(data)
        title = model.name if data is None else f"{name} among the training rows of {model.name}"
        return fitted.embed(frame, embedding=layout, target=target, id=id, name=name), title
    assert data is not None
    assert frame is not None
    assert target is not None
    test_frame, name = None if test is None else inputs.tables.read(test, notes), table_name(data)
    table, rows = (
        TrainingTable.from_frame(frame, target, id=id, drop=inputs.drop, kinds=inputs.kinds, name=name),
        None,
    )
    if inputs.held_out is not None:
        table, rows = table.split(inputs.held_out, random_state=inputs.seed)
    fitted = table.fit(classifier, callback=next_step("Fitting"))
    next_step("Embedding")
    if test is not None:
        embedded = fitted.embed(test_frame, embedding=layout, id=id, name=table_name(test))
        return embedded, f"{name}, with the test rows of {table_name(test)}"
    if rows is None:
        return fitted.embed(embedding=layout), name
    return fitted.embed(frame, rows, embedding=layout, target=target, id=id, name=name), name


def _check_output(path: Path) -> None:
    suffixes = (*PAGES, *FIGURES, *TABLES)
    if not path.name.lower().endswith(suffixes):
        listed = ", ".join((PAGES[0], *FIGURES, *TABLES[:-1]))
        raise ValueError(
            f"{path} has an unknown format; give a file name that ends in {listed} or {TABLES[-1]}."
        )
    if path.name.lower().endswith(TABLES):
        from lann.tables import check_table_path

        check_table_path(path)
    check_writable(path)


def _check_options(method: Method, epochs: int | None, jobs: int | None, seed: int) -> None:
    """Validate what LANNEmbedding would validate late, and under the names of its parameters."""
    from lann.embedding import LEAST_TSNE_ITER

    if epochs is not None and method == Method.tsne and epochs < LEAST_TSNE_ITER:
        raise ValueError(f"--epochs must be at least {LEAST_TSNE_ITER} with --method tsne; got {epochs}.")
    if jobs == 0:
        raise ValueError("--jobs must be a number of threads, or -1 for all cores; got 0.")
    if not 0 <= seed <= LARGEST_SEED:
        raise ValueError(f"--seed must be from 0 to {LARGEST_SEED}; got {seed}.")


def _check_inputs(inputs: Inputs, training_options: dict[str, object]) -> None:
    """Raise ValueError if options are missing, or do not go together."""
    if inputs.model is not None:
        kinds = "--categorical, --numeric or --dates"
        given = {"--drop": inputs.drop, kinds: inputs.kinds, **training_options, "--test": inputs.test}
        given["--held-out"] = inputs.held_out is not None
        if unused := [option for option, value in given.items() if value]:
            raise ValueError(f"{unused[0]} is for a model that is not fitted yet; it cannot go with --model.")
    elif inputs.data is None:
        raise ValueError("Give a table with its --target, or a fitted model with --model.")
    elif inputs.target is None:
        raise ValueError(f"Give the column of {table_name(inputs.data)} with the classes as --target.")
    elif inputs.held_out is not None and inputs.test is not None:
        raise ValueError("Give either --test or --held-out, not both.")
    elif str(inputs.data) == str(inputs.test) == "-":
        raise ValueError("Only one of the table and --test can be standard input.")


def _check_installed(method: Method, output: list[Path]) -> None:
    """Raise ImportError, before the work, if a package is missing."""
    from lann.embedding import check_installed
    from lann.plot import check_matplotlib_support

    check_installed(method.value)
    if any(path.suffix.lower() in FIGURES for path in output):
        check_matplotlib_support()


def _write(
    path: Path, embedded: EmbeddedTable, title: str, notes: list[str], n_columns: int, guard_formulas: bool
) -> None:
    """Write the embedding in the format that the file name has."""
    from lann.report import save_embedding_figure, save_embedding_page
    from lann.tables import write_table

    if path.suffix.lower() in PAGES:
        save_embedding_page(path, embedded, title=title, n_features=n_columns, notes=notes)
    elif path.suffix.lower() in FIGURES:
        save_embedding_figure(path, embedded, title=title)
    else:
        write_table(embedded.to_frame(n_columns), path, guard_formulas=guard_formulas)
