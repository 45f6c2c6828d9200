"""Scores of a model on test rows, with 95% intervals.

The scores are those of scikit-learn. The interval of an accuracy is Wilson's; all others are percentiles over
resamples of the rows (the bootstrap), which are the same for all methods, so that differences are of pairs.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy import sparse
from sklearn.metrics import (
    accuracy_score,
    balanced_accuracy_score,
    brier_score_loss,
    f1_score,
    log_loss,
    roc_auc_score,
)

from lann._support.types import Floats, Labels

SCORES = {
    "accuracy": "accuracy",
    "balanced_accuracy": "balanced accuracy",
    "auc": "AUC",
    "log_loss": "log-loss",
    "brier": "Brier score",
}
# Larger is better; the others are losses.
GAINS = ("accuracy", "balanced_accuracy", "auc")
# The 97.5% quantile of the normal distribution.
Z = 1.959963984540054
# Numbers of a block of resamples, which fit into a cache.
BLOCK = 400_000


class Score(NamedTuple):
    """A score with its 95% interval; NaN where it is not defined.

    Attributes
    ----------
    value : float
    low, high : float
        Bounds of the interval.

    Examples
    --------
    >>> from lann.report import Score
    >>> Score(0.95, 0.91, 0.98).value
    0.95
    """

    value: float
    low: float = np.nan
    high: float = np.nan


class Predictions:
    """Test rows with the probabilities of a model; class indices are positions in `classes`.

    Attributes
    ----------
    classes : ndarray of shape (n_classes,)
        Those of the model, and after them labels that the model does not know.
    n_known : int
        Number of the classes that the model knows.
    truth : ndarray of shape (n_rows,)
        Class indices of the labels.
    probabilities : ndarray of shape (n_rows, n_known)
    weights : ndarray of shape (n_rows,)
        Sample weights.
    predicted : ndarray of shape (n_rows,)
        Class indices of the predictions.
    confidences : ndarray of shape (n_rows,)
        Probabilities of the predictions.
    correct, is_known : ndarray of shape (n_rows,)
        Whether the predictions are correct, and whether the model knows the labels.
    """

    def __init__(
        self, classes: NDArray[Any], n_known: int, truth: Labels, probabilities: Floats, weights: Floats
    ) -> None:
        self.classes, self.n_known, self.truth = classes, n_known, truth
        self.probabilities, self.weights = probabilities, weights
        self.predicted, self.confidences = probabilities.argmax(axis=1), probabilities.max(axis=1)
        self.correct, self.is_known = self.predicted == truth, truth < n_known

    @classmethod
    def from_labels(
        cls, labels: NDArray[Any], probabilities: Floats, classes: NDArray[Any], weights: Floats | None
    ) -> Predictions:
        """Return the predictions for rows with labels; unknown labels are appended to the classes."""
        known = classes.tolist()
        unknown = sorted(set(labels.tolist()) - set(known), key=str)
        every = np.array([*known, *unknown], dtype=object if unknown else classes.dtype)
        indices = {label: index for index, label in enumerate(every.tolist())}
        truth = np.array([indices[label] for label in labels.tolist()], dtype=np.int64)
        weights = np.ones(len(labels)) if weights is None else weights
        return cls(every, len(classes), truth, probabilities, weights)

    def with_probabilities(self, probabilities: Floats, classes: NDArray[Any]) -> Predictions:
        """Return the same rows with the probabilities of another model, whose classes may be fewer."""
        aligned = np.zeros_like(self.probabilities)
        known = self.classes[: self.n_known].tolist()
        aligned[:, [known.index(label) for label in classes.tolist()]] = probabilities
        return Predictions(self.classes, self.n_known, self.truth, aligned, self.weights)

    def __len__(self) -> int:
        return len(self.truth)

    def accuracy(self, rows: NDArray[np.bool_]) -> Score:
        """Return the accuracy on some rows, NaN if there are none; `rows` is a mask: (n_rows,)."""
        correct, weights = self.correct[rows].astype(float), self.weights[rows]
        if len(correct) == 0:
            return Score(np.nan)
        return Score(float(np.average(correct, weights=weights)), *wilson_interval(correct, weights))


def score_table(methods: Mapping[str, Predictions], *, n_resamples: int, random_state: int) -> pd.DataFrame:
    """Return the scores of methods on the same rows; the first is the model that others are compared with.

    Parameters
    ----------
    methods : mapping of str to Predictions
    n_resamples : int
        Number of resamples; 0 gives no intervals but those of the accuracies.
    random_state : int
        Determines the resamples.

    Returns
    -------
    table : DataFrame
        As `Evaluation.scores`.
    """
    first = next(iter(methods.values()))
    values = [score_values(rows) for rows in methods.values()]
    drawn = [np.empty((len(methods), 0, len(SCORES)))]
    if len(first) > 1 and n_resamples:
        scorers = [_Resampled(rows) for rows in methods.values()]
        for weights in _blocks(first.weights, n_resamples, random_state):
            drawn.append(np.stack([scorer.scores(weights) for scorer in scorers]))
    samples, lines = np.concatenate(drawn, axis=1), {}
    for method, (name, rows) in enumerate(methods.items()):
        for number, score in enumerate(SCORES):
            own, difference = samples[method, :, number], Score(np.nan)
            is_accuracy, correct = score == "accuracy", rows.correct.astype(float)
            interval = wilson_interval(correct, rows.weights) if is_accuracy else _interval(own)
            if method > 0:
                gap = values[0][score] - values[method][score]
                difference = Score(gap, *_interval(samples[0, :, number] - own))
            sign = 1 if score in GAINS else -1
            low, high = sorted([sign * difference.low, sign * difference.high])
            verdict = "better" if low > 0 else "worse" if high < 0 else ""
            lines[name, score] = [values[method][score], *interval, *difference, verdict]
    columns = ["value", "low", "high", "difference", "difference_low", "difference_high", "verdict"]
    table = pd.DataFrame.from_dict(lines, orient="index", columns=columns)
    return table.set_axis(pd.MultiIndex.from_tuples(lines, names=["method", "score"]))


def score_values(rows: Predictions) -> dict[str, float]:
    """Return the scores of scikit-learn; NaN for one that is not defined.

    AUC, log-loss and Brier score are of the rows whose class the model knows. The AUC is that of each class
    against all others, averaged over the classes that the rows have.
    """
    predicted, known = rows.predicted, rows.is_known
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="y_pred contains classes not in y_true")
        warnings.filterwarnings("ignore", message="A single label was found")
        balanced = balanced_accuracy_score(rows.truth, predicted, sample_weight=rows.weights)
    accuracy = accuracy_score(rows.truth, predicted, sample_weight=rows.weights)
    values = dict.fromkeys(SCORES, np.nan) | {"accuracy": accuracy, "balanced_accuracy": balanced}
    if known.any():
        truth, probabilities, weights = rows.truth[known], rows.probabilities[known], rows.weights[known]
        classes = range(rows.n_known)
        areas = [
            roc_auc_score(truth == index, probabilities[:, index], sample_weight=weights)
            for index in _scored_classes(truth, rows.n_known)
        ]
        values["auc"] = np.mean(areas) if areas else np.nan
        values["log_loss"] = log_loss(truth, probabilities, labels=classes, sample_weight=weights)
        if rows.n_known == 2:
            probabilities = probabilities[:, 1]
        values["brier"] = brier_score_loss(
            truth, probabilities, sample_weight=weights, labels=list(classes), pos_label=1
        )
    return {score: float(value) for score, value in values.items()}


def wilson_interval(correct: Floats, weights: Floats) -> tuple[float, float]:
    """Return Wilson's 95% interval of a share; weights reduce the number of rows to the effective one.

    Parameters
    ----------
    correct, weights : (n_rows,)
    """
    weights = weights / weights.max()  # squares of tiny or huge ones would leave the range of a float
    share = float(np.average(correct, weights=weights))
    n_rows = float(weights.sum() ** 2 / (weights**2).sum())
    middle = (share + Z**2 / (2 * n_rows)) / (1 + Z**2 / n_rows)
    half = Z / (1 + Z**2 / n_rows) * np.sqrt(share * (1 - share) / n_rows + (Z / (2 * n_rows)) ** 2)
    # The bounds of 0 and 1 are exact.
    low = 0.0 if share == 0 else max(float(middle - half), 0.0)
    high = 1.0 if share == 1 else min(float(middle + half), 1.0)
    return low, high


def _scored_classes(truth: NDArray[Any], n_classes: int) -> list[int]:
    """Return the classes whose AUC is computed; of two classes, one, as both have the same."""
    present = np.unique(truth)
    if len(present) < 2:
        return []
    return [1] if n_classes == 2 else present.tolist()


def _blocks(weights: Floats, n_resamples: int, random_state: int) -> Iterator[Floats]:
    """Yield the weights of the rows in resamples, some resamples at a time: (n_rows, n_block)."""
    rng, n_rows = np.random.default_rng(random_state), len(weights)
    most = max(BLOCK // n_rows, 1)
    for start in range(0, n_resamples, most):
        drawn = rng.integers(0, n_rows, (min(most, n_resamples - start), n_rows))
        counts = np.array([np.bincount(rows, minlength=n_rows) for rows in drawn])
        yield np.ascontiguousarray((counts * weights).T)


class _Resampled:
    """The scores of a method in resamples of its rows, from quantities that are computed once."""

    def __init__(self, rows: Predictions) -> None:
        known = rows.is_known
        truth = np.where(known, rows.truth, 0)
        n_rows, every = len(rows), np.arange(len(rows))
        own = rows.probabilities[every, truth]
        self._correct = rows.correct.astype(float)
        self._known = known.astype(float)
        # As in scikit-learn's log_loss, which replaces 0 by the smallest step of a float.
        tiny = np.finfo(np.float64).eps
        self._losses = np.where(known, -np.log(np.clip(own, tiny, 1 - tiny)), 0.0)
        squared = (rows.probabilities**2).sum(axis=1) - 2 * own + 1.0
        self._squared = np.where(known, squared / (2.0 if rows.n_known == 2 else 1.0), 0.0)
        shape = (n_rows, len(rows.classes))
        self._classes = sparse.csr_matrix((np.ones(n_rows), (every, rows.truth)), shape).T
        self._areas = [
            _Area(rows.truth == index, rows.probabilities[:, index], known)
            for index in _scored_classes(rows.truth[known], rows.n_known)
        ]

    def scores(self, weights: Floats) -> Floats:
        """Return the scores in resamples, NaN where one is not defined: (n_block, n_scores).

        Parameters
        ----------
        weights : (n_rows, n_block)
        """
        by_class = self._classes @ weights
        correct_by_class = self._classes @ (weights * self._correct[:, None])
        recalls = _ratio(correct_by_class, by_class)
        n_known = self._known @ weights
        areas = [area.values(weights) for area in self._areas]
        return np.stack(
            [
                self._correct @ weights / weights.sum(axis=0),
                _mean_of_known(recalls),
                _mean_of_known(np.array(areas)) if areas else np.full(weights.shape[1], np.nan),
                _ratio(self._losses @ weights, n_known),
                _ratio(self._squared @ weights, n_known),
            ],
            axis=1,
        )


class _Area:
    """The AUC of a class under any weights of the rows: the rows are sorted once."""

    def __init__(self, is_own: NDArray[np.bool_], scores: Floats, known: NDArray[np.bool_]) -> None:
        self._own = np.flatnonzero(is_own & known)
        others = np.flatnonzero(~is_own & known)
        ordered, own = np.sort(scores[others]), scores[self._own]
        # Of each row of the class: how many others have a lower score, and how many one that is not higher.
        below = np.searchsorted(ordered, own, side="left")
        up_to = np.searchsorted(ordered, own, side="right")
        # Sums of weights are needed at these positions only: others between two of them are a group.
        edges = np.unique(np.concatenate([[0], below, up_to]))
        self._below, self._up_to = np.searchsorted(edges, below), np.searchsorted(edges, up_to)
        position = np.empty(len(others), dtype=np.int64)
        position[np.argsort(scores[others], kind="stable")] = np.arange(len(others))
        groups = np.searchsorted(edges, position, side="right")
        shape = (len(edges) + 1, len(scores))
        self._groups = sparse.csr_matrix((np.ones(len(others)), (groups, others)), shape)

    def values(self, weights: Floats) -> Floats:
        """Return the AUC for each column of weights, NaN if it has one class: (n_block,)."""
        own = weights[self._own]
        sums = np.cumsum(self._groups @ weights, axis=0)  # of others below each edge, and of all
        wins = (own * (sums[self._below] + sums[self._up_to])).sum(axis=0) / 2
        return _ratio(wins, own.sum(axis=0) * sums[-1])


def _ratio(numerator: Any, denominator: Any) -> Floats:
    """Return a ratio, NaN where the denominator is 0."""
    return np.divide(numerator, denominator, out=np.full(numerator.shape, np.nan), where=denominator > 0)


def _mean_of_known(values: Floats) -> Floats:
    """Return the mean of each column without NaN; NaN if there is nothing else."""
    is_known = ~np.isnan(values)
    return _ratio(np.where(is_known, values, 0.0).sum(axis=0), is_known.sum(axis=0))


def _interval(samples: Floats) -> tuple[float, float]:
    """Return the 2.5% and the 97.5% quantile of resamples; NaN if all are equal, which is no interval."""
    known = samples[~np.isnan(samples)]
    if len(known) == 0 or np.ptp(known) < 1e-12:
        return np.nan, np.nan
    low, high = np.quantile(known, [0.025, 0.975])
    return float(low), float(high)


def class_table(rows: Predictions) -> pd.DataFrame:
    """Return precision, recall and F1 of each class, as `Evaluation.by_class` has them."""
    every = range(len(rows.classes))
    truth, predicted = rows.truth, rows.predicted
    f1 = f1_score(
        truth, predicted, labels=every, average=None, sample_weight=rows.weights, zero_division=np.nan
    )
    parts = [pd.DataFrame({"label": rows.classes.tolist()})]
    for name, classes in (("precision", predicted), ("recall", truth)):
        scores = [rows.accuracy(classes == index) for index in every]
        parts.append(pd.DataFrame(scores, columns=[name, f"{name}_low", f"{name}_high"]))
    return pd.concat(parts, axis=1).assign(
        f1=f1,
        n_rows=np.bincount(truth, minlength=len(every)),
        n_predicted=np.bincount(predicted, minlength=len(every)),
        is_known=np.arange(len(every)) < rows.n_known,
    )
