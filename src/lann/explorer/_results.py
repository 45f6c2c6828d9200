"""The results of the rows of a page: predictions, confidences, relevances, reasons, suspicious labels."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from sklearn.metrics import recall_score, roc_auc_score

from lann._support.format import figure, percent
from lann._support.types import Floats, Indices, Labels
from lann.explain import Suspicion, build_explanation, suspicious_rows
from lann.explorer._source import Source
from lann.model import NeighborModel
from lann.tables import NO_LABEL

# Rows that are explained at once.
BLOCK = 4096
# Rows whose reasons are computed at once, each of which takes milliseconds.
REASONS_BLOCK = 100
# A prediction whose probability is lower needs its reasons more than others.
DOUBTFUL = 0.6
# Of a model that the page cannot compute, so many neighbors of each row are stored.
MOST_NEIGHBORS = 20

Progress = Callable[[float, float], None]


class RowResults(NamedTuple):
    """Results of rows; an array of a value for each, or of a value for each row and feature or neighbor."""

    predictions: Labels
    confidences: Floats
    runner_ups: Labels
    runner_up_probabilities: Floats
    label_probabilities: Floats  # NaN without a label
    relevances: Floats
    is_far: Floats
    neighbors: Indices
    shares: Floats
    distances: Floats


def row_results(source: Source, report: Progress) -> RowResults:
    """Return the results of all rows; a training row does not vote on itself."""
    blocks = []
    for start in range(0, source.n_rows, BLOCK):
        part = slice(start, min(start + BLOCK, source.n_rows))
        blocks.append(_results(_explain(source, np.arange(part.start, part.stop)), source.labels[part]))
        report(part.stop, source.n_rows)
    return RowResults(*map(np.concatenate, zip(*blocks, strict=True)))


def _explain(source: Source, rows: Indices) -> Any:
    """Return the explanation of some rows."""
    model: NeighborModel = source.model
    exclude = None
    if model.has_training_rows:
        exclude = np.where(rows < source.n_training, rows, -1)
    return build_explanation(
        model,
        source.X[rows],
        classes=np.arange(model.n_classes),
        feature_names=source.names,
        exclude=exclude,
        n_jobs=source.classifier.n_jobs,
    )


def _results(explanation: Any, labels: Labels) -> RowResults:
    """Collect what a page has of an explanation: the only place that reads one."""
    probabilities, every = explanation.probabilities, np.arange(len(labels))
    two = np.argsort(-probabilities, axis=1, kind="stable")[:, :2]
    known = (labels != NO_LABEL) & (labels < probabilities.shape[1])
    of_labels = np.where(known, probabilities[every, np.where(known, labels, 0)], 0.0)
    is_far = np.zeros(len(labels), bool) if explanation.is_far is None else explanation.is_far
    near = slice(0, min(MOST_NEIGHBORS, explanation.neighbors.shape[1]))
    return RowResults(
        predictions=two[:, 0],
        confidences=probabilities[every, two[:, 0]],
        runner_ups=two[:, 1],
        runner_up_probabilities=probabilities[every, two[:, 1]],
        label_probabilities=np.where(labels == NO_LABEL, np.nan, of_labels),
        relevances=explanation.relevances,
        is_far=is_far,
        neighbors=explanation.neighbors[:, near],
        shares=explanation.vote_shares[:, near],
        distances=explanation.distances[:, near],
    )


def scores_of(source: Source, results: RowResults, rows: Indices) -> list[tuple[str, str]]:
    """Return the scores of the predictions of some rows, by name and as they are shown."""
    rows = rows[source.labels[rows] != NO_LABEL]
    if len(rows) == 0:
        return []
    labels, predictions = source.labels[rows], results.predictions[rows]
    losses = -np.log(np.maximum(results.label_probabilities[rows], np.finfo(np.float64).tiny))
    scores = [
        ("accuracy", percent(float(np.mean(labels == predictions)), 1)),
        (
            "balanced accuracy",
            percent(float(recall_score(labels, predictions, average="macro", labels=np.unique(labels))), 1),
        ),
    ]
    if source.model.n_classes == 2 and set(labels.tolist()) == {0, 1}:
        confidences = results.confidences[rows]
        second = np.where(predictions == 1, confidences, 1 - confidences)
        scores.append(("area under the ROC curve", figure(float(roc_auc_score(labels, second)))))
    return [*scores, ("log-loss", figure(float(losses.mean())))]


class Reasons(NamedTuple):
    """What the value of each feature adds to the probability of the prediction, for some rows.

    Attributes
    ----------
    rows : (n_explained,)
        Ascending.
    supports, errors : (n_explained, n_features)
        With their standard errors.
    base_values : (n_explained,)
        With the supports, they add up to the probability.
    """

    rows: Indices
    supports: Floats
    errors: Floats
    base_values: Floats


def row_reasons(source: Source, results: RowResults, most: int, report: Progress) -> Reasons:
    """Return the reasons of at most `most` rows: first of those that look wrong or are doubtful."""
    n_rows = source.n_rows
    wrong = (source.labels != NO_LABEL) & (source.labels != results.predictions)
    urgent = np.flatnonzero(wrong | (results.confidences < DOUBTFUL))
    urgent = urgent[np.linspace(0, len(urgent) - 1, min(len(urgent), most)).astype(np.int64)]
    others = np.setdiff1d(np.arange(n_rows), urgent)
    n_others = min(len(others), most - len(urgent))
    others = others[np.linspace(0, len(others) - 1, n_others).astype(np.int64)]
    rows = np.sort(np.concatenate([urgent, others]))
    supports, errors = (np.empty((len(rows), source.X.shape[1])) for _ in range(2))
    base_values = np.empty(len(rows))
    for start in range(0, len(rows), REASONS_BLOCK):
        part = slice(start, start + REASONS_BLOCK)
        explanation, every = _explain(source, rows[part]), np.arange(len(rows[part]))
        predicted = every, results.predictions[rows[part]]
        supports[part], errors[part] = explanation.supports[predicted], explanation.support_errors[predicted]
        base_values[part] = explanation.base_values[predicted]
        report(start + len(every), len(rows))
    return Reasons(rows, supports, errors, base_values)


def label_suspicion(source: Source) -> Suspicion | None:
    """Return how suspicious the label of each training row is."""
    if not source.model.has_training_rows or source.n_training < 3:
        return None
    return suspicious_rows(source.classifier)
