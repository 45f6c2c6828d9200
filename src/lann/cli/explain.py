"""`lann explain`: the neighbors and columns behind predictions, and how they are printed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from lann._markup import check_page_path
from lann._markup import texts as _texts
from lann._support.format import counted, percent, printable, value_text
from lann.cli import options as opt
from lann.cli.output import Output, make_table, more, styled

if TYPE_CHECKING:
    from rich.table import Table

    from lann.explain import ExplainedRow, Explanation, Overview
    from lann.tables import TableModel

# More rows are printed with a line for each, or as a summary.
MOST_IN_FULL = 10
# Rows of a report by default, and at most: a page of about ten megabytes.
REPORTED_ROWS, MOST_REPORTED_ROWS = 20, 500
# Rows with a counterfactual under constraints, if their number is not given.
CHANGED_ROWS = 100
# Columns whose values are shown for the neighbors.
N_VALUES = 3
BAR_LENGTH = 12
# Of an overview: rows, classes, the width of names, and rows that are named where some are counted.
MOST_ROWS, MOST_CLASSES, LONGEST_NAME, MOST_NAMED = 100, 8, 20, 5
# Labels of similar cases that are not listed.
MOST_LABELS = 3
COUNTS = ("accuracy", "mean_error", "n_doubtful", "n_far", "decision_counts", "class_counts")
MARKS = {
    "mistake": "Mistakes",
    "ambiguous": "Rejected as ambiguous",
    "doubtful": "Doubtful (the prediction leads the runner-up by less than 20 points)",
    "far": "Far (nothing similar is among the training rows)",
}

Html = Annotated[
    opt.File,
    opt.option(
        "Write a report, a page for the browser, instead of printing tables; of the first 20 rows if none is "
        "given.",
        metavar="FILE",
    ),
]
Columns = Annotated[int, opt.at_least(1, "Number of columns to show, the strongest reasons first.")]
OutputFile = Annotated[
    opt.File, opt.output_option(f"Write a table with a line per row and column: {opt.TABLE_FORMATS}")
]


@dataclass(frozen=True)
class PageOptions:
    """What a report has beside the explained rows."""

    explorer: Annotated[
        opt.File,
        opt.option(
            "A page of `lann explore`: rows and neighbors in the page of --html link to it.",
            metavar="FILE",
        ),
    ] = None
    counterfactuals: Annotated[
        int | None,
        opt.at_least(
            0,
            "Number of rows for which the page of --html says what would change the prediction.",
            default="the first 100, fewer with many columns",
        ),
    ] = None

    def check(self, html: Path | None, constraints: opt.ConstraintOptions) -> None:
        """Raise an error if options are given without a report, or there is no such explorer."""
        for name, value in (vars(self) | vars(constraints)).items():
            if html is None and value:
                raise ValueError(f"--{name} is about the page of --html; give --html report.html, too.")
        if self.explorer is not None:
            check_page_path(self.explorer)
            if not self.explorer.is_file():
                raise ValueError(
                    f"There is no file {self.explorer}; write it by `lann explore -o {self.explorer}`."
                )

    def check_values(self, constraints: opt.ConstraintOptions) -> None:
        """Raise an error if options are given that are for labels."""
        for name, value in (vars(self) | vars(constraints)).items():
            if value:
                raise ValueError(f"--{name} is for labels, and the model predicts numbers.")

    def of_report(
        self, html: Path, fitted: TableModel, explanation: Explanation, constraints: opt.ConstraintOptions
    ) -> dict[str, Any]:
        """Return the parameters of `save_report`."""
        changes: Any = "auto" if self.counterfactuals is None else self.counterfactuals
        if any(vars(constraints).values()) and changes != 0:
            changed = explanation[: CHANGED_ROWS if changes == "auto" else changes]
            allowed = constraints.of_file_and_options()
            changes = fitted.counterfactuals_of_explanation(changed, constraints=allowed)
        explorer = None
        if self.explorer is not None:  # relative to the folder of the page
            path = os.path.relpath(self.explorer.resolve(), html.resolve().parent)
            explorer = Path(path).as_posix()
        return {"counterfactuals": changes, "explorer": explorer}


def explain(
    model: opt.ModelFile,
    data: opt.RowsFile,
    *,
    rows: opt.RowOptions,
    html: Html = None,
    page: PageOptions,
    constraints: opt.ConstraintOptions,
    columns: Columns = 10,
    rejecting: opt.RejectOptions,
    id: opt.RowNames = None,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Explain predictions.

    Shows the similar cases, which are the training rows that voted, the reasons, which are what the value of
    each column adds to the probability of the prediction, and what matters for rows like this one. More than
    10 rows are printed with a line for each, or, if they are written to a file, as a summary. Row numbers
    start at 0, below the header. With --reject-cost, --coverage or --risk, as in `lann predict`, it says
    which rows are rejected, and why.
    """
    import pandas as pd

    from lann.cli.predict import expectation
    from lann.explain import Overview, overview
    from lann.tables import TableModel

    page.check(html, constraints)
    out, name = Output(json, table=output, page=html, guarded=spreadsheet_safe), opt.table_name(data)
    with out.progress() as step:
        step("Reading")
        fitted = TableModel.load(model)
        reject = rejecting.reject_option(fitted)
        reading = tables.read(data, out.notes)
        default = [0] if html is None else list(range(min(REPORTED_ROWS, len(reading.frame))))
        chosen = rows.chosen(len(reading.frame), default)
        if html is not None and len(chosen) > MOST_REPORTED_ROWS:
            raise ValueError(
                f"A report has at most {MOST_REPORTED_ROWS} rows; got {len(chosen)}. Give fewer with --rows, "
                "or write all of them to a table with -o."
            )
        report, blocks = step("Explaining"), []
        for block in fitted.explain_blocks(
            reading.frame, chosen, block_size=MOST_REPORTED_ROWS, id=id, reject=reject, name=name
        ):
            blocks.append(block)
            report(sum(map(len, blocks)), len(chosen))
    counts: dict[str, Any] = {}
    if json or len(chosen) > MOST_IN_FULL:
        summary = Overview.joined([overview(block) for block in blocks])
        counts = {"n_rows": len(summary), **{name: getattr(summary, name) for name in COUNTS}}
        counts["mean_relevances"] = dict(summary.relevant_features)
    expected = [] if reject is None else [expectation(reject)]
    if html is not None:
        from lann.report import SourceFile, save_report

        options: dict[str, Any] = {"title": f"{model.name} on {name}", "n_features": columns}
        notes = [*out.notes, *[f"{text}." for text in expected]]
        if fitted.has_values:
            page.check_values(constraints)
            blocks[0].to_html(html, **options, notes=notes)
        else:
            files = [SourceFile.from_path(model), SourceFile(name, reading.sha256)]
            options |= page.of_report(html, fitted, blocks[0], constraints)
            save_report(html, fitted, blocks[0], **options, notes=notes, files=files)
        out.wrote(html, f": {counted(len(chosen), 'row')} explained; open it in a browser")
    elif len(chosen) <= MOST_IN_FULL:
        for position in range(len(blocks[0])):
            row = blocks[0].row(position)
            if len(chosen) > 1:
                out.print(*[""] * (position > 0))
                out.print(row.title, style="bold")
            show_row(row, out, columns)
    elif output is not None:
        _show_summary(summary, out, columns)
    else:
        out.print(_overview_table(summary))
        out.print(f"One row in full: --row {chosen[0]}; all in a page: --html report.html", style="dim")
    if output is not None:
        out.write_table(pd.concat([block.to_frame() for block in blocks], ignore_index=True), output)
    if html is None:
        out.print(*expected, style="dim")
    out.finish(
        model=model,
        table=name,
        **counts,
        rows=lambda: [row for block in blocks for row in explained_documents(block)],
    )


def explained_documents(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the explained rows as dictionaries, each with its sentence."""
    sentences = explanation.in_words()
    return [row | {"sentence": text} for row, text in zip(explanation.to_dict(), sentences, strict=True)]


def show_row(row: ExplainedRow, out: Output, n_columns: int) -> None:
    """Print an explained row: its sentences, similar cases, reasons, and what matters here."""
    out.print(row.sentence, soft_wrap=False)
    if row.true_label is not None:
        verdict = "correct" if row.true_label == row.prediction else "wrong"
        text = f"The prediction is {verdict}: the label is {row.true_label}."
        if row.is_value:
            text = f"The known {row.output_name} is {value_text(row.true_label)}."
        out.print(text)
    out.print(
        "", _neighbor_table(row), "", _reason_table(row, n_columns), "", _relevance_table(row, n_columns)
    )
    if not row.has_relevant_feature:
        out.print(_texts.NO_RELEVANT_COLUMN, soft_wrap=False)
    reasons = _texts.VALUE_REASONS if row.is_value else _texts.REASONS
    how_to_read = [f"Reasons: {_lower(reasons)}", f"What matters here: {_lower(_texts.RELEVANCE)}"]
    out.hint(*how_to_read, *([] if row.typical is None else [_texts.TYPICAL]))


def _lower(text: str) -> str:
    return text[0].lower() + text[1:]


def _neighbor_table(row: ExplainedRow) -> Table:
    known: Any = row.neighbor_values
    n_values = 0 if known is None else min(N_VALUES, len(row.feature_names))
    neighbor_ids: Any = row.neighbor_ids
    ids = ["id"] * (neighbor_ids is not None)
    label = "?" if row.true_label is None else value_text(row.true_label)
    first = ["this row", *(row.id or "" for _ in ids), label, *map(value_text, row.values[:n_values])]
    lines: list[list[Any] | None] = [[styled(cell, "bold") for cell in first], None]
    for k in range(row.n_listed):
        names = [str(row.neighbors[k]), *(str(neighbor_ids[k]) for _ in ids)]
        label_style = "dark_orange" if k in row.disagreeing else ""
        values = (
            [] if row.neighbor_values is None else list(map(value_text, row.neighbor_values[k, :n_values]))
        )
        cells = [styled(value, "" if row.is_different[k, j] else "dim") for j, value in enumerate(values)]
        lines.append([*names, styled(value_text(row.neighbor_labels[k]), label_style), *cells])
    if row.others is not None:
        labels = ", ".join(f"{count} {label}" for label, count in row.others.labels[:MOST_LABELS])
        labels += ", …" if len(row.others.labels) > MOST_LABELS else ""
        lines += [None, [row.others.title, *["" for _ in ids], labels, *[""] * n_values]]
    label_name = f">{row.output_name}" if row.is_value else "label"
    columns = [">row", *ids, label_name, *(f">{name}" for name in row.feature_names[:n_values])]
    return make_table(columns, lines, title=f"Similar cases: {row.similar_text}")


def _reason_table(row: ExplainedRow, n_columns: int) -> Table:
    typical = [] if row.typical is None else [f">typical of {row.prediction}"]

    def total(name: str, text: str) -> list[Any]:
        return [name, "", text, "", *("" for _ in typical)]

    lines: list[list[Any] | None] = [total("where nothing is known", row.amount_text(row.base_value)), None]
    for j, name in enumerate(row.feature_names[:n_columns]):
        note, value, text = row.value_note(j), value_text(row.values[j]), row.signed_text(row.support[j])
        style = {"+": "blue", "−": "dark_orange"}.get(text[0], "") if row.is_reason[j] else "dim"
        error = f"± {row.error_text(j)}"
        cells = [name, f"{value} ({note})" if note else value, styled(text, style), styled(error, "dim")]
        lines.append([*cells, *([] if row.typical is None else [row.typical[j]])])
    rest = row.support[n_columns:]
    if len(rest):
        lines.append(total(counted(len(rest), "other column"), row.signed_text(rest.sum())))
    lines += [None, total("this row", row.amount_text(row.output))]
    return make_table(
        ["column", ">this row", f">adds to {row.output_name}", ">", *typical], lines, title="Reasons"
    )


def _relevance_table(row: ExplainedRow, n_columns: int) -> Table:
    order, largest, lines = np.argsort(-row.relevances, kind="stable"), row.relevances.max(), []
    for j in order[:n_columns]:
        relevance = row.relevances[j]
        bar = "█" * round(BAR_LENGTH * relevance / (largest or 1.0)) or ("▏" if relevance > 0 else "")
        cells = [row.feature_names[j], f"{bar:<{BAR_LENGTH}}", percent(relevance, 1)]
        lines.append([*cells, row.percentile_text(j)])
    return make_table(
        ["column", "relevance", ">", ">percentile"],
        lines,
        title="What matters here",
        caption=more(len(order) - n_columns, "column"),
    )


def _show_summary(overview: Overview, out: Output, n_columns: int) -> None:
    """Print how many rows are explained, their predictions, and the most relevant columns."""
    n_rows, n_labels = len(overview), overview.n_labels
    predicted = [(label, n) for label, n in overview.class_counts.items() if n]
    counts = sorted(predicted, key=lambda pair: -pair[1])
    shown = [f"{label} ({n:,}, {percent(n / n_rows)})" for label, n in counts[:MOST_CLASSES]]
    others = more(len(counts) - len(shown), "class", plural="more classes")
    out.print(f"{counted(n_rows, 'row')} explained")
    if overview.is_of_labels:
        out.print(f"Predictions: {', '.join(shown)}{f' {others}' if others else ''}")
    if overview.mean_error is not None:
        out.print(f"Mean absolute error: {value_text(overview.mean_error)} ({counted(n_labels, 'row')})")
    if overview.accuracy is not None:
        ending = "" if n_labels == n_rows else " with a label"
        rows = f"{n_labels - overview.mistakes.sum():,} of {counted(n_labels, 'row')}{ending}"
        out.print(f"Accuracy: {percent(overview.accuracy, 1)} ({rows})")
    for mark, are_marked in overview.marks.items():
        if (mark == "mistake" and not n_labels) or (mark == "far" and overview.n_far is None):
            continue
        marked = overview.rows["row"][are_marked].tolist()
        text = f"{MARKS[mark]}: {counted(len(marked), 'row')}"
        if marked:
            named = [str(row) for row in marked[:MOST_NAMED]] + ["…"] * (len(marked) > MOST_NAMED)
            text += f", {percent(len(marked) / n_rows, 1)}: {', '.join(named)}"
        out.print(text)
    out.print("Mean relevance by column", style="bold")
    features = overview.relevant_features
    lines = [[name, percent(relevance, 1)] for name, relevance in features[:n_columns]]
    caption = more(len(features) - n_columns, "column")
    out.print(make_table(["column", ">relevance"], lines, caption=caption))


def _overview_table(overview: Overview) -> Table:
    """Return a table with one line for each row, cut where the terminal is too narrow."""
    from rich.box import SIMPLE_HEAD
    from rich.text import Text

    rows = overview.rows
    decisions = rows["decision"] if "decision" in rows else [None] * len(rows)
    remarks = []
    for i, decision in enumerate(decisions):
        texts = {"mistake": "wrong", decision: f"rejected: {decision}"}
        flags = [texts.get(mark, mark) for mark, marked in overview.marks.items() if marked[i]]
        remarks.append(", ".join(flags))
    ids, notes = ["id"] * ("id" in rows), ["note"] * any(remarks)
    lines = []
    for row, remark in zip(rows.head(MOST_ROWS).to_dict("records"), remarks, strict=False):
        names = [str(row[name]) for name in ("row", *ids)] + [value_text(row["prediction"])]
        reasons = Text(printable(row["reasons"]) or "all columns together", no_wrap=True, overflow="ellipsis")
        beside = [row.get("interval", "")]
        if overview.is_of_labels:
            beside = [percent(row["probability"]), str(row["runner_up"])]
        lines.append([*names, *beside, *(remark for _ in notes), reasons])
    beside = [">", "next"] if overview.is_of_labels else [">90% interval"]
    columns = [">row", *ids, "prediction", *beside, *notes, "because of"]
    caption = more(len(overview) - MOST_ROWS, "row", ": write all to a file with -o")
    table = make_table(columns, lines, caption=caption)
    table.box, table.pad_edge, table.padding = SIMPLE_HEAD, False, (0, 1, 0, 0)
    for column in table.columns[:-1]:  # the last one gives way to the width of the terminal
        column.no_wrap, column.max_width = True, None if column.header == "note" else LONGEST_NAME
    return table
