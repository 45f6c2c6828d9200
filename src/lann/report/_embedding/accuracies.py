"""How well the classes are separated, as tables that need no script."""

from __future__ import annotations

import numpy as np

from lann import _texts
from lann._format import percent
from lann._markup import Html, element, header_cell, table
from lann.report._embedding.shapes import class_mark
from lann.tables import Accuracy, ClassAccuracy, EmbeddedTable, EmbeddingSummary

MOST_CLASSES = 200


def accuracies(embedded: EmbeddedTable, summary: EmbeddingSummary) -> Html:
    """Return the section about the accuracies by class, and the classes that are confused."""
    shown = summary.by_class[:MOST_CLASSES]
    header = [header_cell("class")]
    for kind in ("training rows", "held-out rows")[: 1 + summary.has_held_out]:
        header += [header_cell(text, number=True) for text in (kind, "by vote", "in embedding")]
    lines = [_line(embedded, line) for line in [*shown, summary.overall]]
    parts = [
        element("h2", "How well the classes are separated", id="accuracies"),
        element("p", f"The share of the rows whose class is predicted correctly. {_texts.ACCURACIES}"),
        table("Accuracies by class", header, lines),
    ]
    if n_more := len(summary.by_class) - len(shown):
        parts.append(element("p", f"And {n_more} more classes."))
    if summary.pairs:
        parts += _confused_pairs(embedded, summary)
    return element("section", *parts, aria_labelledby="accuracies")


def _line(embedded: EmbeddedTable, line: ClassAccuracy) -> Html:
    index = line.class_index
    name = "all" if index is None else class_mark(embedded.classes[index], index)
    cells = _cells(line.training) + ([] if line.held_out is None else _cells(line.held_out))
    return element(
        "tr",
        element("th", name, scope="row"),
        *[element("td", cell, class_="number") for cell in cells],
        class_="overall" if index is None else None,
    )


def _cells(accuracy: Accuracy) -> list[str]:
    shares = (accuracy.by_vote, accuracy.in_embedding)
    return [f"{accuracy.n_rows:,}", *("" if np.isnan(share) else percent(share, 1) for share in shares)]


def _confused_pairs(embedded: EmbeddedTable, summary: EmbeddingSummary) -> list[Html]:
    kind = "held-out rows" if summary.has_held_out else "training rows, each without itself"
    items = [
        element(
            "li",
            class_mark(embedded.classes[pair.first], pair.first),
            " and ",
            class_mark(embedded.classes[pair.second], pair.second),
            f": {pair.n_confused:,} of {pair.n_rows:,} rows ({percent(pair.n_confused / pair.n_rows, 1)})",
        )
        for pair in summary.pairs
    ]
    heading = element("h3", f"Classes that are confused most often in the embedding, by their {kind}")
    return [heading, element("ul", *items, class_="pairs")]
