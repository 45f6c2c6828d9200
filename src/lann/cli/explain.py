"""`lann explain`: the neighbors and columns behind predictions, and how they are printed."""

from __future__ import annotations

import os
from collections.abc import Iterable
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
    from rich.text import Text

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
EmbeddingPage = Annotated[
    opt.File,
    opt.option(
        "A page of `lann embed`: rows and neighbors in the page of --html link to their points.",
        metavar="FILE",
    ),
]
NumberOfCounterfactuals = Annotated[
    int | None,
    opt.at_least(
        0,
        "Number of rows for which the page of --html says what would change the prediction.",
        default="the first 100, fewer with many columns",
    ),
]
Columns = Annotated[int, opt.at_least(1, "Number of columns to show, the most relevant first.")]
OutputFile = Annotated[
    opt.File, opt.output_option(f"Write a table with a line per neighbor and column: {opt.TABLE_FORMATS}")
]


def explain(
    model: opt.ModelFile,
    data: opt.RowsFile,
    *,
    rows: opt.RowOptions,
    html: Html = None,
    embedding: EmbeddingPage = None,
    counterfactuals: NumberOfCounterfactuals = None,
    frozen: opt.Frozen = None,
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
    from lann.cli.predict import expectation
    from lann.tables import TableModel

    of_page = {"--embedding": embedding, "--counterfactuals": counterfactuals, "--frozen": frozen}
    _check_page(html, embedding, of_page)
    out = Output(json, table=output, page=html, guard_formulas=spreadsheet_safe)
    name = opt.table_name(data)
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
        blocks = fitted.explain_blocks(
            reading.frame, chosen, block_size=MOST_REPORTED_ROWS, id=id, reject=reject, name=name
        )
        first, overview, table, documents = _explained(
            blocks, output is not None, json, step("Explaining"), len(chosen)
        )
    expected = [] if reject is None else [expectation(reject)]
    if html is not None:
        notes = [*out.notes, *[f"{text}." for text in expected]]
        _save_page(html, fitted, first, of_page, columns, notes, (model, data, reading.sha256))
        out.wrote(html, f": {counted(len(first), 'row')} explained; open it in a browser")
    elif len(overview) <= MOST_IN_FULL:
        _show_rows(first, out, columns)
    elif output is not None:
        _show_summary(overview, out, columns)
    else:
        out.print(_overview_table(overview))
        out.print(f"One row in full: --row {chosen[0]}; all in a page: --html report.html", style="dim")
    if output is not None:
        out.write_table(table, output)
    if html is None:
        out.print(*expected, style="dim")
    out.finish(lambda: {"model": model, "table": name, **_counts(overview), "rows": documents})


def _explained(
    blocks: Iterable[Explanation], is_long: bool, is_json: bool, report: opt.Report, n_rows: int
) -> tuple[Explanation, Overview, Any, list[dict[str, Any]]]:
    """Return the first block of explained rows, the overview of all, a table and documents if needed."""
    import pandas as pd

    from lann.explain import Overview

    first, overviews, tables, documents, n_done = None, [], [], [], 0
    for block in blocks:
        first = block if first is None else first
        overviews.append(block.overview())
        tables += [block.to_long_frame()] * is_long
        documents += explained_documents(block) if is_json else []
        n_done += len(block)
        report(n_done, n_rows)
    assert first is not None
    table = pd.concat(tables, ignore_index=True) if is_long else None
    return first, Overview.joined(overviews), table, documents


def _counts(overview: Overview) -> dict[str, Any]:
    names = ("accuracy", "n_doubtful", "n_far", "decision_counts", "class_counts")
    counts = {name: getattr(overview, name) for name in names}
    return {"n_rows": len(overview), **counts, "mean_relevances": dict(overview.relevant_features)}


def explained_documents(explanation: Explanation) -> list[dict[str, Any]]:
    """Return the explained rows as dictionaries, each with its sentence."""
    sentences = explanation.in_words()
    return [row | {"sentence": text} for row, text in zip(explanation.to_dict(), sentences, strict=True)]


def _check_page(html: Path | None, embedding: Path | None, of_page: dict[str, Any]) -> None:
    """Raise ValueError if options of a report are given without it, or name no embedding page."""
    for option, value in of_page.items():
        if html is None and value:
            raise ValueError(f"{option} is about the page of --html; give --html report.html, too.")
    if embedding is not None:
        if not embedding.is_file():
            raise ValueError(f"There is no file {embedding}; write it by `lann embed -o {embedding}`.")
        check_page_path(embedding)


def _save_page(
    html: Path,
    fitted: TableModel,
    explanation: Explanation,
    of_page: dict[str, Any],
    n_columns: int,
    notes: list[str],
    source: tuple[Path, Path, str | None],
) -> None:
    """Write the report; the source is the model, the table and the hash of its content."""
    from lann.report import SourceFile, save_report

    embedding, n_changed, frozen = of_page.values()
    model, data, sha256 = source
    files = [SourceFile.from_path(model)]
    if sha256 is not None:
        files.append(SourceFile(opt.table_name(data), sha256))
    if embedding is not None:  # relative to the folder of the page
        embedding = Path(os.path.relpath(embedding.resolve(), html.resolve().parent)).as_posix()
    changes: Any = "auto" if n_changed is None else n_changed
    if frozen:
        changed = explanation[: CHANGED_ROWS if n_changed is None else n_changed]
        changes = fitted.counterfactuals_of_explanation(changed, frozen=frozen) if len(changed) else 0
    save_report(
        html,
        fitted,
        explanation,
        title=f"{model.name} on {opt.table_name(data)}",
        n_features=n_columns,
        notes=notes,
        counterfactuals=changes,
        embedding=embedding,
        files=files,
    )


def _show_rows(explanation: Explanation, out: Output, n_columns: int) -> None:
    """Print explained rows; several have a heading each, and bars of the same scale."""
    largest = float(explanation.relevances.max(initial=0.0))
    for position, row in enumerate(explanation.rows()):
        if len(explanation) > 1:
            out.print(*[""] * (position > 0))
            out.print(row.title, style="bold")
        show_row(row, out, n_columns, largest)


def show_row(row: ExplainedRow, out: Output, n_columns: int, largest: float) -> None:
    """Print an explained row: a summary, the neighbors, and the most relevant columns.

    The longest bar is that of the relevance `largest`.
    """
    out.print(_row_summary(row), row.sentence, "", soft_wrap=False)
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
        typical, next_typical = row.typical, row.typical_of_runner_up
        lines = [
            [name, value_text(row.values[j]), row.percentile_text(j), typical[j], next_typical[j]]
            for j, name in enumerate(row.feature_names[:n_columns])
        ]
        columns = [f">typical of {row.prediction}", f">typical of {row.runner_up}"]
        columns = ["column", ">this row", ">percentile", *columns]
        out.print("", make_table(columns, lines, title="Values beside those of the training rows"))
    out.hint(*how_to_read)


def _row_summary(row: ExplainedRow) -> str:
    """Return the prediction and the runner-up with their votes."""
    k, n_same = len(row.neighbor_labels), int(np.sum(row.neighbor_labels == row.prediction))
    share = f"all {k}" if n_same == k else f"{n_same} of the {k}"
    if k == 1:
        share = "the"
    rows, are = ("row" if k == 1 else "rows"), ("is" if n_same == 1 else "are")
    truth = ""
    if row.true_label is not None:
        verdict = "correct" if row.true_label == row.prediction else "wrong"
        truth = f" The prediction is {verdict}: the label is {row.true_label}."
    return (
        f"Predicted {row.prediction}, with probability {percent(row.probability)}: {share} nearest training "
        f"{rows} {are} {row.prediction}. Next is {row.runner_up}, with {percent(row.runner_up_probability)}."
        f"{truth}"
    )


def _neighbor_table(row: ExplainedRow) -> Table:
    n_values = 0 if row.neighbor_values is None else min(N_VALUES, len(row.feature_names))
    ids = ["id"] * (row.neighbor_ids is not None)
    label = "?" if row.true_label is None else str(row.true_label)
    values = [value_text(value) for value in row.values[:n_values]]
    first = ["this row", *([row.id or ""] * len(ids)), label, "", "", *values]
    lines: list[list[str | Text] | None] = [[styled(cell, "bold") for cell in first], None]
    for k in range(row.n_listed):
        if row.neighbor_values is not None:
            values = [value_text(value) for value in row.neighbor_values[k, :n_values]]
        names = [str(row.neighbors[k])]
        if row.neighbor_ids is not None:
            names.append(str(row.neighbor_ids[k]))
        distance, votes = f"{row.distances[k]:.3g}", percent(row.vote_shares[k])
        lines.append([*names, str(row.neighbor_labels[k]), distance, votes, *values])
    if row.others is not None:
        votes = percent(row.others.vote_share)
        names = [row.others.title, *[""] * len(ids)]
        lines += [None, [*names, row.others.label_text, "", votes, *[""] * n_values]]
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
        lines.append(
            [
                name,
                f"{value} ({note})" if note else value,
                f"{bar:<{BAR_LENGTH}}",
                percent(relevance, 1),
                *[styled(text, {"+": "blue", "−": "dark_orange"}.get(text[0], "")) for text in texts],
                percent(distance_shares[j], 1),
            ]
        )
    return make_table(
        ["column", ">this row", "relevance", ">", *signed, ">share of distance"],
        lines,
        title="What the prediction depends on",
        caption=more(len(row.feature_names) - n_columns, "column"),
    )


def _show_summary(overview: Overview, out: Output, n_columns: int) -> None:
    """Print how many rows are explained, their predictions, and the most relevant columns."""
    n_rows, n_labels, marks = len(overview), overview.n_labels, overview.marks
    predicted = [(label, n) for label, n in overview.class_counts.items() if n]
    counts = sorted(predicted, key=lambda pair: -pair[1])
    shown = [f"{label} ({n:,}, {percent(n / n_rows)})" for label, n in counts[:MOST_CLASSES]]
    others = more(len(counts) - len(shown), "class", plural="more classes")
    out.print(f"{counted(n_rows, 'row')} explained")
    out.print(f"Predictions: {', '.join(shown)}{f' {others}' if others else ''}")
    if n_labels:
        n_correct = n_labels - int(marks["mistake"].sum())
        ending = "" if n_labels == n_rows else " with a label"
        rows = f"{n_correct:,} of {counted(n_labels, 'row')}{ending}"
        out.print(f"Accuracy: {percent(n_correct / n_labels, 1)} ({rows})")
    for mark, are_marked in marks.items():
        if (mark == "mistake" and not n_labels) or (mark == "far" and overview.n_far is None):
            continue
        marked = overview.rows["row"][are_marked].tolist()
        text = f"{MARKS[mark]}: {counted(len(marked), 'row')}"
        if marked:
            ending = ", …" if len(marked) > MOST_NAMED else ""
            text += (
                f", {percent(len(marked) / n_rows, 1)}: {', '.join(map(str, marked[:MOST_NAMED]))}{ending}"
            )
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

    rows, marks = overview.rows, overview.marks
    decisions = rows["decision"] if "decision" in rows else [None] * len(rows)
    remarks = []
    for i, decision in enumerate(decisions):
        flags = ["wrong" if mark == "mistake" else mark for mark, marked in marks.items() if marked[i]]
        remarks.append(", ".join(f"rejected: {flag}" if flag == decision else flag for flag in flags))
    ids, notes = ["id"] * ("id" in rows), ["note"] * any(remarks)
    lines = []
    for row, remark in zip(rows.head(MOST_ROWS).to_dict("records"), remarks, strict=False):
        reasons = printable(row["reasons"]) or "all columns together"
        lines.append(
            [
                *[str(row[name]) for name in ("row", *ids, "prediction")],
                percent(row["probability"]),
                str(row["runner_up"]),
                *[remark for _ in notes],
                Text(reasons, no_wrap=True, overflow="ellipsis"),
            ]
        )
    caption = more(len(overview) - MOST_ROWS, "row", ": write all to a file with -o")
    columns = [">row", *ids, "prediction", ">", "next", *notes, "because of"]
    table = make_table(columns, lines, caption=caption)
    table.box, table.pad_edge, table.padding = SIMPLE_HEAD, False, (0, 1, 0, 0)
    for column in table.columns[:-1]:  # the last one gives way to the width of the terminal
        column.no_wrap = True
        column.max_width = None if column.header == "note" else LONGEST_NAME
    return table
