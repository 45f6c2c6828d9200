"""Explained rows on the terminal: in full, with a line for each, or as counts over all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann._markup import texts as _texts
from lann._support.format import counted, percent, printable, signed_percent, value_text
from lann.cli.output import make_table, more, styled

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from lann.explain import ExplainedRow, Explanation, Overview

# Columns whose values are shown for the neighbors.
N_VALUES = 3
BAR_LENGTH = 12
# Of an overview: rows, classes, the width of names, and rows that are named where some are counted.
MOST_ROWS, MOST_CLASSES, LONGEST_NAME, MOST_NAMED = 100, 8, 20, 5


def show_rows(explanation: Explanation, console: Console, *, n_columns: int) -> None:
    """Print explained rows; several have a heading each, and bars of the same scale."""
    largest = float(explanation.relevances.max(initial=0.0))
    for position, row in enumerate(explanation.rows()):
        if len(explanation) > 1:
            if position:
                console.print()
            console.print(row.title, style="bold")
        show_row(row, console, n_columns=n_columns, largest=largest)


def show_row(row: ExplainedRow, console: Console, *, n_columns: int, largest: float | None = None) -> None:
    """Print an explained row: a summary, the neighbors, and the most relevant columns.

    The longest bar is that of the relevance `largest`; None is the largest one of the row.
    """
    console.print(_summary(row))
    console.print(row.sentence)
    console.print()
    console.print(_neighbor_table(row))
    console.print()
    console.print(_column_table(row, n_columns, row.relevances.max() if largest is None else largest))
    if not row.has_relevant_feature:
        console.print(_texts.NO_RELEVANT_COLUMN)
    if row.typical is not None and row.typical_of_runner_up is not None:
        typical, next_typical = row.typical, row.typical_of_runner_up
        lines = [
            [name, value_text(row.values[j]), row.percentile_text(j), typical[j], next_typical[j]]
            for j, name in enumerate(row.feature_names[:n_columns])
        ]
        columns = [
            ">this row",
            ">percentile",
            f">typical of {row.prediction}",
            f">typical of {row.runner_up}",
        ]
        console.print()
        title = "Values beside those of the training rows"
        console.print(make_table(["column", *columns], lines, title=title))
    console.print(*_how_to_read(row), sep="\n", style="dim")


def _summary(row: ExplainedRow) -> str:
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


def _how_to_read(row: ExplainedRow) -> list[str]:
    lines = [f"Relevance: {_texts.RELEVANCE[0].lower()}{_texts.RELEVANCE[1:]}"]
    if row.support is not None and row.base_values is not None:
        base = percent(float(row.base_values[row.class_index(row.prediction)]))
        lines.append(
            f"Support: what the value adds to the probability of {row.prediction}, from {base} at training "
            f"rows of other classes to {percent(row.probability)} here; all columns together add up to it."
        )
    if row.separation is not None and len(row.classes) > 2:
        lines.append(f"Lead: how much of the lead over {row.runner_up} depends on the value.")
    if row.typical is not None:
        lines.append(_texts.TYPICAL)
    return lines


def _neighbor_table(row: ExplainedRow) -> Table:
    n_values = 0 if row.neighbor_values is None else min(N_VALUES, len(row.feature_names))
    has_ids = row.neighbor_ids is not None
    values = [value_text(value) for value in row.values[:n_values]]
    label = "?" if row.true_label is None else str(row.true_label)
    first = ["this row", *([row.id or ""] if has_ids else []), label, "", "", *values]
    lines: list[list[str | Text] | None] = [[styled(cell, "bold") for cell in first], None]
    for k in range(row.n_listed):
        if row.neighbor_values is not None:
            values = [value_text(value) for value in row.neighbor_values[k, :n_values]]
        lines.append(
            [
                str(row.neighbors[k]),
                *([] if row.neighbor_ids is None else [str(row.neighbor_ids[k])]),
                str(row.neighbor_labels[k]),
                f"{row.distances[k]:.3g}",
                percent(row.vote_shares[k]),
                *values,
            ]
        )
    if row.others is not None:
        ids, votes = [""] * has_ids, percent(row.others.vote_share)
        lines += [None, [row.others.title, *ids, row.others.label_text, "", votes, *[""] * n_values]]
    columns = [">row", *["id"] * has_ids, "label", ">distance", ">votes"]
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
        lines.append(
            [
                name,
                f"{value} ({note})" if note else value,
                f"{bar:<{BAR_LENGTH}}",
                percent(relevance, 1),
                *[_signed(values[j]) for values in signed.values()],
                percent(distance_shares[j], 1),
            ]
        )
    return make_table(
        ["column", ">this row", "relevance", ">", *signed, ">share of distance"],
        lines,
        title="What the prediction depends on",
        caption=more(len(row.feature_names) - n_columns, "column"),
    )


def _signed(share: float) -> Text:
    text = signed_percent(share)
    return styled(text, {"+": "blue", "−": "dark_orange"}.get(text[0], ""))


def show_summary(overview: Overview, console: Console, *, n_columns: int) -> None:
    """Print how many rows are explained, their predictions, and the most relevant columns."""
    rows, n_rows = overview.rows, len(overview)
    predicted = [(label, n) for label, n in overview.class_counts.items() if n]
    counts = sorted(predicted, key=lambda pair: -pair[1])
    shown = [f"{label} ({n:,}, {percent(n / n_rows)})" for label, n in counts[:MOST_CLASSES]]
    others = more(len(counts) - len(shown), "class", plural="more classes")
    console.print(f"{counted(n_rows, 'row')} explained", soft_wrap=True)
    console.print(f"Predictions: {', '.join(shown)}{f' {others}' if others else ''}", soft_wrap=True)
    marks = {"Doubtful (the first two classes differ by less than 20% of the votes)": rows["doubtful"]}
    if "far" in rows:
        marks["Far (nothing similar is among the training rows)"] = rows["far"]
    if "decision" in rows:
        marks = {f"Rejected as {name}": rows["decision"] == name for name in ("ambiguous", "far")}
    if overview.n_labels:
        n_correct = overview.n_labels - int(overview.mistakes.sum())
        share, labeled = percent(n_correct / overview.n_labels, 1), counted(overview.n_labels, "row")
        ending = "" if overview.n_labels == n_rows else " with a label"
        console.print(f"Accuracy: {share} ({n_correct:,} of {labeled}{ending})", soft_wrap=True)
        marks = {"Mistakes": overview.mistakes} | marks
    for title, is_marked in marks.items():
        marked = rows["row"][np.asarray(is_marked, bool)].tolist()
        text = f"{title}: {counted(len(marked), 'row')}"
        if marked:
            ending = ", …" if len(marked) > MOST_NAMED else ""
            named = ", ".join(map(str, marked[:MOST_NAMED]))
            text += f", {percent(len(marked) / n_rows, 1)}: {named}{ending}"
        console.print(text, soft_wrap=True)
    console.print("Mean relevance by column", style="bold")
    features = overview.relevant_features
    lines = [[name, percent(relevance, 1)] for name, relevance in features[:n_columns]]
    caption = more(len(features) - n_columns, "column")
    console.print(make_table(["column", ">relevance"], lines, caption=caption))


def overview_table(overview: Overview) -> Table:
    """Return a table with one line for each row, cut where the terminal is too narrow."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows, remarks = overview.rows, _remarks(overview)
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        caption=more(len(overview) - MOST_ROWS, "row", ": write all to a file with -o"),
        caption_justify="left",
    )
    has_ids, has_remarks = "id" in rows, any(remarks)
    for name in ("row", *["id"] * has_ids, "prediction", "", "next", *["note"] * has_remarks):
        is_number = name in ("row", "")
        width = None if is_number or name == "note" else LONGEST_NAME
        table.add_column(name, justify="right" if is_number else "left", no_wrap=True, max_width=width)
    table.add_column("because of")  # the only column that gives way to the width of the terminal
    for row, remark in zip(rows.head(MOST_ROWS).to_dict("records"), remarks, strict=False):
        table.add_row(
            str(row["row"]),
            *([str(row["id"])] if has_ids else []),
            str(row["prediction"]),
            percent(row["probability"]),
            str(row["runner_up"]),
            *[remark] * has_remarks,
            Text(printable(row["reasons"]) or "all columns together", no_wrap=True, overflow="ellipsis"),
        )
    return table


def _remarks(overview: Overview) -> list[str]:
    """Return what there is to say about each row, in a few words."""
    rows = overview.rows
    marks = {"wrong": overview.mistakes}
    if "decision" in rows:
        marks |= {f"rejected: {name}": rows["decision"] == name for name in ("ambiguous", "far")}
    else:
        marks |= {name: rows[name] for name in ("doubtful", "far") if name in rows}
    return [
        ", ".join(word for word, is_marked in zip(marks, marked, strict=True) if is_marked)
        for marked in zip(*marks.values(), strict=True)
    ]
