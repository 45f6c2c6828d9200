"""The sections about the classes and their confusions."""

from __future__ import annotations

import numpy as np

from lann._format import NO_FIGURE, percent
from lann._markup import Html, bar_cell, class_label, element, folded_table, header_cell, table
from lann.report._evaluation.by_class import ClassScores
from lann.report._evaluation.evaluation import Evaluation
from lann.report._evaluation.scores import Score
from lann.report._evaluation.texts import count_text, share, share_interval

# With more classes than this, the names of the columns are vertical, and cells are small.
MANY_CLASSES = 6
# Lines of the table of classes that are shown at once.
MOST_CLASSES = 20


def class_section(evaluation: Evaluation) -> Html:
    """Return the section about precision and recall by class, the lowest recall first if there are many."""
    found = list(enumerate(evaluation.by_class))
    if len(found) > MOST_CLASSES:
        found.sort(key=lambda pair: (np.isnan(pair[1].recall.value), pair[1].recall.value))
    header = [header_cell("class"), header_cell("rows", number=True), header_cell("predicted", number=True)]
    header += [header_cell("precision"), header_cell("recall"), header_cell("F1", number=True)]
    lines = [_class_line(scores, index) for index, scores in found]
    n_more = len(lines) - MOST_CLASSES
    order = "; the classes with the lowest recall come first" if len(found) > MOST_CLASSES else ""
    return element(
        "section",
        element("h2", "By class", id="classes"),
        element(
            "p",
            "Precision: the share of the rows predicted as the class that have its label. Recall: the share "
            f"of the rows with its label that are predicted as the class{order}.",
        ),
        folded_table("By class", header, lines, MOST_CLASSES, n_more, class_="by-class", noun="class"),
        aria_labelledby="classes",
    )


def _class_line(scores: ClassScores, index: int) -> Html:
    name = class_label(scores.label, index)
    unknown = [] if scores.is_known else [" ", element("i", "(not known to the model)")]
    return element(
        "tr",
        element("th", name, *unknown, scope="row"),
        element("td", f"{scores.n_rows:,}", class_="number"),
        element("td", f"{scores.n_predicted:,}", class_="number"),
        share_cell(scores.precision, index),
        share_cell(scores.recall, index),
        element("td", share(scores.f1), class_="number"),
    )


def share_cell(score: Score, class_index: int | None = None) -> Html:
    """Return a cell with a bar, the share, and its interval."""
    if np.isnan(score.value):
        return element("td", NO_FIGURE, class_="bars")
    bar = bar_cell(score.value, 1.0, percent(score.value, 1), class_index)
    bounds = element("span", share_interval(score), class_="interval")
    return Html(f"{bar.removesuffix('</td>')}{bounds}</td>")


def confusion_section(evaluation: Evaluation) -> Html:
    """Return the section with the confusion matrix."""
    matrix, classes = evaluation.confusion_matrix, evaluation.classes
    are_many = len(classes) > MANY_CLASSES
    header = [header_cell("label")]
    for index, label in enumerate(classes):
        name = class_label(label, index)
        header.append(
            header_cell(element("span", name, class_="vertical") if are_many else name, number=True)
        )
    lines = [
        element(
            "tr",
            element("th", class_label(label, index), scope="row"),
            *_matrix_cells(matrix[index], index),
        )
        for index, label in enumerate(classes)
    ]
    pairs = evaluation.confused_pairs()
    listed = []
    if pairs and len(classes) > 2:
        listed.append(element("p", f"Most frequent confusions: {'; '.join(pairs)}."))
    return element(
        "section",
        element("h2", "Confusion matrix", id="confusions"),
        element(
            "p",
            "A line for each label, a column for each prediction; the color is the share of the line. "
            "Correct predictions are on the diagonal.",
        ),
        *listed,
        table("Confusion matrix", header, lines, class_="matrix many" if are_many else "matrix"),
        aria_labelledby="confusions",
    )


def _matrix_cells(counts: np.ndarray, own: int) -> list[Html]:
    total, cells = counts.sum(), []
    for index, count in enumerate(counts):
        part = count / total if total else 0.0
        kind = "right" if index == own else "wrong"
        cells.append(
            element(
                "td",
                count_text(count) if count or index == own else "·",
                class_=f"number {kind}" if count else "number none",
                style=f"--share:{100 * part:.1f}%",
                title=f"{percent(part, 1)} of the line" if count else None,
            )
        )
    return cells
