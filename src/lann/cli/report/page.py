"""The whole page: what it is about, the model, its fingerprints, the explained rows."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from lann._files import write_atomically
from lann.cli.report.document import style_sheet, whole_page
from lann.cli.report.fingerprints import fingerprints
from lann.cli.report.markup import Html, element
from lann.cli.report.row import Scale, explained_row
from lann.cli.report.summary import model_summary

if TYPE_CHECKING:
    from lann.cli.account import Account
    from lann.cli.trained import Trained
    from lann.explain import Explanation

# Rows that are open when the page is: more would be a long way to scroll.
MOST_OPEN = 3


def write_report(
    path: Path,
    trained: Trained,
    explanation: Explanation,
    accounts: list[Account],
    *,
    title: str,
    shown_columns: int,
    notes: list[str],
) -> None:
    """Write the page, whole or not at all."""
    page = make_page(trained, explanation, accounts, title=title, shown_columns=shown_columns, notes=notes)
    write_atomically(path, page.encode())


def make_page(
    trained: Trained,
    explanation: Explanation,
    accounts: list[Account],
    *,
    title: str,
    shown_columns: int,
    notes: list[str],
) -> str:
    """The page as text.

    explanation, accounts : of the same rows, at least one
    title : what the page is about
    shown_columns : how many of the most relevant columns are seen at once
    notes : sentences that the reader should know
    """
    is_open = len(accounts) <= MOST_OPEN
    scale = Scale.of(accounts)
    several = "1 prediction" if len(accounts) == 1 else f"{len(accounts)} predictions"
    return whole_page(
        f"{title}: explained by lann",
        element(
            "header",
            element("h1", title),
            element("p", f"{several} explained by the training rows that made them.", class_="lead"),
            *[element("p", f"Note: {text}", class_="note") for text in notes],
        ),
        element(
            "main",
            model_summary(trained),
            fingerprints(trained, explanation, shown_columns),
            element(
                "section",
                element("h2", "Explained rows", id="rows"),
                _how_to_read(accounts),
                *[
                    explained_row(account, shown_columns, scale, is_open=is_open or place == 0)
                    for place, account in enumerate(accounts)
                ],
                aria_labelledby="rows",
            ),
        ),
        element("footer", element("p", "Made by lann. Row numbers count from 0, below the header.")),
        styles=[style_sheet()],
    )


def _how_to_read(accounts: list[Account]) -> Html:
    lines = [
        (
            "Votes",
            "The nearest training rows vote for their labels, the more the nearer they are; each measures "
            "in its own way. The label with the most votes is predicted, the next is the runner-up.",
        ),
        (
            "Relevance",
            "The share of the vote that changes, around the row, when this column's value is another's. For "
            "a text column it is summed over its values.",
        ),
    ]
    if accounts and accounts[0].support is not None:
        lines.append(
            (
                "For and against",
                "How many more votes the prediction has by this value than by others: to the right the value "
                "speaks for the prediction, to the left against it.",
            )
        )
        if len(accounts[0].classes) > 2:
            lines.append(
                (
                    "Lead",
                    "How much of the lead over the runner-up hangs on this value: what it brings the "
                    "prediction and takes from the runner-up.",
                )
            )
    lines.append(
        (
            "Of the distances",
            "The part of the distances to the training rows that voted which this column makes.",
        )
    )
    terms = [part for term, text in lines for part in (element("dt", term), element("dd", text))]
    return element("details", element("summary", "How to read this"), element("dl", *terms), class_="help")
