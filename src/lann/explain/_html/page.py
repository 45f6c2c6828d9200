"""A page of explained rows."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING

from lann import _texts
from lann._format import counted
from lann._markup import Html, definitions, element, footer, note, page, read_resource, save_page
from lann._validation import Integer, validate
from lann.explain._explained_row import ExplainedRow
from lann.explain._html.row import explained_row
from lann.explain._html.scale import Scale

if TYPE_CHECKING:
    from lann.explain._explanation import Explanation

# Rows that are open at first.
MOST_OPEN = 3

SUPPORT = (
    "How many more votes the prediction has with this value than with other values of the column. A bar to "
    "the right: the value supports the prediction. A bar to the left: the value opposes it."
)
LEAD = "How much of the lead over the runner-up depends on this value."
SHARE_OF_DISTANCE = "The share of the distances to the training rows that voted which is due to this column."


def to_html(
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> str:
    """Return the explained rows as a page that is one file: it loads nothing and runs no script.

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
    """Save the explained rows as a page that is one file: it loads nothing and runs no script.

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
) -> str:
    """Return a page of explained rows, below other sections.

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
    rows = list(explanation.rows())
    subtitle = f"{counted(len(rows), 'prediction')}, explained by the training rows that voted."
    return page(
        f"{title}: explained by lann",
        element(
            "header",
            element("h1", title),
            element("p", subtitle, class_="subtitle"),
            *[note(text) for text in notes],
        ),
        element("main", *sections, _rows_section(rows, n_features)),
        footer(_texts.ROW_INDEX if rows[0].neighbors_by_id else _texts.ROW_NUMBERS),
        styles=[read_resource("lann.explain._html", "rows.css"), *styles],
    )


def _rows_section(rows: list[ExplainedRow], n_features: int) -> Html:
    scale, all_open = Scale.of(rows), len(rows) <= MOST_OPEN
    return element(
        "section",
        element("h2", "Explained rows", id="rows"),
        _how_to_read(rows[0]),
        *[
            explained_row(row, n_features, scale, is_open=all_open or position == 0)
            for position, row in enumerate(rows)
        ],
        aria_labelledby="rows",
    )


def _how_to_read(row: ExplainedRow) -> Html:
    terms = [("Votes", _texts.VOTES), ("Relevance", _texts.RELEVANCE)]
    if row.support is not None:
        terms.append(("For and against", SUPPORT))
        if len(row.classes) > 2:
            terms.append(("Lead", LEAD))
    terms.append(("Share of distance", SHARE_OF_DISTANCE))
    return element("details", element("summary", "How to read this page"), definitions(terms), class_="help")
