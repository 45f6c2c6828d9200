"""`lann explain`: the neighbors and columns behind predictions, and how they are printed."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np

from lann._markup import check_page_path
from lann._markup import texts as _texts
from lann._support.format import counted, percent, printable, signed_percent, value_text
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
# Rows with a counterfactual if columns are frozen, and their number is not given.
CHANGED_ROWS = 100
# Columns whose values are shown for the neighbors.
N_VALUES = 3
BAR_LENGTH = 12
# Of an overview: rows, classes, the width of names, and rows that are named where some are counted.
MOST_ROWS, MOST_CLASSES, LONGEST_NAME, MOST_NAMED = 100, 8, 20, 5
COUNTS = ("accuracy", "n_doubtful", "n_far", "decision_counts", "class_counts")
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
Columns = Annotated[int, opt.at_least(1, "Number of columns to show, the most relevant first.")]
OutputFile = Annotated[
    opt.File, opt.output_option(f"Write a table with a line per neighbor and column: {opt.TABLE_FORMATS}")
]


@dataclass(frozen=True)
class PageOptions:
    """What a report has beside the explained rows."""

    embedding: Annotated[
        opt.File,
        opt.option(
            "A page of `lann embed`: rows and neighbors in the page of --html link to their points.",
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
    frozen: opt.Frozen = None

    def check(self, html: Path | None) -> None:
        """Raise an error if options are given without a report, or there is no such embedding."""
        for name, value in vars(self).items():
            if html is None and value:
                raise ValueError(f"--{name} is about the page of --html; give --html report.html, too.")
        if self.embedding is not None:
            check_page_path(self.embedding)
            if not self.embedding.is_file():
                raise ValueError(
                    f"There is no file {self.embedding}; write it by `lann embed -o {self.embedding}`."
                )

    def of_report(self, html: Path, fitted: TableModel, explanation: Explanation) -> dict[str, Any]:
        """Return the parameters of `save_report`."""
        changes: Any = "auto" if self.counterfactuals is None else self.counterfactuals
        if self.frozen and changes != 0:
            changed = explanation[: CHANGED_ROWS if changes == "auto" else changes]
            changes = fitted.counterfactuals_of_explanation(changed, frozen=self.frozen)
        embedding = None
        if self.embedding is not None:  # relative to the folder of the page
            path = os.path.relpath(self.embedding.resolve(), html.resolve().parent)
            embedding = Path(path).as_posix()
        return {"counterfactuals": changes, "embedding": embedding}


def explain(
    model: opt.ModelFile,
    data: opt.RowsFile,
    *,
    rows: opt.RowOptions,
    html: Html = None,
    page: PageOptions,
    columns: Columns = 10,
    rejecting: opt.RejectOptions,
    id: opt.RowNames = None,
    output: OutputFile = None,
    json: opt.AsJson = False,
    tables: opt.TableOptions,
    spreadsheet_safe: opt.SpreadsheetSafe = True,
) -> None:
    """Explain predictions.

    Shows the training rows that voted, with their values, how much the vote depends on each column around the
    row, and what the value of each column adds to the probability of the prediction. More than 10 rows are
    printed with a line for each, or, if they are written to a file, as a summary. Row numbers start at 0,
    below the header. With --reject-cost, --coverage or --risk, as in `lann predict`, it says which rows are
    rejected, and why.
    """
    import pandas as pd

    from lann.cli.predict import expectation
    from lann.explain import Overview
    from lann.tables import TableModel

    page.check(html)
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
        overview = Overview.joined([block.overview() for block in blocks])
        counts = {"n_rows": len(overview), **{name: getattr(overview, name) for name in COUNTS}}
        counts["mean_relevances"] = dict(overview.relevant_features)
    expected = [] if reject is None else [expectation(reject)]
    if html is not None:
        from lann.report import SourceFile, save_report

        save_report(
            html, fitted, blocks[0], title=f"{model.name} on {name}", n_features=columns,
            notes=[*out.notes, *[f"{text}." for text in expected]],
            files=[SourceFile.from_path(model), SourceFile(name, reading.sha256)],
            **page.of_report(html, fitted, blocks[0]),
        )  # fmt: skip
        out.wrote(html, f": {counted(len(chosen), 'row')} explained; open it in a browser")
    elif len(chosen) <= MOST_IN_FULL:
        largest = float(blocks[0].relevances.max(initial=0.0))  # bars of all rows have the same scale
        for position, row in enumerate(blocks[0].rows()):
            if len(chosen) > 1:
                out.print(*[""] * (position > 0))
                out.print(row.title, style="bold")
            show_row(row, out, columns, largest)
    elif output is not None:
        _show_summary(overview, out, columns)
    else:
        out.print(_overview_table(overview))
        out.print(f"One row in full: --row {chosen[0]}; all in a page: --html report.html", style="dim")
    if output is not None:
        out.write_table(pd.concat([block.to_long_frame() for block in blocks], ignore_index=True), output)
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


def show_row(row: ExplainedRow, out: Output, n_columns: int, largest: float) -> None:
    """Print an explained row: a summary, the neighbors, and the most relevant columns.

    The longest bar is that of the relevance `largest`.
    """
    n_same = int(np.sum(row.neighbor_labels == row.prediction))
    summary = (
        f"Predicted {row.prediction}, with probability {percent(row.probability)}, by {n_same} of "
        f"{counted(len(row.neighbor_labels), 'neighbor')}. Next is {row.runner_up}, with "
        f"{percent(row.runner_up_probability)}."
    )
    if row.true_label is not None:
        verdict = "correct" if row.true_label == row.prediction else "wrong"
        summary += f" The prediction is {verdict}: the label is {row.true_label}."
    out.print(summary, row.sentence, "", soft_wrap=False)
    out.print(_neighbor_table(row), "", _column_table(row, n_columns, largest))
    how_to_read = [f"Relevance: {_texts.RELEVANCE[0].lower()}{_texts.RELEVANCE[1:]}"]
    if not row.has_relevant_feature:
        out.print(_texts.NO_RELEVANT_COLUMN, soft_wrap=False)
    if row.support is not None and row.base_values is not None:
        base = percent(float(row.base_values[row.class_index(row.prediction)]))
        how_to_read.append(
            f"Support: what the value adds to the probability of {row.prediction}, from {base} at training "
            f"rows of other classes to {percent(row.probability)} here; all columns together add up to it."
        )
    if row.separation is not None and len(row.classes) > 2:
        how_to_read.append(f"Lead: how much of the lead over {row.runner_up} depends on the value.")
    if row.typical is not None and row.typical_of_runner_up is not None:
        how_to_read.append(_texts.TYPICAL)
        typical = {row.prediction: row.typical, row.runner_up: row.typical_of_runner_up}
        lines = [
            [name, value_text(row.values[j]), row.percentile_text(j), *(text[j] for text in typical.values())]
            for j, name in enumerate(row.feature_names[:n_columns])
        ]
        columns = ["column", ">this row", ">percentile", *(f">typical of {label}" for label in typical)]
        out.print("", make_table(columns, lines, title="Values beside those of the training rows"))
    out.hint(*how_to_read)


def _neighbor_table(row: ExplainedRow) -> Table:
    n_values = 0 if row.neighbor_values is None else min(N_VALUES, len(row.feature_names))
    ids = ["id"] * (row.neighbor_ids is not None)
    label = "?" if row.true_label is None else str(row.true_label)
    first = ["this row", *(row.id or "" for _ in ids), label, "", "", *map(value_text, row.values[:n_values])]
    lines: list[list[Any] | None] = [[styled(cell, "bold") for cell in first], None]
    for k in range(row.n_listed):
        names = [str(row.neighbors[k]), *(str(row.neighbor_ids[k]) for _ in ids), str(row.neighbor_labels[k])]
        values = [] if row.neighbor_values is None else map(value_text, row.neighbor_values[k, :n_values])
        lines.append([*names, f"{row.distances[k]:.3g}", percent(row.vote_shares[k]), *values])
    if row.others is not None:
        others = [row.others.title, *["" for _ in ids], row.others.label_text, ""]
        lines += [None, [*others, percent(row.others.vote_share), *[""] * n_values]]
    columns = [">row", *ids, "label", ">distance", ">votes"]
    columns += [f">{name}" for name in row.feature_names[:n_values]]
    return make_table(columns, lines, title="The training rows that voted, nearest first")


def _column_table(row: ExplainedRow, n_columns: int, largest: float) -> Table:
    signed = {} if row.support is None else {">support": row.support}
    if row.separation is not None and len(row.classes) > 2:
        signed[">lead"] = row.separation
    distance_shares, lines = row.distance_shares, []
    for j, name in enumerate(row.feature_names[:n_columns]):
        relevance, note, value = row.relevances[j], row.value_note(j), value_text(row.values[j])
        bar = "█" * round(BAR_LENGTH * relevance / (largest or 1.0)) or ("▏" if relevance > 0 else "")
        texts = [signed_percent(values[j]) for values in signed.values()]
        cells = [name, f"{value} ({note})" if note else value, f"{bar:<{BAR_LENGTH}}", percent(relevance, 1)]
        cells += [styled(text, {"+": "blue", "−": "dark_orange"}.get(text[0], "")) for text in texts]
        lines.append([*cells, percent(distance_shares[j], 1)])
    return make_table(
        ["column", ">this row", "relevance", ">", *signed, ">share of distance"],
        lines,
        title="What the prediction depends on",
        caption=more(len(row.feature_names) - n_columns, "column"),
    )


def _show_summary(overview: Overview, out: Output, n_columns: int) -> None:
    """Print how many rows are explained, their predictions, and the most relevant columns."""
    n_rows, n_labels = len(overview), overview.n_labels
    predicted = [(label, n) for label, n in overview.class_counts.items() if n]
    counts = sorted(predicted, key=lambda pair: -pair[1])
    shown = [f"{label} ({n:,}, {percent(n / n_rows)})" for label, n in counts[:MOST_CLASSES]]
    others = more(len(counts) - len(shown), "class", plural="more classes")
    out.print(f"{counted(n_rows, 'row')} explained")
    out.print(f"Predictions: {', '.join(shown)}{f' {others}' if others else ''}")
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
        names = [str(row[name]) for name in ("row", *ids, "prediction")]
        reasons = Text(printable(row["reasons"]) or "all columns together", no_wrap=True, overflow="ellipsis")
        lines.append(
            [*names, percent(row["probability"]), str(row["runner_up"]), *(remark for _ in notes), reasons]
        )
    columns = [">row", *ids, "prediction", ">", "next", *notes, "because of"]
    caption = more(len(overview) - MOST_ROWS, "row", ": write all to a file with -o")
    table = make_table(columns, lines, caption=caption)
    table.box, table.pad_edge, table.padding = SIMPLE_HEAD, False, (0, 1, 0, 0)
    for column in table.columns[:-1]:  # the last one gives way to the width of the terminal
        column.no_wrap, column.max_width = True, None if column.header == "note" else LONGEST_NAME
    return table
