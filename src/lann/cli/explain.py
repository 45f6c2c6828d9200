"""`lann explain`: the neighbors and columns behind predictions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from lann._format import counted
from lann._markup import check_page_name, check_page_path
from lann.cli.consoles import collected_notes, note, progress, results, step
from lann.cli.documents import AsJson, print_document
from lann.cli.errors import one_sentence
from lann.cli.options import (
    Coverage,
    Decimal,
    Encoding,
    ModelFile,
    RejectCost,
    Risk,
    RowNames,
    RowsFile,
    Sep,
    Sheet,
    SpreadsheetSafe,
    TableOptions,
    make_reject_option,
    named_rows,
    table_name,
)

if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation
    from lann.tables import TableModel

# More rows are printed with a line for each, or as a summary.
MOST_IN_FULL = 10
# Rows of a report by default, and at most: a page of about ten megabytes.
REPORTED_ROWS, MOST_REPORTED_ROWS = 20, 500
# Rows with a counterfactual if columns are frozen, and their number is not given.
CHANGED_ROWS = 100


@one_sentence
def explain(
    model: ModelFile,
    data: RowsFile,
    row: Annotated[
        list[int] | None,
        typer.Option(
            help="A row to explain; the first one below the header is 0. May be repeated.",
            show_default="0, or the first 20 for --html",
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="FROM:TO", help="Rows to explain, without the last one: 0:20.")
    ] = None,
    html: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Write a report, a page for the browser, instead of printing tables."
        ),
    ] = None,
    embedding: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="A page of `lann embed`: rows and neighbors in the page of --html link to their points.",
        ),
    ] = None,
    counterfactuals: Annotated[
        int | None,
        typer.Option(
            min=0,
            help="Number of rows for which the page of --html says what would change the prediction.",
            show_default="the first 100, fewer with many columns",
        ),
    ] = None,
    frozen: Annotated[
        list[str] | None,
        typer.Option(
            metavar="COLUMN", help="A column that must not change in a counterfactual. May be repeated."
        ),
    ] = None,
    columns: Annotated[
        int, typer.Option(min=1, help="Number of columns to show, the most relevant first.")
    ] = 10,
    reject_cost: RejectCost = None,
    coverage: Coverage = None,
    risk: Risk = None,
    id: RowNames = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o",
            help="Write a table with a line per neighbor and column: .csv, .csv.gz or .parquet.",
        ),
    ] = None,
    json: AsJson = False,
    sep: Sep = None,
    decimal: Decimal = None,
    encoding: Encoding = None,
    sheet: Sheet = None,
    spreadsheet_safe: SpreadsheetSafe = True,
) -> None:  # fmt: skip
    """Explain predictions.

    Shows the training rows that voted, with their values, how much the vote depends on each column around the
    row, and what the value of each column adds to the probability of the prediction. More than 10 rows are
    printed with a line for each, or, if they are written to a file, as a summary. Row numbers start at 0,
    below the header. With --reject-cost, --coverage or --risk, as in `lann predict`, it says which rows are
    rejected, and why.
    """
    import pandas as pd

    from lann.cli.show_overview import show_overview, show_summary
    from lann.cli.show_reject import expectation
    from lann.cli.show_row import show_rows
    from lann.explain import Overview
    from lann.report import SourceFile, save_report
    from lann.tables import TableModel, check_table_path, write_table

    if output is not None:
        check_table_path(output)
    if html is not None:
        check_page_path(html)
    _check_report_options(html, embedding, counterfactuals, frozen)
    first: list[Explanation] = []  # of the first rows
    overviews, tables, documents, n_done = [], [], [], 0
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        fitted = TableModel.load(model)
        reject = make_reject_option(fitted, reject_cost, coverage, risk)
        reading = TableOptions(sep, decimal, encoding, sheet).reading(data, notes)
        frame = reading.frame
        chosen = _chosen_rows(row, rows, len(frame), is_report=html is not None)
        report = step(bar, "Explaining")
        for block in fitted.explain_blocks(
            frame, chosen, block_size=MOST_REPORTED_ROWS, id=id, reject=reject, name=table_name(data)
        ):
            first = first or [block]
            overviews.append(block.overview())
            if output is not None:
                tables.append(block.to_long_frame())
            if json:
                documents += explained_documents(block)
            n_done += len(block)
            report(n_done, len(chosen))
        if output is not None:
            step(bar, "Writing")
            write_table(pd.concat(tables, ignore_index=True), output, guard_formulas=spreadsheet_safe)
    explanation, overview = first[0], Overview.joined(overviews)
    console, files = results(quiet=json), []
    if html is not None:
        sources = [SourceFile.from_path(model)]
        if reading.sha256 is not None:
            sources.append(SourceFile(table_name(data), reading.sha256))
        save_report(
            html,
            fitted,
            explanation,
            title=f"{model.name} on {table_name(data)}",
            n_features=columns,
            notes=notes if reject is None else [*notes, f"{expectation(reject)}."],
            counterfactuals=_counterfactuals(fitted, explanation, counterfactuals, frozen),
            embedding=None if embedding is None else _relative(embedding, html),
            files=sources,
        )
        files.append(html)
        explained = f"{counted(len(explanation), 'row')} explained"
        console.print(f"Wrote {html}: {explained}; open it in a browser", soft_wrap=True)
    elif len(overview) <= MOST_IN_FULL:
        show_rows(explanation, console, n_columns=columns)
    elif output is not None:
        show_summary(overview, console, n_columns=columns)
    else:
        show_overview(overview, console)
        hint = f"One row in full: --row {chosen[0]}; all of them in a page: --html report.html"
        console.print(hint, style="dim", soft_wrap=True)
    if output is not None:
        files.append(output)
        console.print(f"Wrote {output}", soft_wrap=True)
    if reject is not None and html is None:
        console.print(f"{expectation(reject)}", style="dim", soft_wrap=True)
    for text in notes:
        note(text, console)
    if json:
        print_document(
            {
                "model": model,
                "table": table_name(data),
                "n_rows": len(overview),
                "accuracy": overview.accuracy,
                "n_doubtful": overview.n_doubtful,
                "n_far": overview.n_far,
                "decision_counts": overview.decision_counts,
                "class_counts": overview.class_counts,
                "mean_relevances": dict(overview.relevant_features),
                "rows": documents,
                "files": files,
                "notes": notes,
            }
        )


def _check_report_options(
    html: Path | None, embedding: Path | None, counterfactuals: int | None, frozen: list[str] | None
) -> None:
    """Raise ValueError if options of a report are given without it, or name no embedding page."""
    given = {"--embedding": embedding, "--counterfactuals": counterfactuals, "--frozen": frozen}
    for option, value in given.items():
        if html is None and value:
            raise ValueError(f"{option} is about the page of --html; give --html report.html, too.")
    if embedding is not None:
        if not embedding.is_file():
            raise ValueError(f"There is no file {embedding}; write it by `lann embed -o {embedding}`.")
        check_page_name(embedding)


def _counterfactuals(
    model: TableModel, explanation: Explanation, n_rows: int | None, frozen: list[str] | None
) -> Counterfactuals | int | Literal["auto"]:
    """Return the counterfactuals of a report, or the number of rows that have one."""
    if not frozen:
        return "auto" if n_rows is None else n_rows
    chosen = explanation[: CHANGED_ROWS if n_rows is None else n_rows]
    return model.counterfactuals_of_explanation(chosen, frozen=frozen) if len(chosen) else 0


def _relative(embedding: Path, html: Path) -> str:
    """Return the address of the embedding page in a page of another folder."""
    return Path(os.path.relpath(embedding.resolve(), html.resolve().parent)).as_posix()


def explained_documents(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the explained rows as dictionaries, each with its sentence."""
    sentences = explanation.in_words()
    return [row | {"sentence": text} for row, text in zip(explanation.to_dict(), sentences, strict=True)]


def _chosen_rows(row: list[int] | None, rows: str | None, n_rows: int, *, is_report: bool) -> list[int]:
    """Return the rows that --row and --rows name, each once, in the order given."""
    if not row and rows is None:
        return list(range(min(REPORTED_ROWS, n_rows))) if is_report else [0]
    chosen = named_rows(row, rows, n_rows)
    if is_report and len(chosen) > MOST_REPORTED_ROWS:
        raise ValueError(
            f"A report has at most {MOST_REPORTED_ROWS} rows; got {len(chosen)}. Give fewer with --rows, or "
            "write all of them to a table with -o."
        )
    return chosen
