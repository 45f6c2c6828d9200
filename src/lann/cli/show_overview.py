"""Many explained rows on the terminal: a line for each, or counts over all."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lann._format import counted, percent, printable

if TYPE_CHECKING:
    import pandas as pd
    from rich.console import Console
    from rich.table import Table

    from lann.explain import Overview

MOST_ROWS = 100
MOST_CLASSES = 8
LONGEST_NAME = 20
# Rows that are named where some are counted.
MOST_NAMED = 5


def show_overview(overview: Overview, console: Console) -> None:
    """Print a line for each explained row."""
    console.print(_row_table(overview))


def show_summary(overview: Overview, console: Console, *, n_columns: int) -> None:
    """Print how many rows are explained, their predictions, and the most relevant columns."""
    rows, n_rows = overview.rows, len(overview)
    predicted = [(label, n) for label, n in overview.class_counts.items() if n]
    counts = sorted(predicted, key=lambda pair: -pair[1])
    shown = [f"{label} ({n:,}, {percent(n / n_rows)})" for label, n in counts[:MOST_CLASSES]]
    n_more = len(counts) - len(shown)
    more = f" and {counted(n_more, 'more class', 'more classes')}" if n_more else ""
    console.print(f"{counted(n_rows, 'row')} explained", soft_wrap=True)
    console.print(f"Predictions: {', '.join(shown)}{more}", soft_wrap=True)
    marks = {"Doubtful (the first two classes differ by less than 20% of the votes)": rows["doubtful"]}
    if overview.n_labels:
        n_correct = overview.n_labels - int(overview.mistakes.sum())
        share, labeled = percent(n_correct / overview.n_labels, 1), counted(overview.n_labels, "row")
        more = "" if overview.n_labels == n_rows else " with a label"
        console.print(f"Accuracy: {share} ({n_correct:,} of {labeled}{more})", soft_wrap=True)
        marks = {"Mistakes": overview.mistakes} | marks
    if "far" in rows:
        marks["Far (nothing similar is among the training rows)"] = rows["far"]
    if "decision" in rows:
        marks = {"Mistakes": marks["Mistakes"]} if "Mistakes" in marks else {}
        marks["Rejected as ambiguous"] = rows["decision"] == "ambiguous"
        marks["Rejected as far"] = rows["decision"] == "far"
    for title, is_marked in marks.items():
        _count(rows["row"], np.asarray(is_marked, bool), title, console)
    console.print("Mean relevance by column", style="bold")
    console.print(_relevance_table(overview, n_columns))


def _count(rows: pd.Series, is_marked: NDArray[np.bool_], title: str, console: Console) -> None:
    """Print how many rows are marked, and which are the first."""
    marked = rows[is_marked].tolist()
    text = f"{title}: {counted(len(marked), 'row')}"
    if marked:
        more = ", …" if len(marked) > MOST_NAMED else ""
        text += f", {percent(len(marked) / len(rows), 1)}: {', '.join(map(str, marked[:MOST_NAMED]))}{more}"
    console.print(text, soft_wrap=True)


def _relevance_table(overview: Overview, n_columns: int) -> Table:
    from rich.table import Table

    features = overview.relevant_features
    n_more = len(features) - n_columns
    table = Table(
        caption=f"and {counted(n_more, 'more column')}" if n_more > 0 else None,
        caption_justify="left",
    )
    table.add_column("column", overflow="fold")
    table.add_column("relevance", justify="right")
    for name, relevance in features[:n_columns]:
        table.add_row(name, percent(relevance, 1))
    return table


def _row_table(overview: Overview) -> Table:
    """Return a table with one line for each row, cut where the terminal is too narrow."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table
    from rich.text import Text

    rows, n_more = overview.rows, len(overview) - MOST_ROWS
    table = Table(
        box=SIMPLE_HEAD,
        padding=(0, 1, 0, 0),
        pad_edge=False,
        caption=f"and {counted(n_more, 'more row')}: write all to a file with -o" if n_more > 0 else None,
        caption_justify="left",
    )
    has_ids, remarks = "id" in rows, _remarks(overview)
    table.add_column("row", justify="right", no_wrap=True)
    if has_ids:
        table.add_column("id", no_wrap=True, max_width=LONGEST_NAME)
    table.add_column("prediction", no_wrap=True, max_width=LONGEST_NAME)
    table.add_column("", justify="right", no_wrap=True)
    table.add_column("next", no_wrap=True, max_width=LONGEST_NAME)
    if any(remarks):
        table.add_column("note", no_wrap=True)
    table.add_column("because of")  # the only column that gives way to the width of the terminal
    for row, remark in zip(rows.head(MOST_ROWS).to_dict("records"), remarks, strict=False):
        table.add_row(
            str(row["row"]),
            *([str(row["id"])] if has_ids else []),
            str(row["prediction"]),
            percent(row["probability"]),
            str(row["runner_up"]),
            *([remark] if any(remarks) else []),
            Text(printable(row["reasons"]) or "all columns together", no_wrap=True, overflow="ellipsis"),
        )
    return table


def _remarks(overview: Overview) -> list[str]:
    """Return what there is to say about each row, in a few words."""
    rows = overview.rows
    marks = {"wrong": overview.mistakes, "doubtful": rows["doubtful"]}
    if "far" in rows:
        marks["far"] = rows["far"]
    if "decision" in rows:
        marks = {"wrong": overview.mistakes}
        marks |= {f"rejected: {name}": rows["decision"] == name for name in ("ambiguous", "far")}
    return [
        ", ".join(word for word, is_marked in zip(marks, marked, strict=True) if is_marked)
        for marked in zip(*marks.values(), strict=True)
    ]
