"""An explained row: the prediction, the votes, the columns, the neighbors, and what would change it."""

from __future__ import annotations

import numpy as np

from lann._format import percent
from lann._markup import Html, bar, class_label, element
from lann.explain._explained_row import ExplainedRow
from lann.explain._html.columns import column_tables
from lann.explain._html.overview import flags
from lann.explain._html.scale import Scale
from lann.explain._html.tables import change_table, contrast_table, neighbor_table
from lann.explain._html.view import RowView

MOST_CLASSES = 5
FAR = "Nothing similar was seen among the training rows: treat this prediction with care."
LEFT_OUT = "This is a training row. It was left out of its own vote: the prediction is made without it."


def explained_row(view: RowView, n_features: int, scale: Scale, *, is_open: bool) -> Html:
    """Return an explained row that can be folded.

    Parameters
    ----------
    view : RowView
    n_features : int
        Number of columns that are shown at once.
    scale : Scale
    is_open : bool
    """
    row = view.row
    truth = []
    if row.true_label is not None:
        truth.append(element("span", "truth: ", view.labeled(row.true_label), class_="truth"))
    summary = element(
        "summary",
        element("h3", row.title),
        view.labeled(row.prediction),
        element("span", f"probability {percent(row.probability)}", class_="share"),
        *truth,
        flags(view),
        element("span", f"runner-up: {row.runner_up}", class_="runner-up"),
    )
    is_far = row.is_far and not view.is_rejected  # the sentence of a rejected row says why it is rejected
    notes = [text for text, is_said in ((FAR, is_far), (LEFT_OUT, row.left_out is not None)) if is_said]
    content = element(
        "div",
        element("p", row.sentence, class_="sentence"),
        *[element("p", text, class_="note") for text in notes],
        votes_by_class(row),
        column_tables(view, n_features, scale),
        neighbor_table(view, n_features),
        contrast_table(view),
        change_table(view),
        *([element("p", *view.links, class_="links")] if view.links else []),
        class_="content",
    )
    return element("details", summary, content, class_="row", id=view.anchor, open=is_open)


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
