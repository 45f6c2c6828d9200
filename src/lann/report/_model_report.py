"""The report of explained predictions: the model, the relevant columns of each class, and the rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import quote, urlsplit

import numpy as np

from lann._markup import MOST_COLUMNS, Html, read_resource, render, save_page
from lann._support.format import percent
from lann._support.types import Floats
from lann._support.validation import Integer, changed_parameters, validate
from lann.columns.schema import Feature
from lann.explain import PageDetails, explanation_page
from lann.report._evaluation import SourceFile, origin
from lann.tables import Column, TableModel

if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation

# Rows with counterfactuals if their number is not given: the first number, fewer with many columns, for each
# of which several changes are tried.
MOST_CHANGED, MOST_TRIED = 100, 20_000
# Addresses that a link may have: files, and pages of a server.
SCHEMES = ("", "file", "http", "https")
# Classes that are listed, and classes whose relevant columns are shown.
MOST_CLASSES, MOST_COMPARED = 20, 12
# Categories that are listed as typical, and their longest text.
MOST_CATEGORIES, MOST_CHARACTERS = 3, 40
# The range that most numbers are in.
QUANTILES = (0.05, 0.5, 0.95)


def report_page(
    model: TableModel | Any,
    explanation: Explanation,
    *,
    title: str = "Explained predictions",
    n_features: int = 10,
    notes: Sequence[str] = (),
    counterfactuals: Counterfactuals | int | Literal["auto"] = "auto",
    explorer: str | None = None,
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
        Number of rows, the first ones, for which the page shows a small change that leads to another
        prediction; 0 for none. "auto" is 100 rows, fewer with more than 14 columns. Or the changes of the
        first rows themselves, such as those of `TableModel.counterfactuals_of_explanation`, which takes
        constraints.
    explorer : str or None, default=None
        Address of a page that `lann.explore` has written, relative to this page: rows and neighbors link to
        it.
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
    if len(explanation) == 0:
        raise ValueError("There are no explained rows to show.")
    if not isinstance(model, TableModel):
        model = TableModel(model)
    if explorer is not None:
        parts = urlsplit(explorer)
        if parts.scheme not in SCHEMES or parts.fragment or not parts.path:
            raise ValueError(f"explorer must be the file name of an explorer; got {explorer!r}.")
        explorer = quote(explorer, safe="/:?&=%~+-._")
    from lann.explain import correlated_columns

    changes = _changes(model, explanation, counterfactuals)
    n_changed = 0 if changes is None else changes.n_queries
    limits = []
    if n_changed not in (0, len(explanation)):
        which = "row" if n_changed == 1 else f"{n_changed} rows"
        limits = [f"What would change the prediction is shown for the first {which}."]
    return explanation_page(
        explanation,
        _model_sections(model, correlated_columns(explanation), n_features),
        title=title,
        n_features=n_features,
        notes=[*notes, *limits],
        styles=[read_resource("lann.report", "templates/explanation.css")],
        details=PageDetails(changes, explorer),
        audit=render(
            "lann.report",
            "audit.html",
            **origin(model.classifier),
            parameters=changed_parameters(model.classifier),
            table_model=model,
            files=files,
        ),
    )


def save_report(
    path: str | os.PathLike[str],
    model: TableModel | Any,
    explanation: Explanation,
    **options: Any,
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
        The keyword arguments of `report_page`: title, n_features, notes, counterfactuals, explorer and
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
    >>> from lann.tables import TableModel
    >>> frame = load_iris(as_frame=True).frame
    >>> model = TableModel.fit(frame, "target")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save_report(os.path.join(folder, "iris.html"), model, model.explain(frame, rows=[0, 70, 140]))
    ...     os.listdir(folder)
    ['iris.html']
    """
    save_page(path, report_page(model, explanation, **options))


def _changes(
    model: TableModel, explanation: Explanation, counterfactuals: Counterfactuals | int | Literal["auto"]
) -> Counterfactuals | None:
    """Return counterfactuals of the first rows; None if there are none."""
    from lann.explain import Counterfactuals, queries_of

    if isinstance(counterfactuals, Counterfactuals):
        if counterfactuals.n_queries > len(explanation):
            raise ValueError(
                f"There are counterfactuals of {counterfactuals.n_queries} rows, but {len(explanation)} "
                "explained rows; give those of the first rows, in their order."
            )
        return counterfactuals
    if counterfactuals == "auto":
        counterfactuals = min(MOST_CHANGED, max(MOST_TRIED // len(model.columns) ** 2, 1))
    validate("counterfactuals", counterfactuals, Integer(0))
    is_grouped = queries_of(explanation).numbers is None
    if counterfactuals == 0 or is_grouped or len(model.classifier.classes_) < 2:
        return None
    return model.counterfactuals_of_explanation(explanation[:counterfactuals])


def _model_sections(model: TableModel, correlated: Mapping[str, list[str]], n_features: int) -> Html:
    """Return the sections about the model, its columns, and their relevance on training rows of each class.

    Columns are described unless all are numbers without missing values.
    """
    from lann.explain import class_relevances

    classifier: Any = model.classifier
    X, schema, columns = classifier.model_.X, getattr(classifier, "schema_", None), []
    if schema is not None and [feature.name for feature in schema.features] != model.feature_names:
        schema = None  # the classifier does not take the columns as they are
    if schema is not None and not (schema.is_numeric and not np.isnan(X).any()):
        described = zip(schema.features[:MOST_COLUMNS], model.columns, X.T, strict=False)
        columns = [
            (feature.name, feature.kind, _typical_text(column, feature, values), np.isnan(values).mean())
            for feature, column, values in described
        ]
    sizes = np.bincount(classifier.model_.labels, minlength=len(classifier.classes_))
    largest = np.argsort(-sizes, kind="stable")
    compared = np.sort(largest[:MOST_COMPARED])
    compared = compared[sizes[compared] > 0].tolist()  # classes without rows have no relevances
    relevances = class_relevances(classifier)[compared]
    order = np.argsort(-relevances.max(axis=0), kind="stable")[:MOST_COLUMNS]
    return render(
        "lann.report",
        "model.html",
        model=model,
        classifier=classifier,
        schema=schema,
        sizes=sizes.tolist(),
        listed=np.sort(largest[:MOST_CLASSES]).tolist(),
        parameters=changed_parameters(classifier),
        columns=columns,
        compared=compared,
        relevances=[(model.feature_names[j], relevances[:, j].tolist()) for j in order],
        full=float(relevances.max()),
        correlated=correlated,
        n_features=n_features,
    )


def _typical_text(column: Column, feature: Feature, numbers: Floats) -> str:
    """Return typical values of a column, given as numbers with NaN for gaps, as the table writes them."""
    present = numbers[~np.isnan(numbers)]
    if feature.kind in ("number", "date"):
        low, middle, high = (
            column.format(feature.value(value)) for value in np.quantile(present, QUANTILES, method="nearest")
        )
        return f"{middle} ({low} to {high})"
    codes, counts = np.unique(present, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    listed = []
    for i in order[:MOST_CATEGORIES]:
        text = column.format(feature.value(codes[i]))
        text = text[:MOST_CHARACTERS] + "…" * (len(text) > MOST_CHARACTERS)
        listed.append(f"{text} {percent(counts[i] / len(numbers))}")
    n_more = len(codes) - len(listed)
    return ", ".join(listed) + (f" and {n_more} more" if n_more else "")
