"""An explained row: the prediction, the votes, the columns and the neighbors."""

from __future__ import annotations

import numpy as np

from lann._format import percent
from lann._markup import Html, bar, class_label, element
from lann.explain._explained_row import ExplainedRow
from lann.explain._html.scale import Scale
from lann.explain._html.tables import column_tables, labeled, neighbor_table

MOST_CLASSES = 5


def explained_row(row: ExplainedRow, n_features: int, scale: Scale, *, is_open: bool) -> Html:
    """Return an explained row that can be folded.

    Parameters
    ----------
    row : ExplainedRow
    n_features : int
        Number of columns that are shown at once.
    scale : Scale
    is_open : bool
    """
    summary = element(
        "summary",
        element("h3", row.title),
        labeled(row, row.prediction),
        element("span", f"probability {percent(row.probability)}", class_="share"),
        element("span", f"runner-up: {row.runner_up}", class_="runner-up"),
    )
    content = element(
        "div",
        element("p", row.sentence, class_="sentence"),
        votes_by_class(row),
        column_tables(row, n_features, scale),
        neighbor_table(row, n_features),
        class_="content",
    )
    return element("details", summary, content, class_="row", id=f"row-{row.row}", open=is_open)


def votes_by_class(row: ExplainedRow) -> Html:
    """Return the votes of the prediction, of the runner-up, and of other classes that have any."""
    first, second = row.class_index(row.prediction), row.class_index(row.runner_up)
    order = np.argsort(-row.class_votes, kind="stable").tolist()
    others = [index for index in order if index not in (first, second) and row.class_votes[index]]
    shown = [first, second, *others][:MOST_CLASSES]
    items = []
    for index in shown:
        share = float(row.class_votes[index])
        text = percent(share) + (" (runner-up)" if index == second else "")
        items.append(
            element(
                "li",
                class_label(row.classes[index], index),
                bar(share, 1.0, index),
                element("span", text, class_="amount"),
            )
        )
    n_more = 2 + len(others) - len(shown)
    if n_more:
        items.append(element("li", f"and {n_more} more with fewer votes", class_="more"))
    return element("ul", *items, class_="votes", aria_label="Votes by class")
