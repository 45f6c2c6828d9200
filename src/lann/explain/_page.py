"""Explanations as HTML: a page of explained rows, and the view in notebooks.

Templates say how it looks; what is shown of a row is prepared here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._markup import MOST_COLUMNS, Html, footer, page, read_resource, render, save_page, texts
from lann._support.format import is_missing
from lann._support.validation import Integer, validate
from lann.explain._summaries import overview
from lann.explain._value_view import of_values
from lann.explain._view import ExplainedRow, rows

if TYPE_CHECKING:
    from lann.explain._counterfactuals import Counterfactuals
    from lann.explain._explanation import Explanation

PACKAGE = "lann.explain"
# Columns that are named as reasons of a prediction.
MOST_REASONS = 3
# The least probability of a class beside the first two that is shown.
LEAST_SHOWN = 0.005
# Rows, features and neighbors in a notebook.
MOST_IN_NOTEBOOK = 5


@dataclass(frozen=True)
class PageDetails:
    """What a page shows beside explained rows; `lann.report.report_page` fills it from the model.

    Attributes
    ----------
    counterfactuals : Counterfactuals or None
        Changes of the first rows that lead to other predictions.
    explorer : str or None
        Address of an explorer; rows and neighbors link to it.
    """

    counterfactuals: Counterfactuals | None = None
    explorer: str | None = None


def to_html(
    explanation: Explanation,
    path: str | os.PathLike[str] | None = None,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> str:
    """Return the explained rows as a page that is one file, which loads nothing, and save it.

    An overview of several rows can be sorted, searched and filtered; the page can be read without its script.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    path : str, path-like or None, default=None
        The file; an existing one is replaced. None saves nothing.
    title : str, default="Explained predictions"
    n_features : int, default=10
        Number of features that are shown at once, the strongest reasons first; the others are folded.
    notes : sequence of str, default=()
        Notes to the reader, a sentence each.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If there are no explained rows, or `n_features` is less than 1.
    OSError
        If the file cannot be written.

    See Also
    --------
    lann.report.save_report : A page that also describes the model.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> page = LANNClassifier(random_state=0).fit(X, y).explain(X[:3]).to_html(title="Iris")
    >>> page[:15], "<h1>Iris</h1>" in page
    ('<!doctype html>', True)
    """
    found = explanation_page(explanation, title=title, n_features=n_features, notes=notes)
    if path is not None:
        save_page(path, found)
    return found


def explanation_page(
    explanation: Explanation,
    *sections: Html,
    title: str,
    n_features: int,
    notes: Sequence[str],
    styles: Sequence[str] = (),
    details: PageDetails | None = None,
    audit: Html | None = None,
) -> str:
    """Return a page of explained rows: an overview, other sections, and the rows.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    *sections : Html
        Further sections about the model, folded below the explained rows.
    title : str
    n_features : int
        Number of features that are shown at once, the most relevant first; the others are folded.
    notes : sequence of str
        Notes to the reader, a sentence each.
    styles : sequence of str, default=()
        Style sheets of the further sections.
    details : PageDetails or None, default=None
        What is shown beside the rows.
    audit : Html or None, default=None
        What the page is about, above the further sections.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If there are no explained rows, or `n_features` is less than 1.

    See Also
    --------
    lann.Explanation.to_html : The page without further sections.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.explain import explanation_page
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:1])
    >>> explanation_page(explanation, title="Iris", n_features=4, notes=[])[:15]
    '<!doctype html>'
    """
    validate("n_features", n_features, Integer(1))
    if len(explanation) == 0:
        raise ValueError("There are no explained rows to show.")
    details, e, view = details or PageDetails(), explanation, overview(explanation)
    marks, lines, seen = view.marks, [], Counter[int]()
    for position, row in enumerate(rows(e)):
        seen[row.row] += 1
        anchor = f"row-{row.row}" + f"-{seen[row.row]}" * (seen[row.row] > 1)
        flags = [flag for flag, are_marked in marks.items() if are_marked[position]]
        lines.append(_PageRow(row, position, anchor, flags, details, n_features))
    counts = {flag: int(are_marked.sum()) for flag, are_marked in marks.items()}
    if e.decisions is not None:
        counts = {"rejected": sum(line.row.is_rejected for line in lines)} | counts
    body = render(
        PACKAGE,
        "page.html",
        title=title,
        audit=audit,
        notes=notes,
        sections=sections,
        rows=lines,
        details=details,
        counts=counts,
        view=view,
        class_indices={} if of_values(e) else {label: i for i, label in enumerate(e.classes.tolist())},
        are_numbers=_are_numbers,
        most_columns=MOST_COLUMNS,
    )
    script = f"'use strict';(() => {{\n{read_resource(PACKAGE, 'templates/overview.js')}}})();"
    return page(
        f"{title}: explained by lann",
        body,
        footer(texts.ROW_INDEX if lines[0].row.neighbors_by_id else texts.ROW_NUMBERS),
        styles=[read_resource(PACKAGE, "templates/rows.css"), *styles],
        script=script if len(lines) > 1 else None,
    )


@dataclass(frozen=True)
class _PageRow:
    """An explained row as a page shows it, with the numbers of its tables."""

    row: ExplainedRow
    position: int
    anchor: str
    flags: list[str]
    details: PageDetails
    n_features: int

    @property
    def strongest(self) -> list[int]:
        """The features that are named as reasons in the overview."""
        return self.row.strongest(MOST_REASONS)

    @cached_property
    def shown(self) -> list[int]:
        """The features that are shown at once: the first ones; a single other one is shown, too."""
        n_all = len(self.row.feature_names)
        return list(range(n_all if n_all <= self.n_features + 1 else self.n_features))

    @property
    def rest(self) -> list[int]:
        """The other features."""
        return list(range(len(self.shown), len(self.row.feature_names)))

    @property
    def remaining(self) -> float:
        """The sum of the supports of the other features."""
        return float(self.row.support[len(self.shown) :].sum())

    @property
    def full(self) -> float:
        """The support with the longest bar."""
        return float(np.abs(self.row.support).max())

    @property
    def in_table_order(self) -> list[int]:
        """The features in the order of the table."""
        return np.argsort(self.row._order, kind="stable").tolist()

    @cached_property
    def by_relevance(self) -> list[int]:
        """The most relevant features first."""
        return np.argsort(-self.row.relevances, kind="stable").tolist()

    @property
    def probable_classes(self) -> list[int]:
        """The prediction, the runner-up and other classes with a probability that is shown."""
        row = self.row
        first = [row.class_index(row.prediction), row.class_index(row.runner_up)]
        order = np.argsort(-row.probabilities, kind="stable").tolist()
        return [*first, *(k for k in order if k not in first and row.probabilities[k] >= LEAST_SHOWN)]

    @property
    def changes(self) -> list[int]:
        """The counterfactuals of the row, the best first."""
        found = self.details.counterfactuals
        return [] if found is None else np.flatnonzero(found.positions == self.position).tolist()

    @property
    def disagreeing(self) -> list[int]:
        """The listed neighbors with other labels than the prediction."""
        return self.row.disagreeing.tolist()

    @property
    def neighbor_columns(self) -> list[tuple[str, list[Any], bool]]:
        """Name, values of the row and of the listed neighbors, and whether these are numbers, by column."""
        row = self.row
        if row.neighbor_values is None:
            return []
        values = np.concatenate([row.values[None], row.neighbor_values])[:, self.shown]
        columns = zip(row.feature_names[self.shown], values.T.tolist(), strict=True)
        return [(str(name), column, _are_numbers(column)) for name, column in columns]


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, float) or is_missing(value) for value in values)


def notebook_view(explanation: Explanation) -> str:
    """Return the first rows as a table, which notebooks show for an explanation.

    Bars are the supports of the strongest reasons. Their color is that of the class that the value supports,
    and the sign says whether it supports the prediction or opposes it. The table loads nothing and runs no
    script.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> view = LANNClassifier(random_state=0).fit(X, y).explain(X[:20])._repr_html_()
    >>> view.count("<tr>"), "and 15 more rows" in view
    (6, True)
    """
    return render(
        PACKAGE,
        "notebook.html",
        styles=Html(read_resource(PACKAGE, "templates/notebook.css")),
        explanation=explanation,
        rows=list(rows(explanation[:MOST_IN_NOTEBOOK])),
        most=MOST_IN_NOTEBOOK,
    )
