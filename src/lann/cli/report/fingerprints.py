"""Fingerprints: what the vote hangs on among the training rows of each class."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from lann.cli.account import percent
from lann.cli.report.markup import Html, bar_cell, element, head, label_chip, table
from lann.explain.aggregate import mean_by_class

if TYPE_CHECKING:
    from lann.cli.trained import Trained
    from lann.explain import Explanation

MOST_CLASSES = 12
# From here on, numbers stand below their bars.
MANY_CLASSES = 5
MOST_COLUMNS = 200
MOST_GROUPS = 8


def fingerprints(trained: Trained, explanation: Explanation, shown_columns: int) -> Html:
    """The fingerprints of a model, of which some rows are explained."""
    if explanation.readings is None:
        return Html("")
    model = trained.classifier._model
    labels = model.levels.labels[model.landmarks(trained.classifier.n_jobs).rows]
    relevances = mean_by_class(explanation.readings.relevances, labels, model.n_classes)
    columns = list(explanation.feature_names)
    sizes = np.bincount(trained.classifier._model.levels.labels, minlength=len(relevances))
    # Classes without rows have no fingerprint; where there are very many, the frequent ones tell enough.
    places = np.sort(np.argsort(-sizes, kind="stable")[: min(MOST_CLASSES, int((sizes > 0).sum()))])
    classes = trained.classifier.classes_
    shown = relevances[places]
    order = np.argsort(-shown.max(axis=0), kind="stable")
    top = float(shown.max())
    header = [head("column"), *[head(label_chip(classes[place], place)) for place in places]]
    rows = [
        element(
            "tr",
            element("th", columns[column], scope="row"),
            *[
                bar_cell(share, top, percent(share, 1), place)
                for share, place in zip(shown[:, column], places, strict=True)
            ],
        )
        for column in order[:MOST_COLUMNS]
    ]
    caption = "Relevance by class"
    kind = "many" if len(places) > MANY_CLASSES else None
    parts = [table(caption, header, rows[:shown_columns], class_=kind)]
    if rows[shown_columns:]:
        n_more = len(columns) - shown_columns
        what = f"{n_more} more columns" if n_more > 1 else "1 more column"
        more = table(f"{caption}: {what}", header, rows[shown_columns:], class_=kind)
        parts.append(element("details", element("summary", what), more))
    left_out = "" if len(places) == len(classes) else f" The {len(places)} largest classes are shown."
    return element(
        "section",
        element("h2", "Fingerprints of the classes", id="prints"),
        element(
            "p",
            "What the vote hangs on, averaged over training rows of each class: the share of the vote that "
            f"changes when the column's value is another's.{left_out}",
        ),
        *parts,
        _alike(list(explanation.correlated.values())),
        aria_labelledby="prints",
    )


def _alike(groups: list[list[str]]) -> Html:
    """A word about columns that say nearly the same."""
    if not groups:
        return Html("")
    items = [element("li", ", ".join(names)) for names in groups[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS:
        items.append(element("li", f"and {len(groups) - MOST_GROUPS} more groups"))
    return element(
        "div",
        element(
            "p",
            "Some columns say nearly the same in the training data. How relevance is split between them is "
            "arbitrary, and each can stand in for the others, so that it counts for little alone:",
        ),
        element("ul", *items),
        class_="note",
    )
