"""`lann evaluate`: how well a model predicts rows with labels."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from lann._markup import check_page_path
from lann.cli.consoles import collected_notes, note, results
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    FORMATS_HELP,
    Decimal,
    Encoding,
    ModelFile,
    Sep,
    Sheet,
    SpreadsheetSafe,
    TableOptions,
    table_name,
)


@one_sentence
def evaluate(
    model: ModelFile,
    data: Annotated[
        Path, typer.Argument(help=f"The test table, with labels: {FORMATS_HELP}", show_default=False)
    ],
    html: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Write a report, a page for the browser, and print the scores."),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", help="Write all figures to a table: .csv, .csv.gz or .parquet."),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN", help="The column with the labels.", show_default="that of the model"
        ),
    ] = None,
    sample_weight: Annotated[
        str | None,
        typer.Option(
            metavar="COLUMN",
            help="A column that tells as how many rows each row counts.",
            show_default="that of the model, if there",
        ),
    ] = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = True,
    seed: Annotated[int, typer.Option(min=0, help="Random seed of the intervals.")] = 0,
) -> None:  # fmt: skip
    """Evaluate a model on rows with labels.

    Prints accuracy, balanced accuracy, AUC, log-loss and Brier score with 95% intervals, beside plain kNN and
    the largest class; precision and recall of the classes; how often predictions are correct by their
    probability; the columns and values where the model is worst; and the most confident mistakes. Use rows
    that the model was not fitted to.
    """
    from lann.cli.show_evaluation import show_evaluation, show_scores
    from lann.report import SourceFile, save_evaluation
    from lann.report import evaluate as evaluate_model
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    if html is not None:
        check_page_path(html)
    name = table_name(data)
    with collected_notes() as notes:
        fitted = TableModel.load(model)
        reading = TableOptions(sep, decimal, encoding, sheet).reading(data, notes)
    found = evaluate_model(
        fitted, reading.frame, target, sample_weight=sample_weight, random_state=seed, name=name
    ).with_files(model=model, data=SourceFile(name, reading.sha256 or ""), notes=notes)
    console = results(quiet=json)
    files = [path for path in (html, output) if path is not None]
    if html is not None:
        save_evaluation(html, found, title=f"{model.name} on {name}")
    if output is not None:
        write_table(found.to_frame(), output, guard_formulas=spreadsheet_safe)
    (show_evaluation if html is None else show_scores)(found, console)
    for text in found.notes:
        note(text, console)
    for path in files:
        ending = "; open it in a browser" if path == html else ""
        console.print(f"Wrote {path}{ending}", soft_wrap=True)
    if json:
        print_document(found.to_dict() | {"files": files})
