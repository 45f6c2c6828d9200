"""The section about the scores of the model, kNN and a guess."""

from __future__ import annotations

from lann import _texts
from lann._format import NO_FIGURE, figure
from lann._markup import Html, definitions, element, header_cell, table
from lann.persist import CrossValidatedMethod
from lann.report._evaluation.evaluation import Evaluation
from lann.report._evaluation.scores import SCORES, MethodScores
from lann.report._evaluation.texts import interval

HELP = [
    ("Accuracy", "The share of the rows that are predicted correctly."),
    (
        "Balanced accuracy",
        "The mean over the classes of the share of their rows that are predicted correctly.",
    ),
    (
        "AUC",
        "How well probabilities order the rows: the chance that a row of a class has a higher probability of "
        "it than a row of another class. The mean over the classes, each against all others.",
    ),
    ("Log-loss", "The mean of −log of the probability of the label; lower is better."),
    (
        "Brier score",
        "The mean squared error of the probabilities; lower is better. As in scikit-learn, it is summed over "
        "the classes if there are more than two.",
    ),
]


def scores_section(evaluation: Evaluation) -> Html:
    """Return the section about the scores."""
    methods = evaluation.methods
    header = [header_cell("method"), *[header_cell(text, number=True) for text in SCORES.values()]]
    lines = [_line(method.method, method) for method in methods]
    lines += [_difference_line(methods[0].method, method) for method in methods[1:]]
    parts = [
        element("h2", "Scores", id="scores"),
        table("Scores", header, lines, class_="scores"),
        element("p", _texts.INTERVALS, class_="hint"),
    ]
    if len(methods) > 1:
        parts.append(element("p", f"{_texts.PLAIN_KNN} Majority: always the largest class.", class_="hint"))
    if evaluation.audit.cross_validation:
        parts.append(_cross_validation(evaluation.audit.cross_validation))
    parts.append(
        element("details", element("summary", "What the scores mean"), definitions(HELP), class_="help")
    )
    return element("section", *parts, aria_labelledby="scores")


def _line(name: str, method: MethodScores) -> Html:
    cells = []
    for score in SCORES:
        found = method.scores[score]
        bounds = element("span", interval(found), class_="interval")
        cells.append(element("td", figure(found.value), bounds, class_="number"))
    return element("tr", element("th", name, scope="row"), *cells)


def _difference_line(model: str, method: MethodScores) -> Html:
    cells = []
    for score in SCORES:
        found = method.differences[score]
        kind = (
            "better" if method.is_clearly_worse(score) else "worse" if method.is_clearly_better(score) else ""
        )
        bounds = element("span", interval(found, signed=True), class_="interval")
        cells.append(element("td", figure(found.value, signed=True), bounds, class_=f"number {kind}".strip()))
    return element(
        "tr", element("th", f"{model} minus {method.method}", scope="row"), *cells, class_="difference"
    )


def _cross_validation(methods: list[CrossValidatedMethod]) -> Html:
    """Return the scores of the cross-validation on the training data."""
    names = [score for score in SCORES if hasattr(methods[0], score)]
    header = [header_cell("method"), *[header_cell(SCORES[score], number=True) for score in names]]
    lines = [
        element(
            "tr",
            element("th", method.method, scope="row"),
            *[element("td", cross_validated(method, score), class_="number") for score in names],
        )
        for method in methods
    ]
    title = f"{methods[0].n_folds}-fold cross-validation on the training data, before the fit"
    return element(
        "div",
        element("h4", title),
        table(title, header, lines, class_="scores"),
        element("p", "Means ± standard deviations over the folds.", class_="hint"),
    )


def cross_validated(method: CrossValidatedMethod, score: str) -> str:
    """Return a score of a cross-validation as text."""
    mean, std = getattr(method, score), getattr(method, f"{score}_std")
    return NO_FIGURE if mean is None else f"{mean:.3f} ± {std:.3f}"
