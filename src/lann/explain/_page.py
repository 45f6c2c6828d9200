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
from lann._support.types import Indices
from lann._support.validation import Integer, validate
from lann.explain._training_rows import scaled
from lann.explain._view import LEAST_SUPPORT, ExplainedRow, strongest

if TYPE_CHECKING:
    from lann.explain._contrast import Contrast
    from lann.explain._counterfactuals import Counterfactuals
    from lann.explain._explanation import Explanation

PACKAGE = "lann.explain"
# Columns that are named as reasons of a prediction.
MOST_REASONS = 3
# Columns that are listed of those that keep a row of another class away, and the least share of the distance.
MOST_KEEPING, LEAST_KEEPING = 5, 0.01
# Rows, features and neighbors in a notebook.
MOST_IN_NOTEBOOK = 5


@dataclass(frozen=True)
class PageDetails:
    """What a page shows beside explained rows; `lann.report.report_page` fills it from the model.

    Attributes
    ----------
    contrast : Contrast or None
        The nearest training row of another class of each explained row, named as the neighbors are.
    counterfactuals : Counterfactuals or None
        The smallest changes of the first rows that lead to other predictions.
    embedding : str or None
        Address of an embedding page; rows and neighbors link to it.
    """

    contrast: Contrast | None = None
    counterfactuals: Counterfactuals | None = None
    embedding: str | None = None


def to_html(
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> str:
    """Return the explained rows as a page that is one file, which loads nothing.

    An overview of several rows can be sorted, searched and filtered; the page can be read without its script.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    title : str, default="Explained predictions"
    n_features : int, default=10
        Number of features that are shown at once, the most relevant first; the others are folded.
    notes : sequence of str, default=()
        Notes to the reader, a sentence each.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If there are no explained rows, or `n_features` is less than 1.

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
    return explanation_page(explanation, title=title, n_features=n_features, notes=notes)


def save_html(explanation: Explanation, path: str | os.PathLike[str], **options: Any) -> None:
    """Save the explained rows as a page that is one file, which loads nothing.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    path : str or path-like
        The file; an existing one is replaced.
    **options : dict
        The keyword arguments of `to_html`: title, n_features and notes.

    Raises
    ------
    ValueError
        If there are no explained rows, or `n_features` is less than 1.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> explanation = LANNClassifier(random_state=0).fit(X, y).explain(X[:3])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     explanation.save_html(os.path.join(folder, "iris.html"))
    ...     os.listdir(folder)
    ['iris.html']
    """
    save_page(path, to_html(explanation, **options))


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
        Further sections, above the explained rows.
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
        What the page is about, below its title.

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
    details, e, view = details or PageDetails(), explanation, explanation.overview()
    marks, lines, seen = view.marks, [], Counter[int]()
    for position, row in enumerate(e.rows()):
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
        class_indices={label: index for index, label in enumerate(e.classes.tolist())},
        are_numbers=_are_numbers,
        most_columns=MOST_COLUMNS,
        explanation=e,
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

    @cached_property
    def order(self) -> Indices:
        """Positions of the features, those with the largest support or opposition first."""
        return np.argsort(-np.abs(self.row.reasons), kind="stable")

    @property
    def strongest(self) -> list[int]:
        """The features whose values support the prediction most."""
        return strongest(self.row.reasons, MOST_REASONS, LEAST_SUPPORT)

    @property
    def voted_classes(self) -> list[int]:
        """The prediction, the runner-up and other classes with votes."""
        row = self.row
        first = [row.class_index(row.prediction), row.class_index(row.runner_up)]
        order = np.argsort(-row.class_votes, kind="stable").tolist()
        return [*first, *(k for k in order if k not in first and row.class_votes[k])]

    @property
    def additive(self) -> dict[str, Any]:
        """The steps from the base value to the probability: the largest first, then one of all others."""
        row, support = self.row, self.row.reasons
        # A single other column is listed, too.
        n_shown = len(self.order) if len(self.order) <= self.n_features + 1 else self.n_features
        shown, rest = self.order[:n_shown], self.order[n_shown:]
        remaining = float(support[rest].sum())
        steps = [*support[shown].tolist(), *([remaining] if len(rest) else [])]
        base = 0.0 if row.base_values is None else float(row.base_values[row.class_index(row.prediction)])
        totals = [base, *(base + np.cumsum(steps)).tolist()]
        limits = min(0.0, *totals), max(1.0, *totals)
        ends = list(zip(shown, totals, totals[1:], strict=False))
        return {"totals": totals, "steps": ends, "rest": rest, "remaining": remaining, "limits": limits}

    @property
    def neighbor_columns(self) -> list[tuple[str, list[Any], bool]]:
        """Name, values of the row and of the listed neighbors, and whether these are numbers, by column."""
        row, shown = self.row, self.order[: self.n_features]
        if row.neighbor_values is None:
            return []
        values = np.concatenate([row.values[None, shown], row.neighbor_values[: row.n_listed, shown]])
        columns = zip(row.feature_names[shown], values.T.tolist(), strict=True)
        return [(str(name), column, _are_numbers(column)) for name, column in columns]

    @property
    def keeping_away(self) -> list[tuple[int, float]]:
        """The features that keep the nearest row of another class away, with their shares of the distance."""
        assert self.details.contrast is not None
        contributions = self.details.contrast.contributions[self.position]
        shares = scaled(contributions[None])[0]
        listed = np.argsort(-shares, kind="stable")[:MOST_KEEPING]
        return [(int(j), float(shares[j])) for j in listed if shares[j] >= LEAST_KEEPING]


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, float) or is_missing(value) for value in values)


def notebook_view(explanation: Explanation) -> str:
    """Return the first rows as a table, which notebooks show for an explanation.

    Bars are the relevances of the features that a prediction depends on most. Their color is that of the
    class that the value supports, and the sign says whether it supports the prediction or opposes it. The
    table loads nothing and runs no script.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> view = LANNClassifier(random_state=0).fit(X, y).explain(X[:20])._repr_html_()
    >>> view.count("<tr>"), "and 15 more rows" in view
    (6, True)
    """
    rows = list(explanation[:MOST_IN_NOTEBOOK].rows())
    return render(
        PACKAGE,
        "notebook.html",
        styles=Html(read_resource(PACKAGE, "templates/notebook.css")),
        explanation=explanation,
        rows=rows,
        most=MOST_IN_NOTEBOOK,
    )
