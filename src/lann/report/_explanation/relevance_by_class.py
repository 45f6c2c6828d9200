"""The columns that the vote depends on, by class."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lann._format import percent
from lann._markup import MOST_COLUMNS, Html, bar_cell, class_label, element, folded_table, header_cell
from lann._validation import Integer, validate
from lann.tables import TableModel

MOST_CLASSES = 12
# With more classes than this, numbers are below their bars.
MANY_CLASSES = 5
MOST_GROUPS = 8


def relevance_by_class(model: TableModel, correlated: Mapping[str, list[str]], n_features: int) -> Html:
    """Return the section about the relevance of the columns on training rows of each class.

    Parameters
    ----------
    model : TableModel
    correlated : mapping of str to list of str
        Groups of correlated features, as `Explanation.correlated` has them.
    n_features : int
        Number of columns that are shown at once.
    """
    from lann.explain import class_relevances  # imports numba

    validate("n_features", n_features, Integer(1))
    classifier = model.classifier
    relevances = class_relevances(classifier)
    sizes = np.bincount(classifier.model_.labels, minlength=len(relevances))
    n_shown = min(MOST_CLASSES, int((sizes > 0).sum()))  # classes without rows have no relevances
    shown = np.sort(np.argsort(-sizes, kind="stable")[:n_shown])
    relevances = relevances[shown]
    full = float(relevances.max())
    header = [
        header_cell("column"),
        *[header_cell(class_label(classifier.classes_[index], index)) for index in shown],
    ]
    lines = [
        element(
            "tr",
            element("th", model.feature_names[feature], scope="row"),
            *[
                bar_cell(share, full, percent(share, 1), index)
                for share, index in zip(relevances[:, feature], shown, strict=True)
            ],
        )
        for feature in np.argsort(-relevances.max(axis=0), kind="stable")[:MOST_COLUMNS]
    ]
    kind = "many-classes" if n_shown > MANY_CLASSES else None
    n_more = len(model.feature_names) - n_features
    largest = "" if n_shown == len(sizes) else f" The {n_shown} largest classes are shown."
    return element(
        "section",
        element("h2", "Relevant columns by class", id="relevance"),
        element(
            "p",
            "What the vote depends on, averaged over training rows of each class: the share of the vote that "
            "changes when the value of the column is replaced, alone or on the way to rows of other classes, "
            f"on average.{largest}",
        ),
        folded_table("Relevance by class", header, lines, n_features, n_more, class_=kind),
        _correlated_columns(list(correlated.values())),
        aria_labelledby="relevance",
    )


def _correlated_columns(groups: list[list[str]]) -> Html:
    """Return a note about correlated columns."""
    if not groups:
        return Html("")
    items = [element("li", ", ".join(names)) for names in groups[:MOST_GROUPS]]
    if len(groups) > MOST_GROUPS:
        items.append(element("li", f"and {len(groups) - MOST_GROUPS} more groups"))
    return element(
        "div",
        element(
            "p",
            "Some columns are correlated in the training data. How relevance is divided between them is "
            "arbitrary, and each has little relevance alone, because the others can replace it:",
        ),
        element("ul", *items),
        class_="note",
    )
