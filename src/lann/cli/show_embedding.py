"""The accuracies of an embedding as a table on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann import _texts
from lann._format import counted, percent

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from lann.tables import Accuracy, ClassAccuracy, EmbeddedTable, EmbeddingSummary

# With more classes than this, the ones with the lowest accuracies are shown.
MOST_CLASSES = 20
MOST_PAIRS = 3


def show_embedding(embedded: EmbeddedTable, summary: EmbeddingSummary, console: Console) -> None:
    """Print the size of an embedding, the accuracies by class, and the classes that are confused."""
    new = f" and {counted(embedded.n_new, 'new row')}" if embedded.n_new else ""
    console.print(f"{counted(embedded.n_train, 'training row')}{new} embedded", soft_wrap=True)
    console.print(_accuracies(embedded, summary))
    if summary.pairs:
        pairs = _confused_pairs(embedded, summary)
        console.print(f"Confused most often in the embedding: {pairs}", soft_wrap=True)
    console.print(_texts.ACCURACIES, style="dim")


def _accuracies(embedded: EmbeddedTable, summary: EmbeddingSummary) -> Table:
    from rich.table import Table

    shown = _lowest(summary)
    n_more = len(summary.by_class) - len(shown)
    table = Table(
        title="Share of the rows whose class is predicted correctly",
        title_justify="left",
        title_style="bold",
        caption=f"and {n_more} more classes with higher shares" if n_more else None,
        caption_justify="left",
    )
    table.add_column("class", overflow="fold")
    for kind in ("training rows", "held-out rows")[: 1 + summary.has_held_out]:
        for name in (kind, "by vote", "in embedding"):
            table.add_column(name, justify="right")
    for line in shown:
        assert line.class_index is not None
        table.add_row(embedded.classes[line.class_index], *_cells(line), end_section=line is shown[-1])
    table.add_row("all", *_cells(summary.overall), style="bold")
    return table


def _confused_pairs(embedded: EmbeddedTable, summary: EmbeddingSummary) -> str:
    kind = "held-out rows" if summary.has_held_out else "training rows"
    parts = [
        f"{embedded.classes[pair.first]} and {embedded.classes[pair.second]} ({pair.n_confused} of their "
        f"{pair.n_rows} {kind}, {percent(pair.n_confused / pair.n_rows)})"
        for pair in summary.pairs[:MOST_PAIRS]
    ]
    return "; ".join(parts)


def _lowest(summary: EmbeddingSummary) -> list[ClassAccuracy]:
    """Return the classes with the lowest accuracies, in the order of the classes."""
    accuracies = [(line.held_out or line.training).in_embedding for line in summary.by_class]
    lowest = np.sort(np.argsort(accuracies, kind="stable")[:MOST_CLASSES])  # NaN, without rows, comes last
    return [summary.by_class[index] for index in lowest]


def _cells(line: ClassAccuracy) -> list[str]:
    def cells(accuracy: Accuracy) -> list[str]:
        shares = (accuracy.by_vote, accuracy.in_embedding)
        return [str(accuracy.n_rows), *("" if np.isnan(share) else f"{share:.3f}" for share in shares)]

    return cells(line.training) + ([] if line.held_out is None else cells(line.held_out))
