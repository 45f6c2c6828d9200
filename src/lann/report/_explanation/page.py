"""The report of explained predictions."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack

from lann._markup import read_resource, save_page
from lann._validation import Integer, validate
from lann.explain import explanation_page
from lann.report._audit import audit_header
from lann.report._evaluation import SourceFile
from lann.report._explanation.columns import columns_section
from lann.report._explanation.details import page_details
from lann.report._explanation.model_summary import model_summary
from lann.report._explanation.relevance_by_class import relevance_by_class
from lann.tables import TableModel

if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation, PageDetails


class ReportOptions(TypedDict, total=False):
    """The keyword arguments of `report_page`."""

    title: str
    n_features: int
    notes: Sequence[str]
    counterfactuals: Counterfactuals | int | Literal["auto"]
    embedding: str | None
    files: Sequence[SourceFile]


def report_page(
    model: TableModel | Any,
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
    counterfactuals: Counterfactuals | int | Literal["auto"] = "auto",
    embedding: str | None = None,
    files: Sequence[SourceFile] = (),
) -> str:
    """Return a page that describes a model and explains its predictions; it loads nothing.

    An overview of the rows can be sorted, searched and filtered; the page can be read without its script.

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
    counterfactuals : Counterfactuals, int or "auto", default="auto"
        Number of rows, the first ones, for which the page shows the smallest change that leads to another
        prediction; 0 for none. "auto" is 100 rows, fewer with more than 14 columns. Or the changes of the
        first rows themselves, such as those of `TableModel.counterfactuals_of_explanation`, which can freeze
        columns.
    embedding : str or None, default=None
        Address of a page that `save_embedding_page` has written, relative to this page: rows and neighbors
        link to their points.
    files : sequence of SourceFile, default=()
        Files of the model and of the rows. Their names and hashes are below the title, with the date, the
        versions and the model.

    Returns
    -------
    page : str

    Raises
    ------
    ValueError
        If the model is no classifier with neighbors, there are no explained rows, or an argument is invalid.

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
    if len(explanation) == 0:
        raise ValueError("There are no explained rows to show.")
    if not isinstance(model, TableModel):
        model = TableModel(model)
    details = page_details(model, explanation, counterfactuals, embedding)
    return explanation_page(
        explanation,
        model_summary(model),
        columns_section(model, n_features),
        relevance_by_class(model, explanation.correlated, n_features),
        title=title,
        n_features=n_features,
        notes=[*notes, *_limits(explanation, details)],
        styles=[read_resource("lann.report._explanation", "style.css")],
        details=details,
        audit=audit_header(model, files),
    )


def save_report(
    path: str | os.PathLike[str],
    model: TableModel | Any,
    explanation: Explanation,
    **options: Unpack[ReportOptions],
) -> None:
    """Save a page that describes a model and explains its predictions; it loads nothing.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    model : TableModel or estimator
        As in `report_page`.
    explanation : Explanation
        Predictions of the model, at least one.
    **options : dict
        The keyword arguments of `report_page`: title, n_features, notes, counterfactuals, embedding and
        files.

    Raises
    ------
    ValueError
        If the model is no classifier with neighbors, there are no explained rows, or an argument is invalid.
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
    save_page(path, report_page(model, explanation, **options))


def _limits(explanation: Explanation, details: PageDetails) -> list[str]:
    """Return a sentence about the rows without a counterfactual, if some have one."""
    n_rows = 0 if details.counterfactuals is None else len(details.counterfactuals)
    if n_rows in (0, len(explanation)):
        return []
    which = "row" if n_rows == 1 else f"{n_rows} rows"
    return [f"What would change the prediction is shown for the first {which}."]
