"""Precision, recall and confusions by class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import confusion_matrix, precision_recall_fscore_support

from lann._types import Floats
from lann.report._evaluation.predictions import Predictions
from lann.report._evaluation.scores import Score, wilson_interval


@dataclass(frozen=True)
class ClassScores:
    """Precision, recall and F1 of a class; NaN where they are not defined.

    Attributes
    ----------
    label : object
    precision : Score
        Share of the rows predicted as this class that have this label.
    recall : Score
        Share of the rows with this label that are predicted as this class.
    f1 : float
        Harmonic mean of both.
    n_rows : int
        Number of test rows with this label.
    n_predicted : int
        Number of test rows predicted as this class.
    is_known : bool
        Whether the model knows the class.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from lann import LANNClassifier
    >>> from lann.report import evaluate
    >>> X, y = load_iris(return_X_y=True)
    >>> by_class = evaluate(LANNClassifier(random_state=0).fit(X[::2], y[::2]), X[1::2], y[1::2]).by_class
    >>> [(scores.label, scores.recall.value, scores.n_rows) for scores in by_class[:2]]
    [(0, 1.0, 25), (1, 0.92, 25)]
    """

    label: Any
    precision: Score
    recall: Score
    f1: float
    n_rows: int
    n_predicted: int
    is_known: bool = True


def class_scores(rows: Predictions) -> list[ClassScores]:
    """Return the scores of each class, in the order of the classes."""
    truth, predicted, correct = rows.truth, rows.predicted, rows.correct.astype(float)
    precisions, recalls, f1, _ = precision_recall_fscore_support(
        truth, predicted, labels=range(len(rows.classes)), sample_weight=rows.weights, zero_division=np.nan
    )
    found = []
    for index, label in enumerate(rows.classes.tolist()):
        own, named = truth == index, predicted == index
        found.append(
            ClassScores(
                label,
                Score(float(precisions[index]), *wilson_interval(correct[named], rows.weights[named])),
                Score(float(recalls[index]), *wilson_interval(correct[own], rows.weights[own])),
                float(f1[index]),
                int(own.sum()),
                int(named.sum()),
                index < rows.n_known,
            )
        )
    return found


def confusions(rows: Predictions) -> Floats:
    """Return how many rows of each class are predicted as each class, by weight: (n_classes, n_classes)."""
    matrix: Floats = confusion_matrix(
        rows.truth, rows.predicted, labels=range(len(rows.classes)), sample_weight=rows.weights
    )
    return matrix.astype(np.float64)
