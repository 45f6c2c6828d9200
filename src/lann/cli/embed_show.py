"""An embedding in a table on the terminal: how well it keeps the classes apart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.account import percent
from lann.cli.consoles import note
from lann.cli.embed_summary import FLATTERS, HOW

if TYPE_CHECKING:
    from rich.console import Console

    from lann.cli.embed_summary import ClassLine, Score, Summary
    from lann.cli.embedded import Embedded

# Of more classes than this, those that are hardest to tell apart are shown.
MOST_CLASSES = 20
MOST_PAIRS = 3


def describe(embedded: Embedded, console: Console) -> None:
    placed = f"; {embedded.n_new} rows placed among them" if embedded.n_new else ""
    console.print(f"{embedded.n_train} training rows embedded{placed}", soft_wrap=True)


def show_summary(embedded: Embedded, summary: Summary, console: Console, *, advice: str) -> None:
    """`advice` is how to place unseen rows, for where there are none."""
    from rich.table import Table

    unseen = summary.whole.unseen is not None
    lines, n_more = _shown(summary.lines[:-1], unseen=unseen)
    table = Table(
        title="Share of the rows whose class is recognized; training rows by leave-one-out",
        title_justify="left", title_style="bold", caption_justify="left",
        caption=f"and {n_more} more classes, which are easier" if n_more else None,
    )  # fmt: skip
    table.add_column("class")
    for kind in ("training rows", "unseen rows")[: 1 + unseen]:
        for name in (kind, "by vote", "in picture"):
            table.add_column(name, justify="right")
    for place, line in enumerate([*lines, summary.whole]):
        name = "all" if line.place is None else embedded.classes[line.place]
        scores = [line.training, *([line.unseen] if line.unseen is not None else [])]
        cells = [cell for score in scores for cell in _cells(score)]
        table.add_row(
            name, *cells, end_section=place == len(lines) - 1, style="bold" if line.place is None else None
        )
    console.print(table)
    if summary.pairs:
        console.print(f"Mixed most in the picture: {pairs_text(embedded, summary)}", soft_wrap=True)
    console.print(HOW, style="dim")
    if not unseen:
        note(f"{FLATTERS} {advice}", console)


def pairs_text(embedded: Embedded, summary: Summary) -> str:
    """The classes that mix, and how much."""
    kind = "unseen rows" if summary.pairs_unseen else "training rows"
    parts = [
        f"{embedded.classes[pair.one]} and {embedded.classes[pair.other]} ({pair.n_mistaken} of their "
        f"{pair.n_points} {kind}, {percent(pair.n_mistaken / pair.n_points)})"
        for pair in summary.pairs[:MOST_PAIRS]
    ]
    return "; ".join(parts)


def _shown(lines: list[ClassLine], *, unseen: bool) -> tuple[list[ClassLine], int]:
    """The classes to show, in their order, and how many more there are."""
    if len(lines) <= MOST_CLASSES:
        return lines, 0
    scores = [(line.unseen if unseen and line.unseen else line.training).in_picture for line in lines]
    hardest = np.sort(np.argsort(scores, kind="stable")[:MOST_CLASSES])  # NaN, without rows, comes last
    return [lines[place] for place in hardest], len(lines) - MOST_CLASSES


def _cells(score: Score) -> list[str]:
    shares = (score.by_vote, score.in_picture)
    return [str(score.n), *("" if np.isnan(share) else f"{share:.3f}" for share in shares)]
