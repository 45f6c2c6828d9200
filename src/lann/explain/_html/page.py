"""A page of explained rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lann import _texts
from lann._format import counted
from lann._markup import Html, definitions, element, footer, note, page, read_resource, save_page
from lann._validation import Integer, validate
from lann.explain._html.details import PageDetails
from lann.explain._html.overview import overview
from lann.explain._html.row import explained_row
from lann.explain._html.scale import Scale
from lann.explain._html.view import RowView, row_views

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# Rows that are open at first.
MOST_OPEN = 3

PACKAGE = "lann.explain._html"

ADDS = (
    "From the base value, the probability at training rows of other classes that this row is contrasted "
    "with, to the probability at this row: what the value of each column adds to the prediction, or takes "
    "away. The numbers add up exactly. What is taken away is in the color of the class that gets most of it."
)
AROUND = (
    "The share of the vote that changes, for rows like this one, when the value of the column is replaced, "
    "alone or on the way to rows of other classes, on average: what the model depends on in this region."
)
CONTRAST = (
    "The nearest training row of another class than predicted, and the share of the squared distance to it "
    "that each column has."
)
CHANGE = (
    "A change of up to three columns, found by a search and verified by predicting again; a smaller one may "
    "exist. It says what the model would predict, not what would happen in reality."
)
FLAGS = (
    "Mistake: the prediction is not the known label. Doubtful: the prediction has less than 20% of the votes "
    "more than the runner-up. Far: nothing similar is among the training rows."
)
DECIDED_FLAGS = (
    "Mistake: the prediction is not the known label. Rejected: the reject option gives no prediction, and "
    "the label that is shown is not to be used; ambiguous: the certainty of the prediction is below what is "
    "required; far: the row is farther from the training rows than is accepted."
)


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


def save_html(
    explanation: Explanation,
    path: str | os.PathLike[str],
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> None:
    """Save the explained rows as a page that is one file, which loads nothing.

    Parameters
    ----------
    explanation : Explanation
        Of at least one row.
    path : str or path-like
        The file; an existing one is replaced.
    title : str, default="Explained predictions"
    n_features : int, default=10
        As in `to_html`.
    notes : sequence of str, default=()
        As in `to_html`.

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
    save_page(path, to_html(explanation, title=title, n_features=n_features, notes=notes))


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
    views = row_views(explanation, details or PageDetails())
    several = len(views) > 1
    subtitle = f"{counted(len(views), 'prediction')}, explained by the training rows that voted."
    return page(
        f"{title}: explained by lann",
        element(
            "header",
            element("h1", title),
            element("p", subtitle, class_="subtitle"),
            *([] if audit is None else [audit]),
            *[note(text) for text in notes],
        ),
        element("main", *([overview(views)] if several else []), *sections, _rows_section(views, n_features)),
        footer(_texts.ROW_INDEX if views[0].row.neighbors_by_id else _texts.ROW_NUMBERS),
        styles=[read_resource(PACKAGE, "rows.css"), *styles],
        script=f"'use strict';(() => {{\n{read_resource(PACKAGE, 'overview.js')}}})();" if several else None,
    )


def _rows_section(views: list[RowView], n_features: int) -> Html:
    scale, all_open = Scale.of([view.row for view in views]), len(views) <= MOST_OPEN
    buttons = [
        element("button", text, id=id, type="button")
        for id, text in (("open-all", "Open all"), ("close-all", "Close all"))
    ]
    return element(
        "section",
        element("h2", "Explained rows", id="rows"),
        _how_to_read(views[0]),
        *([element("div", *buttons, id="row-controls", hidden=True)] if len(views) > 1 else []),
        element(
            "div",
            *[
                explained_row(view, n_features, scale, is_open=all_open or view.position == 0)
                for view in views
            ],
        ),
        aria_labelledby="rows",
    )


def _how_to_read(view: RowView) -> Html:
    row, details = view.row, view.details
    terms = [("Votes", _texts.VOTES), ("Flags", FLAGS if row.decision is None else DECIDED_FLAGS)]
    if row.support is None:
        terms.append(("Relevance", _texts.RELEVANCE))
    else:
        terms += [("Adds to", ADDS), ("What matters around this row", AROUND)]
    if row.percentiles is not None:
        terms.append(("Values in context", _texts.TYPICAL))
    if details.contrast is not None:
        terms.append(("The nearest row of another class", CONTRAST))
    if details.counterfactuals is not None:
        terms.append(("What would change the prediction", CHANGE))
    return element("details", element("summary", "How to read this page"), definitions(terms), class_="help")
