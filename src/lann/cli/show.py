"""An account of a prediction, as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.account import Account, value_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

SHOWN_VALUES = 3
BAR = 24


def show(account: Account, console: Console, *, shown_columns: int) -> None:
    console.print(_neighbours(account))
    console.print()
    console.print(_relevances(account, shown_columns))
    console.print()
    console.print(summary(account))


def summary(account: Account) -> str:
    """What it means, in one sentence."""
    same = int(np.sum(account.labels == account.prediction))
    shown = account.columns[: min(2, len(account.columns))]
    part = account.relevances[: len(shown)].sum()
    verb = "make" if len(shown) > 1 else "makes"
    near = f"all {same}" if same == len(account.labels) else f"{same} of the {len(account.labels)}"
    be = "is" if same == 1 else "are"
    return (
        f"Predicted {account.prediction}, with {account.share:.0%} of the votes: {near} nearest training "
        f"rows {be} {account.prediction}, and {' and '.join(shown)} {verb} up {part:.0%} of how they measure."
    )


def _neighbours(account: Account) -> Table:
    from rich.table import Table

    table = Table(title="The nearest training rows", title_justify="left", title_style="bold")
    table.add_column("row", justify="right")
    if account.ids is not None:
        table.add_column("id")
    table.add_column("label")
    table.add_column("distance", justify="right")
    table.add_column("votes", justify="right")
    shown = range(min(SHOWN_VALUES, len(account.columns))) if account.values is not None else range(0)
    for place in shown:
        table.add_column(account.columns[place], justify="right")
    ids = [] if account.ids is None else [""]
    asked = [value_text(account.asked[place]) for place in shown]
    table.add_row("asked", *ids, "?", "", "", *asked, style="bold", end_section=True)
    for k in range(len(account.rows)):
        ids = [] if account.ids is None else [str(account.ids[k])]
        values = [] if account.values is None else [value_text(account.values[k, place]) for place in shown]
        table.add_row(
            str(account.rows[k]),
            *ids,
            str(account.labels[k]),
            f"{account.distances[k]:.3g}",
            f"{account.vote_shares[k]:.0%}",
            *values,
        )
    return table


def _relevances(account: Account, shown_columns: int) -> Table:
    from rich.table import Table

    shown = min(shown_columns, len(account.columns))
    left_out = len(account.columns) - shown
    table = Table(
        title="What counts for these rows",
        title_justify="left",
        title_style="bold",
        caption=f"and {left_out} more columns" if left_out else None,
        caption_justify="left",
    )
    table.add_column("column")
    table.add_column("relevance")
    table.add_column("", justify="right")
    table.add_column("of the distance", justify="right")
    top = account.relevances.max() or 1.0
    for place in range(shown):
        relevance = account.relevances[place]
        bar = "█" * max(1, round(BAR * relevance / top)) if relevance > 0 else ""
        table.add_row(account.columns[place], bar, f"{relevance:.1%}", f"{account.distance_parts[place]:.1%}")
    return table
