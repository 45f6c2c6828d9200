"""The report of explained predictions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from lann._markup import read_resource, save_page
from lann._validation import Integer, validate
from lann.explain import explanation_page
from lann.report._explanation.columns import columns_section
from lann.report._explanation.model_summary import model_summary
from lann.report._explanation.relevance_by_class import relevance_by_class
from lann.tables import TableModel

if TYPE_CHECKING:
    from lann.explain import Explanation


def report_page(
    model: TableModel | Any,
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> str:
    """Return a page that describes a model and explains its predictions; it loads nothing and runs no script.

    Parameters
    ----------
    model : TableModel or estimator
        A TableModel, a fitted LANNClassifier, or a baseline with neighbors.
    explanation : Explanation
        Predictions of the model, at least one.
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
        If the model is no classifier with neighbors, there are no explained rows, or `n_features` is less
        than 1.

    See Also
    --------
    lann.Explanation.to_html : A page of the explained predictions alone.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import report_page
    >>> X, y = load_iris(return_X_y=True, as_frame=True)
    >>> clf = LANNClassifier(random_state=0).fit(X, y)
    >>> page = report_page(clf, clf.explain(X[:3]), title="Iris")
    >>> page[:15], "The model" in page
    ('<!doctype html>', True)
    """
    validate("n_features", n_features, Integer(1))
    if not isinstance(model, TableModel):
        model = TableModel(model)
    return explanation_page(
        explanation,
        model_summary(model),
        columns_section(model, n_features),
        relevance_by_class(model, explanation.correlated, n_features),
        title=title,
        n_features=n_features,
        notes=notes,
        styles=[read_resource("lann.report._explanation", "style.css")],
    )


def save_report(
    path: str | os.PathLike[str],
    model: TableModel | Any,
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
) -> None:
    """Save a page that describes a model and explains its predictions; it loads nothing and runs no script.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    model : TableModel or estimator
        As in `report_page`.
    explanation : Explanation
        Predictions of the model, at least one.
    title : str, default="Explained predictions"
    n_features : int, default=10
        As in `report_page`.
    notes : sequence of str, default=()
        As in `report_page`.

    Raises
    ------
    ValueError
        If the model is no classifier with neighbors, there are no explained rows, or `n_features` is less
        than 1.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann.report import save_report
    >>> from lann.tables import fit_table
    >>> frame = load_iris(as_frame=True).frame
    >>> model = fit_table(frame, "target")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_report(os.path.join(folder, "iris.html"), model, model.explain(frame, rows=[0, 70, 140]))
    ...     os.listdir(folder)
    ['iris.html']
    """
    save_page(path, report_page(model, explanation, title=title, n_features=n_features, notes=notes))
