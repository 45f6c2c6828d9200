"""One explained row: the prediction, what it hangs on, and who voted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._types import Floats
from lann.cli.account import percent
from lann.cli.report.markup import (
    Html,
    bar,
    bar_cell,
    element,
    head,
    label_chip,
    signed_bar_cell,
    table,
    value_cell,
)
from lann.cli.show import NO_COLUMN, hangs_on_no_column, signed_percent

if TYPE_CHECKING:
    from lann.cli.account import Account

MOST_CLASSES = 5
MOST_COLUMNS = 200


@dataclass(frozen=True)
class Scale:
    """What a whole bar is, the same for all rows: one that hangs on little shows little."""

    relevance: float
    support: float
    separation: float

    @classmethod
    def of(cls, accounts: list[Account]) -> Scale:
        def largest(values: Floats | None) -> float:
            return 0.0 if values is None else float(np.abs(values).max())

        return cls(
            max(largest(account.relevances) for account in accounts),
            max(largest(account.support) for account in accounts),
            max(largest(account.separation) for account in accounts),
        )


def explained_row(account: Account, shown_columns: int, scale: Scale, *, is_open: bool) -> Html:
    name = f"Row {account.row}" if account.id is None else f"Row {account.row}: {account.id}"
    summary = element(
        "summary",
        element("h3", name),
        _chip(account, account.prediction),
        element("span", f"{percent(account.share)} of the votes", class_="share"),
        element("span", f"runner-up: {account.runner_up}", class_="next"),
    )
    return element(
        "details",
        summary,
        element(
            "div",
            element("p", account.words, class_="words"),
            _votes(account),
            _columns(account, shown_columns, scale),
            _neighbors(account, shown_columns),
            class_="inside",
        ),
        class_="row",
        id=f"row-{account.row}",
        open=is_open,
    )


def _votes(account: Account) -> Html:
    """Each class's part of the votes, if it has one; the runner-up anyway."""
    order = np.argsort(-account.probabilities, kind="stable")
    first = int(np.flatnonzero(account.classes == account.prediction)[0])
    second = int(np.flatnonzero(account.classes == account.runner_up)[0])
    others = [int(place) for place in order if place not in (first, second) and account.probabilities[place]]
    shown = [first, second, *others][:MOST_CLASSES]
    items = []
    for place in shown:
        share = float(account.probabilities[place])
        said = " (runner-up)" if place == second else ""
        items.append(
            element(
                "li",
                label_chip(account.classes[place], place),
                bar(share, 1.0, place),
                element("span", f"{percent(share)}{said}", class_="amount"),
            )
        )
    left_out = 2 + len(others) - len(shown)
    more = [element("li", f"and {left_out} more with fewer votes", class_="more")] if left_out else []
    return element("ul", *items, *more, class_="votes", aria_label="Votes by class")


def _columns(account: Account, shown_columns: int, scale: Scale) -> Html:
    header = [head("column"), head("this row", number=True), head("relevance")]
    signed = []
    if account.support is not None:
        header.append(head("for and against ", _chip(account, account.prediction)))
        signed.append((account.support, scale.support))
    if account.separation is not None and len(account.classes) > 2:
        header.append(head("lead over ", _chip(account, account.runner_up)))
        signed.append((account.separation, scale.separation))
    header.append(head("of the distances", number=True))
    parts = account.distance_parts
    rows = [
        element(
            "tr",
            element("th", account.columns[place], scope="row"),
            value_cell(account.asked[place]),
            bar_cell(account.relevances[place], scale.relevance, percent(account.relevances[place], 1)),
            *[signed_bar_cell(v[place], whole, signed_percent(v[place])) for v, whole in signed],
            element("td", percent(parts[place], 1), class_="number"),
        )
        for place in range(min(len(account.columns), MOST_COLUMNS))
    ]
    caption = "What the prediction hangs on"
    found = [element("h4", caption), table(caption, header, rows[:shown_columns], class_="columns")]
    if hangs_on_no_column(account):
        found.insert(1, element("p", NO_COLUMN))
    if rows[shown_columns:]:
        n_more = len(account.columns) - shown_columns
        what = f"{n_more} more columns" if n_more > 1 else "1 more column"
        if len(account.columns) > MOST_COLUMNS:
            what += f", of which {len(rows) - shown_columns} are shown"
        more = table(f"{caption}: {what}", header, rows[shown_columns:], class_="columns")
        found.append(element("details", element("summary", what), more))
    return Html("".join(found))


def _neighbors(account: Account, shown_columns: int) -> Html:
    names = [] if account.values is None else account.columns[:shown_columns]
    header = [
        head("row"),
        *([] if account.ids is None else [head("id")]),
        head("label"),
        head("votes"),
        head("distance", number=True),
        *[head(name, number=isinstance(account.asked[place], float)) for place, name in enumerate(names)],
    ]
    called = [] if account.ids is None else [element("td", account.id or "")]
    asked = element(
        "tr",
        element("th", "this row", scope="row"),
        *called,
        element("td", "?"),
        element("td"),
        element("td"),
        *[value_cell(account.asked[place]) for place in range(len(names))],
        class_="asked",
    )
    largest = float(account.vote_shares.max())
    rows = [asked]
    for k, share in enumerate(account.vote_shares):
        ids = [] if account.ids is None else [element("td", str(account.ids[k]))]
        values = [] if account.values is None else account.values[k, : len(names)].tolist()
        rows.append(
            element(
                "tr",
                element("th", str(account.rows[k]), scope="row"),
                *ids,
                element("td", _chip(account, account.labels[k])),
                bar_cell(share, largest, percent(share)),
                element("td", f"{account.distances[k]:.3g}", class_="number"),
                *[value_cell(value) for value in values],
            )
        )
    caption = "The training rows that voted, nearest first"
    return Html(element("h4", caption) + table(caption, header, rows, class_="neighbors"))


def _chip(account: Account, label: Any) -> Html:
    return label_chip(label, int(np.flatnonzero(account.classes == label)[0]))
