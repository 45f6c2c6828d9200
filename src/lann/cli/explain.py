"""`lann explain`: the neighbors and columns behind predictions."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal, NamedTuple

import typer

from lann._markup import check_page_name, check_page_path
from lann._support.format import counted
from lann.cli import options as opt
from lann.cli.output import collected_notes, print_document, progress, results, show_notes, step

if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation
    from lann.tables import TableModel

# More rows are printed with a line for each, or as a summary.
MOST_IN_FULL = 10
# Rows of a report by default, and at most: a page of about ten megabytes.
REPORTED_ROWS, MOST_REPORTED_ROWS = 20, 500
# Rows with a counterfactual if columns are frozen, and their number is not given.
CHANGED_ROWS = 100

Row = Annotated[
    list[int] | None,
    typer.Option(
        help="A row to explain; the first one below the header is 0. May be repeated.",
        show_default="0, or the first 20 for --html",
    ),
]
Html = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write a report, a page for the browser, instead of printing tables."),
]
EmbeddingPage = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="A page of `lann embed`: rows and neighbors in the page of --html link to their points.",
    ),
]
NumberOfCounterfactuals = Annotated[
    int | None,
    typer.Option(
        min=0,
        help="Number of rows for which the page of --html says what would change the prediction.",
        show_default="the first 100, fewer with many columns",
    ),
]
Columns = Annotated[int, typer.Option(min=1, help="Number of columns to show, the most relevant first.")]


def explain(
    model: opt.ModelFile,
    data: opt.RowsFile,
    row: Row = None,
    rows: opt.Rows = None,
    html: Html = None,
    embedding: EmbeddingPage = None,
    counterfactuals: NumberOfCounterfactuals = None,
    frozen: opt.Frozen = None,
    columns: Columns = 10,
    reject_cost: opt.RejectCost = None,
    coverage: opt.Coverage = None,
    risk: opt.Risk = None,
    id: opt.RowNames = None,
    output: Annotated[
        Path | None,
        opt.output_option(f"Write a table with a line per neighbor and column: {opt.TABLE_FORMATS}"),
    ] = None,
    json: opt.AsJson = False,
    sep: opt.Sep = None,
    decimal: opt.Decimal = None,
    encoding: opt.Encoding = None,
    sheet: opt.Sheet = None,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Explain predictions.

    Shows the training rows that voted, with their values, how much the vote depends on each column around the
    row, and what the value of each column adds to the probability of the prediction. More than 10 rows are
    printed with a line for each, or, if they are written to a file, as a summary. Row numbers start at 0,
    below the header. With --reject-cost, --coverage or --risk, as in `lann predict`, it says which rows are
    rejected, and why.
    """
    from lann.cli.predict import expectation
    from lann.explain import Overview
    from lann.tables import TableModel, check_table_path

    if output is not None:
        check_table_path(output)
    page = _Page(html, model, data, columns, embedding, counterfactuals, frozen)
    page.check()
    with progress(quiet=json) as bar, collected_notes() as notes:
        step(bar, "Reading")
        fitted = TableModel.load(model)
        reject = opt.make_reject_option(fitted, reject_cost, coverage, risk)
        reading = opt.TableOptions(sep, decimal, encoding, sheet).read(data, notes)
        chosen = _chosen_rows(row, rows, len(reading.frame), is_report=html is not None)
        blocks = fitted.explain_blocks(
            reading.frame, chosen, block_size=MOST_REPORTED_ROWS, id=id, reject=reject,
            name=opt.table_name(data),
        )  # fmt: skip
        explained = _Explained([], [], [], [])
        explained.add_blocks(blocks, step(bar, "Explaining"), len(chosen), long=output is not None, json=json)
        if output is not None:
            step(bar, "Writing")
            explained.write(output, guard_formulas=spreadsheet_safe)
    overview, console = Overview.joined(explained.overviews), results(quiet=json)
    if html is not None:
        expected = [] if reject is None else [f"{expectation(reject)}."]
        page.save(fitted, explained.first[0], [*notes, *expected], reading.sha256)
        n_explained = f"{counted(len(explained.first[0]), 'row')} explained"
        console.print(f"Wrote {html}: {n_explained}; open it in a browser", soft_wrap=True)
    else:
        _show(explained.first[0], overview, console, columns, chosen[0], is_summary=output is not None)
    if output is not None:
        console.print(f"Wrote {output}", soft_wrap=True)
    if reject is not None and html is None:
        console.print(expectation(reject), style="dim", soft_wrap=True)
    show_notes(notes, console)
    if json:
        print_document(
            {
                "model": model,
                "table": opt.table_name(data),
                "n_rows": len(overview),
                "accuracy": overview.accuracy,
                "n_doubtful": overview.n_doubtful,
                "n_far": overview.n_far,
                "decision_counts": overview.decision_counts,
                "class_counts": overview.class_counts,
                "mean_relevances": dict(overview.relevant_features),
                "rows": explained.documents,
                "files": [path for path in (html, output) if path is not None],
                "notes": notes,
            }
        )


class _Explained(NamedTuple):
    """Explanations of blocks of rows: the first one, overviews, and tables and documents if needed."""

    first: list[Explanation]
    overviews: list[Any]
    tables: list[Any]
    documents: list[dict[str, Any]]

    def add_blocks(self, blocks: Any, report: opt.Report, n_rows: int, *, long: bool, json: bool) -> None:
        """Add blocks of explained rows, and report the progress."""
        n_done = 0
        for block in blocks:
            if not self.first:
                self.first.append(block)
            self.overviews.append(block.overview())
            if long:
                self.tables.append(block.to_long_frame())
            if json:
                self.documents.extend(explained_documents(block))
            n_done += len(block)
            report(n_done, n_rows)

    def write(self, path: Path, *, guard_formulas: bool) -> None:
        """Write the table with a line per neighbor and column."""
        import pandas as pd

        from lann.tables import write_table

        write_table(pd.concat(self.tables, ignore_index=True), path, guard_formulas=guard_formulas)


class _Page(NamedTuple):
    """The options about the report."""

    html: Path | None
    model: Path
    data: Path
    n_columns: int
    embedding: Path | None
    n_counterfactuals: int | None
    frozen: list[str] | None

    def check(self) -> None:
        """Raise ValueError if options of a report are given without it, or name no embedding page."""
        if self.html is not None:
            check_page_path(self.html)
        given = {
            "--embedding": self.embedding,
            "--counterfactuals": self.n_counterfactuals,
            "--frozen": self.frozen,
        }
        for option, value in given.items():
            if self.html is None and value:
                raise ValueError(f"{option} is about the page of --html; give --html report.html, too.")
        if self.embedding is not None:
            if not self.embedding.is_file():
                page = self.embedding
                raise ValueError(f"There is no file {page}; write it by `lann embed -o {page}`.")
            check_page_name(self.embedding)

    def save(self, fitted: TableModel, found: Explanation, notes: list[str], sha256: str | None) -> None:
        """Write the report."""
        from lann.report import SourceFile, save_report

        assert self.html is not None
        name = opt.table_name(self.data)
        sources = [SourceFile.from_path(self.model)]
        if sha256 is not None:
            sources.append(SourceFile(name, sha256))
        address = None
        if self.embedding is not None:  # relative to the folder of the page
            relative = os.path.relpath(self.embedding.resolve(), self.html.resolve().parent)
            address = Path(relative).as_posix()
        n_rows = self.n_counterfactuals
        changes: Counterfactuals | int | Literal["auto"] = "auto" if n_rows is None else n_rows
        if self.frozen:
            some = found[: CHANGED_ROWS if n_rows is None else n_rows]
            changes = fitted.counterfactuals_of_explanation(some, frozen=self.frozen) if len(some) else 0
        save_report(
            self.html,
            fitted,
            found,
            title=f"{self.model.name} on {name}",
            n_features=self.n_columns,
            notes=notes,
            counterfactuals=changes,
            embedding=address,
            files=sources,
        )


def _show(
    found: Explanation, overview: Any, console: Any, n_columns: int, first_row: int, *, is_summary: bool
) -> None:
    """Print explained rows: in full, as a summary, or a line for each."""
    from lann.cli.show_explanation import overview_table, show_rows, show_summary

    if len(overview) <= MOST_IN_FULL:
        show_rows(found, console, n_columns=n_columns)
    elif is_summary:
        show_summary(overview, console, n_columns=n_columns)
    else:
        console.print(overview_table(overview))
        hint = f"One row in full: --row {first_row}; all of them in a page: --html report.html"
        console.print(hint, style="dim", soft_wrap=True)


def explained_documents(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the explained rows as dictionaries, each with its sentence."""
    sentences = explanation.in_words()
    return [row | {"sentence": text} for row, text in zip(explanation.to_dict(), sentences, strict=True)]


def _chosen_rows(row: list[int] | None, rows: str | None, n_rows: int, *, is_report: bool) -> list[int]:
    """Return the rows that --row and --rows name, or the first ones."""
    if not row and rows is None:
        return list(range(min(REPORTED_ROWS, n_rows))) if is_report else [0]
    chosen = opt.named_rows(row, rows, n_rows)
    if is_report and len(chosen) > MOST_REPORTED_ROWS:
        raise ValueError(
            f"A report has at most {MOST_REPORTED_ROWS} rows; got {len(chosen)}. Give fewer with --rows, or "
            "write all of them to a table with -o."
        )
    return chosen
