"""An explained row as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from lann import _texts
from lann._format import counted, percent, signed_percent, value_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    from lann.explain import ExplainedRow, Explanation

# Columns whose values are shown for the neighbors.
N_VALUES = 3
BAR_LENGTH = 12


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
    console.print(_neighbors(row))
    console.print()
    console.print(_columns(row, n_columns, largest))
    if not row.has_relevant_feature:
        console.print(_texts.NO_RELEVANT_COLUMN)
    if row.typical is not None and row.typical_of_runner_up is not None:
        console.print()
        console.print(_values(row, row.typical, row.typical_of_runner_up, n_columns))
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


def _neighbors(row: ExplainedRow) -> Table:
    from rich.table import Table

    title = "The training rows that voted, nearest first"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("row", justify="right")
    if row.neighbor_ids is not None:
        table.add_column("id")
    table.add_column("label")
    table.add_column("distance", justify="right")
    table.add_column("votes", justify="right")
    n_values = 0 if row.neighbor_values is None else min(N_VALUES, len(row.feature_names))
    for name in row.feature_names[:n_values]:
        table.add_column(name, justify="right")
    ids = [] if row.neighbor_ids is None else [row.id or ""]
    values = [value_text(value) for value in row.values[:n_values]]
    label = "?" if row.true_label is None else str(row.true_label)
    table.add_row("this row", *ids, label, "", "", *values, style="bold", end_section=True)
    for k in range(row.n_listed):
        ids = [] if row.neighbor_ids is None else [str(row.neighbor_ids[k])]
        if row.neighbor_values is not None:
            values = [value_text(value) for value in row.neighbor_values[k, :n_values]]
        table.add_row(
            str(row.neighbors[k]),
            *ids,
            str(row.neighbor_labels[k]),
            f"{row.distances[k]:.3g}",
            percent(row.vote_shares[k]),
            *values,
        )
    if row.others is not None:
        ids = [] if row.neighbor_ids is None else [""]
        votes = percent(row.others.vote_share)
        table.add_section()
        table.add_row(row.others.title, *ids, row.others.label_text, "", votes, *[""] * n_values)
    return table


def _columns(row: ExplainedRow, n_columns: int, largest: float | None) -> Table:
    from rich.table import Table

    n_shown = min(n_columns, len(row.feature_names))
    n_more = len(row.feature_names) - n_shown
    table = Table(
        title="What the prediction depends on",
        title_justify="left",
        title_style="bold",
        caption=f"and {counted(n_more, 'more column')}" if n_more else None,
        caption_justify="left",
    )
    table.add_column("column")
    table.add_column("this row", justify="right")
    table.add_column("relevance", no_wrap=True, min_width=BAR_LENGTH)
    table.add_column("", justify="right")
    signed = []
    if row.support is not None:
        table.add_column("support", justify="right")
        signed.append(row.support)
    if row.separation is not None and len(row.classes) > 2:
        table.add_column("lead", justify="right")
        signed.append(row.separation)
    table.add_column("share of distance", justify="right", max_width=8)
    distance_shares = row.distance_shares
    largest = (row.relevances.max() if largest is None else largest) or 1.0
    for j in range(n_shown):
        relevance = row.relevances[j]
        bar = "█" * round(BAR_LENGTH * relevance / largest) or ("▏" if relevance > 0 else "")
        table.add_row(
            row.feature_names[j],
            f"{value_text(row.values[j])} ({note})"
            if (note := row.value_note(j))
            else value_text(row.values[j]),
            bar,
            percent(relevance, 1),
            *[_signed(values[j]) for values in signed],
            percent(distance_shares[j], 1),
        )
    return table


def _values(
    row: ExplainedRow, typical: NDArray[Any], typical_of_runner_up: NDArray[Any], n_columns: int
) -> Table:
    """Return the values of the most relevant columns beside those of the training rows."""
    from rich.table import Table

    table = Table(title="Values beside those of the training rows", title_justify="left", title_style="bold")
    table.add_column("column")
    for name in (
        "this row",
        "percentile",
        f"typical of {row.prediction}",
        f"typical of {row.runner_up}",
    ):
        table.add_column(name, justify="right")
    for j in range(min(n_columns, len(row.feature_names))):
        table.add_row(
            row.feature_names[j],
            value_text(row.values[j]),
            row.percentile_text(j),
            typical[j],
            typical_of_runner_up[j],
        )
    return table


def _signed(share: float) -> Text:
    from rich.text import Text

    text = signed_percent(share)
    return Text(text, style={"+": "blue", "−": "dark_orange"}.get(text[0], ""))
