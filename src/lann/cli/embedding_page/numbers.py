"""How well the classes are kept apart, as tables that need no script."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.account import percent
from lann.cli.embed_summary import HOW
from lann.cli.embedding_page.shapes import class_mark
from lann.cli.report.markup import Html, element, head, table

if TYPE_CHECKING:
    from lann.cli.embed_summary import ClassLine, Score, Summary
    from lann.cli.embedded import Embedded

MOST_CLASSES = 200


def in_numbers(embedded: Embedded, summary: Summary) -> Html:
    unseen = summary.whole.unseen is not None
    lines = [*summary.lines[:-1][:MOST_CLASSES], summary.whole]
    n_more = len(summary.lines) - len(lines)
    header = [head("class")]
    for kind in ("training rows", "unseen rows")[: 1 + unseen]:
        header += [head(name, number=True) for name in (kind, "by vote", "in picture")]
    parts = [
        element("h2", "How well the classes are kept apart", id="numbers"),
        element(
            "p", f"The share of the rows whose class is recognized, training rows by leave-one-out. {HOW}"
        ),
        table("Rows recognized, by class", header, [_line(embedded, line) for line in lines]),
    ]
    if n_more:
        parts.append(element("p", f"And {n_more} more classes."))
    if summary.pairs:
        parts += _pairs(embedded, summary)
    return element("section", *parts, aria_labelledby="numbers")


def _line(embedded: Embedded, line: ClassLine) -> Html:
    name = "all" if line.place is None else class_mark(embedded.classes[line.place], line.place)
    scores = [line.training, *([] if line.unseen is None else [line.unseen])]
    cells = [cell for score in scores for cell in _cells(score)]
    return element(
        "tr",
        element("th", name, scope="row"),
        *[element("td", cell, class_="number") for cell in cells],
        class_="whole" if line.place is None else None,
    )


def _cells(score: Score) -> list[str]:
    shares = (score.by_vote, score.in_picture)
    return [f"{score.n:,}", *("" if np.isnan(share) else percent(share, 1) for share in shares)]


def _pairs(embedded: Embedded, summary: Summary) -> list[Html]:
    kind = "unseen rows" if summary.pairs_unseen else "training rows, each left out"
    items = [
        element(
            "li",
            class_mark(embedded.classes[pair.one], pair.one),
            " and ",
            class_mark(embedded.classes[pair.other], pair.other),
            f": {pair.n_mistaken:,} of {pair.n_points:,} taken for the other "
            f"({percent(pair.n_mistaken / pair.n_points, 1)})",
        )
        for pair in summary.pairs
    ]
    heading = element("h3", f"Classes that mix most in the picture, by their {kind}")
    return [heading, element("ul", *items, class_="pairs")]
