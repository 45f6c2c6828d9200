"""The report of explained predictions: the model, the relevant columns of each class, and the rows."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypedDict, Unpack
from urllib.parse import quote, urlsplit

import numpy as np

from lann._markup import MOST_COLUMNS, Html, read_resource, render, save_page
from lann._support.format import counted, percent
from lann._support.types import Floats
from lann._support.validation import Integer, changed_parameters, validate
from lann.columns.schema import Feature, TableSchema
from lann.explain import PageDetails, explanation_page
from lann.report._audit import audit_header
from lann.report._evaluation import SourceFile
from lann.tables import Column, TableModel

if TYPE_CHECKING:
    from lann.explain import Counterfactuals, Explanation

# Rows of which counterfactuals are found if their number is not given: so many, and fewer with many columns,
# for each of which several changes are tried.
MOST_CHANGED, MOST_TRIED = 100, 20_000
# Addresses that a link may have: files, and pages of a server.
SCHEMES = ("", "file", "http", "https")
# Classes that are listed, and classes whose relevant columns are shown.
MOST_CLASSES, MOST_COMPARED = 20, 12
# Categories that are listed as typical, and their longest text.
MOST_CATEGORIES, MOST_CHARACTERS = 3, 40
# The range that most numbers are in.
QUANTILES = (0.05, 0.5, 0.95)
KINDS = {
    "number": ("number", "numbers"),
    "category": ("category", "categories"),
    "ordered": ("ordered category", "ordered categories"),
    "bool": ("true or false", "true or false"),
    "date": ("date", "dates"),
    "empty": ("without values", "without values"),
}
LEVELS = {
    "curves": "feature curves (where along a column differences matter)",
    "map": "a linear map (which columns are measured together)",
    "class": "class metrics (which columns matter to each class)",
    "point": "point metrics (which columns matter to each training row)",
}
POSITIONS = "positions of categories (which ones are alike)"
METRICS = {"diagonal": "a weight per column", "low_rank": "a small matrix", "full": "a full matrix"}
# Parameters that other facts mention, or that do not change the result.
NOT_LISTED = {"n_neighbors", "metric", "levels", "random_state"}


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
    if embedding is not None:
        parts = urlsplit(embedding)
        if parts.scheme not in SCHEMES or parts.fragment or not parts.path:
            raise ValueError(f"embedding must be the file name of an embedding page; got {embedding!r}.")
        embedding = quote(embedding, safe="/:?&=%~+-._")
    from lann.explain import contrast_of_explanation  # imports numba

    contrast = contrast_of_explanation(model.classifier, explanation, row_numbers=model.row_numbers)
    changes = _changes(model, explanation, counterfactuals)
    n_changed = 0 if changes is None else len(changes)
    limits = []
    if n_changed not in (0, len(explanation)):
        which = "row" if n_changed == 1 else f"{n_changed} rows"
        limits = [f"What would change the prediction is shown for the first {which}."]
    return explanation_page(
        explanation,
        _model_sections(model, explanation.correlated, n_features),
        title=title,
        n_features=n_features,
        notes=[*notes, *limits],
        styles=[read_resource("lann.report", "templates/explanation.css")],
        details=PageDetails(contrast, changes, embedding),
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
    from lann.explain import Counterfactuals

    if isinstance(counterfactuals, Counterfactuals):
        if len(counterfactuals) > len(explanation):
            raise ValueError(
                f"There are {len(counterfactuals)} counterfactuals of {len(explanation)} explained rows; "
                "give those of the first rows, in their order."
            )
        return counterfactuals
    if counterfactuals == "auto":
        n_rows = min(MOST_CHANGED, max(MOST_TRIED // len(model.columns) ** 2, 1))
    else:
        validate("counterfactuals", counterfactuals, Integer(0))
        n_rows = counterfactuals
    if n_rows == 0 or explanation.has_groups or len(model.classifier.classes_) < 2:
        return None
    return model.counterfactuals_of_explanation(explanation[:n_rows])


def _model_sections(model: TableModel, correlated: Mapping[str, list[str]], n_features: int) -> Html:
    """Return the sections about the model, its columns, and their relevance on training rows of each class.

    Columns are described unless all are numbers without missing values.
    """
    from lann.explain import class_relevances  # imports numba

    classifier: Any = model.classifier
    X, classes = classifier.model_.X, classifier.classes_
    schema: TableSchema | None = getattr(classifier, "schema_", None)
    if schema is None or [feature.name for feature in schema.features] != model.feature_names:
        schema = None  # the classifier does not take the columns as they are
    columns = []
    if schema is not None and not (schema.is_numeric and not np.isnan(X).any()):
        columns = [
            (
                feature.name,
                KINDS[feature.kind][0],
                _typical_text(model.columns[number], feature, X[:, number]),
                float(np.isnan(X[:, number]).mean()),
            )
            for number, feature in enumerate(schema.features[:MOST_COLUMNS])
        ]
    relevances = class_relevances(classifier)
    sizes = np.bincount(classifier.model_.labels, minlength=len(classes))
    largest = np.argsort(-sizes, kind="stable")
    n_shown = min(MOST_COMPARED, int((sizes > 0).sum()))  # classes without rows have no relevances
    shown = np.sort(largest[:n_shown]).tolist()
    relevances = relevances[shown]
    order = np.argsort(-relevances.max(axis=0), kind="stable")[:MOST_COLUMNS]
    listed = [(k, classes[k], int(sizes[k])) for k in np.sort(largest[:MOST_CLASSES]).tolist()]
    return render(
        "lann.report",
        "model.html",
        facts=_facts(model, schema, listed),
        n_more_classes=len(classes) - len(listed),
        columns=columns,
        classes=[(k, classes[k]) for k in shown],
        is_cut=n_shown < len(sizes),
        relevances=[(model.feature_names[j], relevances[:, j].tolist()) for j in order],
        full=float(relevances.max()),
        correlated=list(correlated.values()),
        n_features=n_features,
        n_columns=len(model.feature_names),
    )


def _facts(
    model: TableModel, schema: TableSchema | None, classes: list[tuple[int, Any, int]]
) -> list[tuple[str, Any]]:
    """Return terms about the model, with their texts; the classes have their numbers of training rows."""
    classifier: Any = model.classifier
    columns = str(len(model.columns))
    if schema is not None and not schema.is_numeric:
        kinds = [feature.kind for feature in schema.features]
        texts = [counted(kinds.count(kind), *names) for kind, names in KINDS.items() if kind in kinds]
        columns = f"{len(kinds)}: {', '.join(texts)}"
    facts: list[tuple[str, Any]] = [] if model.target is None else [("Predicts", model.target)]
    facts += [
        ("Classes", classes),
        ("Training rows", f"{len(classifier.model_.labels):,}"),
        ("Columns", columns),
    ]
    if hasattr(classifier, "levels_"):
        learned = [text for level, text in LEVELS.items() if level in classifier.levels_]
        if any(positions.is_learned for positions in classifier.encoding_.positions):
            learned.insert(0, POSITIONS)
        facts.append(("Learned", "; ".join(learned) or "nothing: plain nearest neighbors"))
        facts.append(("Metric of a training row", METRICS[classifier.metric]))
    else:
        facts.append(("Method", type(classifier).__name__))
    vote = getattr(classifier, "vote_", None)
    facts.append(("Neighbors that vote", str(classifier.model_.n_neighbors if vote is None else vote)))
    changed = changed_parameters(classifier).items()
    if parameters := [f"{name}={value!r}" for name, value in changed if name not in NOT_LISTED]:
        facts.append(("Other parameters", ", ".join(parameters)))
    return facts


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
        shortened = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}…"
        listed.append(f"{shortened} {percent(counts[i] / len(numbers))}")
    n_more = len(codes) - len(listed)
    return ", ".join(listed) + (f" and {n_more} more" if n_more else "")
