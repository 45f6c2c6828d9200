"""Explanations as HTML: a page of explained rows, and the view in notebooks.

Templates say how it looks; what is shown of a row is prepared here.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from lann._markup import MOST_COLUMNS, Html, class_label, footer, page, read_resource, render, save_page
from lann._markup import texts as _texts
from lann._support.format import N_COLORS, class_color, is_missing
from lann._support.types import Floats
from lann._support.validation import Integer, validate

if TYPE_CHECKING:
    from lann.explain._contrast import Contrast
    from lann.explain._counterfactuals import Counterfactuals
    from lann.explain._explained_row import ExplainedRow
    from lann.explain._explanation import Explanation

PACKAGE = "lann.explain"
# Rows that are open at first, and classes whose votes are shown.
MOST_OPEN, MOST_CLASSES = 3, 5
# Columns that are named as reasons of a prediction, and the least reason: a hundredth of the vote.
MOST_REASONS, LEAST_REASON = 3, 0.01
# Columns that are listed of those that keep a row of another class away, and the least share of the distance.
MOST_KEEPING, LEAST_KEEPING = 5, 0.01
# Rows, features and neighbors in a notebook, and the least relevance there, not rounded to 0%.
MOST_IN_NOTEBOOK, LEAST_SHOWN = 5, 0.005
# What the flags of a row mean, and the names of the filters.
FLAGS = {
    "rejected": ("rejected", "the reject option gives no prediction"),
    "mistake": ("mistakes", "predicted wrongly"),
    "doubtful": ("doubtful", "the runner-up has almost as many votes"),
    "ambiguous": ("ambiguous", "the certainty of the prediction is below what is required"),
    "far": ("far", "nothing similar was seen"),
}


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
    details, overview = details or PageDetails(), explanation.overview()
    marks = overview.marks
    rows, seen = [], Counter[int]()
    for position, row in enumerate(explanation.rows()):
        seen[row.row] += 1
        anchor = f"row-{row.row}" + f"-{seen[row.row]}" * (seen[row.row] > 1)
        flags = [flag for flag, are_marked in marks.items() if are_marked[position]]
        rows.append(_PageRow(row, position, anchor, flags, details, n_features))
    several, counts = len(rows) > 1, {flag: int(are_marked.sum()) for flag, are_marked in marks.items()}
    if overview.decision_counts is not None:
        counts = {"rejected": sum(line.row.is_rejected for line in rows)} | counts
    accepted = overview.has_label & np.array([line.row.is_accepted for line in rows])
    body = render(
        PACKAGE,
        "page.html",
        title=title,
        audit=audit,
        notes=notes,
        sections=sections,
        rows=rows,
        details=details,
        several=several,
        counts=counts,
        view=overview,
        n_accepted=int(accepted.sum()),
        n_correct_accepted=int((accepted & ~overview.mistakes).sum()),
        has_ids=any(line.row.has_id_beside_name for line in rows),
        has_labels=overview.n_labels > 0,
        most_open=MOST_OPEN,
        flags=FLAGS,
        texts=_texts,
        full_relevance=max(float(line.row.relevances.max()) for line in rows),
        full_support=max(float(np.abs(line.row.reasons).max()) for line in rows),
    )
    script = f"'use strict';(() => {{\n{read_resource(PACKAGE, 'templates/overview.js')}}})();"
    return page(
        f"{title}: explained by lann",
        body,
        footer(_texts.ROW_INDEX if rows[0].row.neighbors_by_id else _texts.ROW_NUMBERS),
        styles=[read_resource(PACKAGE, "templates/rows.css"), *styles],
        script=script if several else None,
    )


class _PageRow:
    """An explained row as a page shows it, with the numbers of its tables."""

    def __init__(
        self,
        row: ExplainedRow,
        position: int,
        anchor: str,
        flags: list[str],
        details: PageDetails,
        n_features: int,
    ) -> None:
        self.row, self.position, self.anchor, self.flags, self.details = row, position, anchor, flags, details
        # Positions of the features, those with the largest support or opposition first.
        self.order = np.argsort(-np.abs(row.reasons), kind="stable")
        self.n_features, self.most_columns = n_features, MOST_COLUMNS
        self.predicted = row.class_index(row.prediction)

    def labeled(self, label: Any) -> Html:
        """Return a label in the color of its class; as plain text if no training row has it."""
        known = np.flatnonzero(self.row.classes == label)
        return class_label(label, int(known[0])) if len(known) else Html("<span>{}</span>").format(label)

    def link(self, text: str, target: str, class_: str | None = None) -> Html:
        """Return a name as a link to its point in the embedding, if there is one."""
        if self.details.embedding is None:
            return Html("<span>{}</span>").format(text)
        marked = Html(' class="{}"').format(class_) if class_ else Html("")
        return Html('<a href="{}#{}"{}>{}</a>').format(self.details.embedding, target, marked, text)

    @property
    def strongest(self) -> list[int]:
        """The features whose values support the prediction most."""
        reasons = self.row.reasons
        found = sorted(self.order.tolist(), key=lambda j: -reasons[j])
        return [j for j in found if reasons[j] >= LEAST_REASON][:MOST_REASONS]

    @property
    def voted_classes(self) -> tuple[list[int], int]:
        """The prediction, the runner-up and other classes with votes, and how many classes are not shown."""
        row = self.row
        first = [self.predicted, row.class_index(row.runner_up)]
        order = np.argsort(-row.class_votes, kind="stable").tolist()
        voted = [*first, *(k for k in order if k not in first and row.class_votes[k])]
        return voted[:MOST_CLASSES], max(len(voted) - MOST_CLASSES, 0)

    @property
    def additive(self) -> dict[str, Any]:
        """The steps from the base value to the probability: the largest first, then one of all others."""
        row, support = self.row, self.row.reasons
        base = 0.0 if row.base_values is None else float(row.base_values[self.predicted])
        # A single other column is listed, too.
        n_shown = len(self.order) if len(self.order) <= self.n_features + 1 else self.n_features
        shown, rest = self.order[:n_shown], self.order[n_shown:]
        remaining = float(support[rest].sum())
        steps = [*support[shown].tolist(), *([remaining] if len(rest) else [])]
        totals = [base, *(base + np.cumsum(steps)).tolist()]
        return {
            "steps": list(zip(shown, totals, totals[1:], strict=False)),
            "rest": rest,
            "remaining": remaining,
            "rest_ends": totals[-2:],
            "rest_class": self.predicted if remaining >= 0 else row.class_index(row.runner_up),
            "base": base,
            "total": totals[-1],
            "limits": (min(0.0, *totals), max(1.0, *totals)),
        }

    def instead(self, feature: int, amount: str) -> Html | None:
        """Return which of several other classes an opposing value supports."""
        supported = self.row.supported_class(feature)
        if supported is None or len(self.row.classes) == 2 or not amount.startswith("−"):
            return None
        return self.labeled(self.row.classes[supported])

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
    def contrast(self) -> dict[str, Any] | None:
        """The nearest training row of another class, and the columns that keep it away."""
        contrast, i = self.details.contrast, self.position
        if contrast is None:
            return None
        total = float(contrast.contributions[i].sum())
        shares: Floats = contrast.contributions[i] / total if total > 0 else 0.0 * contrast.contributions[i]
        listed = [j for j in np.argsort(-shares, kind="stable")[:MOST_KEEPING] if shares[j] >= LEAST_KEEPING]
        number = int(contrast.rows[i])
        id = None if contrast.ids is None else str(contrast.ids[i])
        name = f"row {number}" if id is None or id == str(number) else f"row {number}: {id}"
        if self.row.neighbors_by_id and id is not None:
            name = f"row {id}"
        return {
            "name": self.link(name, f"row-{number}"),
            "label": contrast.labels[i],
            "distance": contrast.distances[i],
            "lines": [(*_pair(contrast, i, j), float(shares[j])) for j in listed],
            "n_more": len(shares) - len(listed),
            "rest": max(1 - float(shares[listed].sum()), 0.0),
        }

    @property
    def change(self) -> dict[str, Any] | None:
        """The smallest change that was found to lead to another prediction."""
        found, i = self.details.counterfactuals, self.position
        if found is None or i >= len(found):
            return None
        probabilities = found.row_probabilities
        return {
            "is_of_row": str(found.predictions[i]) == str(self.row.prediction),
            "is_found": bool(found.found[i]),
            "label": found.labels[i],
            "probability": None if probabilities is None else float(probabilities[i]),
            "lines": [_pair(found, i, int(j)) for j in np.flatnonzero(found.changed[i])],
        }


def _are_numbers(values: Sequence[Any]) -> bool:
    return all(isinstance(value, float) or is_missing(value) for value in values)


def _pair(found: Contrast | Counterfactuals, i: int, j: int) -> tuple[str, list[Any], bool]:
    """Return the name of a feature, its values in both rows, and whether these are numbers."""
    pair = [found.query_values[i][j], found.row_values[i][j]]
    return str(found.feature_names[j]), pair, _are_numbers(pair)


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
    colors = [
        f".lann-explanation .bar.c{k} span, .lann-explanation b.c{k}::before "
        f"{{ background: {class_color(k)}; }}\n"
        for k in range(min(len(explanation.classes), N_COLORS))
    ]
    return render(
        PACKAGE,
        "notebook.html",
        styles=Html(read_resource(PACKAGE, "templates/notebook.css") + "".join(colors)),
        title=repr(explanation),
        rows=rows,
        n_more=len(explanation) - len(rows),
        full=max((float(row.relevances.max()) for row in rows), default=0.0),
        most=MOST_IN_NOTEBOOK,
        least=LEAST_SHOWN,
        has_supports=explanation.has_supports,
        n_colors=N_COLORS,
    )
