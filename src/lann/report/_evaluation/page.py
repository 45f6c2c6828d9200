"""The page about an evaluation."""

from __future__ import annotations

import os

from lann import _texts
from lann._markup import Html, element, footer, note, page, read_resource, save_page
from lann.report._evaluation.audit_section import audit_section
from lann.report._evaluation.class_sections import class_section, confusion_section
from lann.report._evaluation.evaluation import Evaluation
from lann.report._evaluation.rejection_section import rejection_section
from lann.report._evaluation.reliability_section import reliability_section
from lann.report._evaluation.row_sections import mistakes_section, slices_section
from lann.report._evaluation.scores_section import scores_section


def evaluation_page(evaluation: Evaluation, *, title: str = "Evaluation") -> str:
    """Return a page about an evaluation; it loads nothing and runs no script.

    Parameters
    ----------
    evaluation : Evaluation
    title : str, default="Evaluation"

    Returns
    -------
    page : str

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate, evaluation_page
    >>> X, y = load_iris(return_X_y=True)
    >>> evaluation = evaluate(LANNClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2])
    >>> page = evaluation_page(evaluation, title="Iris")
    >>> page[:15], "Confusion matrix" in page
    ('<!doctype html>', True)
    """
    header = element(
        "header",
        element("h1", title),
        element("p", evaluation.summary, class_="subtitle"),
        *[note(text) for text in evaluation.notes],
    )
    parts: list[Html] = [
        audit_section(evaluation.audit),
        scores_section(evaluation),
        class_section(evaluation),
        confusion_section(evaluation),
        reliability_section(evaluation.reliability),
        rejection_section(evaluation.rejection),
        slices_section(evaluation),
        mistakes_section(evaluation),
    ]
    return page(
        title,
        header,
        element("main", *parts),
        footer(_texts.ROW_NUMBERS),
        styles=[read_resource("lann.report._evaluation", "style.css")],
    )


def save_evaluation(
    path: str | os.PathLike[str], evaluation: Evaluation, *, title: str = "Evaluation"
) -> None:
    """Save a page about an evaluation; it loads nothing and runs no script.

    Parameters
    ----------
    path : str or path-like
        The file; an existing one is replaced.
    evaluation : Evaluation
    title : str, default="Evaluation"

    Raises
    ------
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import load_iris
    >>> from lann.report import evaluate, save_evaluation
    >>> from lann.tables import fit_table
    >>> frame = load_iris(as_frame=True).frame
    >>> evaluation = evaluate(fit_table(frame[::2], "target"), frame[1::2])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_evaluation(os.path.join(folder, "iris.html"), evaluation)
    ...     os.listdir(folder)
    ['iris.html']
    """
    save_page(path, evaluation_page(evaluation, title=title))
