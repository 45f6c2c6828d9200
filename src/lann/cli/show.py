"""An account of a prediction, as tables on the terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.account import Account, percent, value_text

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

SHOWN_VALUES = 3
BAR = 12
LITTLE = 0.01
NO_COLUMN = "No column decides alone: another value in any one of them changes less than 1% of the vote."


def show(account: Account, console: Console, *, shown_columns: int) -> None:
    console.print(summary(account))
    console.print()
    console.print(_neighbors(account))
    console.print()
    console.print(_columns(account, shown_columns))
    if hangs_on_no_column(account):
        console.print(NO_COLUMN)
    console.print(reading(account), style="dim")


def summary(account: Account) -> str:
    """What it means, in a few words."""
    same = int(np.sum(account.labels == account.prediction))
    k = len(account.labels)
    near = f"all {k}" if same == k else f"{same} of the {k}"
    if k == 1:
        near = "the"
    be = "is" if same == 1 else "are"
    rows = "row" if k == 1 else "rows"
    return (
        f"Predicted {account.prediction}, with {percent(account.share)} of the votes: {near} nearest "
        f"training {rows} {be} {account.prediction}. Next is {account.runner_up}, with "
        f"{percent(account.votes_of(account.runner_up))}.\n{account.words}"
    )


def hangs_on_no_column(account: Account) -> bool:
    return bool(account.relevances.max() < LITTLE)


def reading(account: Account) -> str:
    """How to read the table of columns."""
    lines = ["Relevance: the share of the vote that changes when this column's value is another's."]
    if account.support is not None:
        lines.append(
            f"Speaks: + the value brings votes for {account.prediction} that other values would not; "
            "− it costs votes."
        )
    if account.separation is not None and len(account.classes) > 2:
        lines.append(f"Lead: how much of the lead over {account.runner_up} hangs on the value.")
    return "\n".join(lines)


def _neighbors(account: Account) -> Table:
    from rich.table import Table

    title = "The training rows that voted, nearest first"
    table = Table(title=title, title_justify="left", title_style="bold")
    table.add_column("row", justify="right")
    if account.ids is not None:
        table.add_column("id")
    table.add_column("label")
    table.add_column("distance", justify="right")
    table.add_column("votes", justify="right")
    shown = range(min(SHOWN_VALUES, len(account.columns))) if account.values is not None else range(0)
    for place in shown:
        table.add_column(account.columns[place], justify="right")
    ids = [] if account.ids is None else [account.id or ""]
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
            percent(account.vote_shares[k]),
            *values,
        )
    return table


def _columns(account: Account, shown_columns: int) -> Table:
    from rich.table import Table

    shown = min(shown_columns, len(account.columns))
    left_out = len(account.columns) - shown
    table = Table(
        title="What the prediction hangs on",
        title_justify="left",
        title_style="bold",
        caption=f"and {left_out} more {'column' if left_out == 1 else 'columns'}" if left_out else None,
        caption_justify="left",
    )
    table.add_column("column")
    table.add_column("this row", justify="right")
    table.add_column("relevance", no_wrap=True, min_width=BAR)
    table.add_column("", justify="right")
    signed = []
    if account.support is not None:
        table.add_column("speaks", justify="right")
        signed.append(account.support)
    if account.separation is not None and len(account.classes) > 2:
        table.add_column("lead", justify="right")
        signed.append(account.separation)
    table.add_column("of the distance", justify="right")
    top = account.relevances.max() or 1.0
    for place in range(shown):
        relevance = account.relevances[place]
        bar = "█" * round(BAR * relevance / top) or ("▏" if relevance > 0 else "")
        table.add_row(
            account.columns[place],
            value_text(account.asked[place]),
            bar,
            percent(relevance, 1),
            *[_signed(values[place]) for values in signed],
            percent(account.distance_parts[place], 1),
        )
    return table


def _signed(share: float) -> Text:
    from rich.text import Text

    text = signed_percent(share)
    return Text(text, style={"+": "blue", "−": "dark_orange"}.get(text[0], ""))


def signed_percent(share: float) -> str:
    """With its sign, unless it is as good as nothing."""
    text = f"{abs(share):.1%}"
    if text == "0.0%":
        return text
    return ("+" if share > 0 else "−") + text
