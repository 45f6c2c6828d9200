"""Prequential evaluation: every row of a stream is first predicted and then learned."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable
from copy import deepcopy
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lann._support.types import Floats, Indices
from lann._support.validation import Integer, validate
from lann.streams._alarms import Alarm, DriftDetector

# scikit-learn's log_loss counts a probability of 0 as this.
EPSILON = float(np.finfo(np.float64).eps)
MOST_RESETS = 1000
# The code of no prediction, and of the label before the first row.
NONE = -1


class PrequentialScores(NamedTuple):
    """Scores of the predictions of some rows of a stream.

    Attributes
    ----------
    n_rows : int
        Number of rows.
    accuracy : float
        Share of the rows with a correct prediction.
    kappa : float
        Cohen's kappa: accuracy above that of the same predictions in random order, 1 at best. 0 where it is
        not defined.
    kappa_temporal : float
        Accuracy above that of the classifier that predicts the label of the row before, 1 at best. Below 0,
        this classifier is better. 0 where it is not defined.
    log_loss : float
        Mean of −log of the probability of the true label; a probability of 0 counts as the machine epsilon.
    no_change_accuracy : float
        Accuracy of the classifier that predicts the label of the row before.
    majority_accuracy : float
        Accuracy of the classifier that predicts the most frequent label so far.
    """

    n_rows: int
    accuracy: float
    kappa: float
    kappa_temporal: float
    log_loss: float
    no_change_accuracy: float
    majority_accuracy: float


class PrequentialCurve(NamedTuple):
    """Scores in a moving window, and sizes of the memories, at several rows of a stream.

    All are arrays of shape (n_points,).

    Attributes
    ----------
    rows : ndarray of int
        Number of rows that had been seen.
    accuracy, kappa, kappa_temporal, log_loss, no_change_accuracy, majority_accuracy : ndarray of float
        As in `PrequentialScores`, of the last rows before.
    short_term_size, long_term_size : ndarray of float
        Rows in the memories; NaN where they are not known.
    n_resets : ndarray of float
        Memory resets so far.
    """

    rows: Indices
    accuracy: Floats
    kappa: Floats
    kappa_temporal: Floats
    log_loss: Floats
    no_change_accuracy: Floats
    majority_accuracy: Floats
    short_term_size: Floats
    long_term_size: Floats
    n_resets: Floats


class PrequentialEvaluation:
    """Scores of predictions on a stream, over all rows and over the last ones, in constant memory.

    Every prediction counts, from the first row on. Beside the scores there are curves: the scores of the last
    `window_size` rows at up to `max_points` rows of the stream, evenly spaced.

    Parameters
    ----------
    window_size : int, default=1000
        Number of rows of the moving window.
    max_points : int, default=500
        Number of points of the curves, at most. When there are more, every other one is dropped, and the
        next ones are twice as far apart.

    Attributes
    ----------
    scores : PrequentialScores
        Over all rows.
    window_scores : PrequentialScores
        Over the last `window_size` rows.
    curve : PrequentialCurve
        Scores in the moving window; the last point is that of the last row.
    alarms : tuple of Alarm
        Times at which the predictions are found to be wrong more often than before, by a `DriftDetector`; the
        last 1000 of them.
    resets : tuple of int
        Rows at which the classifier has made its short-term memory smaller; the last 1000 of them.
    n_rows, n_alarms, n_resets : int
        How many there have been.

    See Also
    --------
    prequential : Evaluate a classifier on a stream.

    Examples
    --------
    >>> from lann.streams import PrequentialEvaluation
    >>> evaluation = PrequentialEvaluation(window_size=2)
    >>> evaluation.update(["a", "a", "b", "b"], [None, "a", "a", "b"], [0.0, 0.9, 0.2, 0.8])
    >>> evaluation.scores.accuracy, evaluation.window_scores.accuracy
    (0.5, 0.5)
    >>> evaluation.scores.no_change_accuracy, evaluation.scores.kappa_temporal
    (0.5, 0.0)
    """

    def __init__(self, *, window_size: int = 1000, max_points: int = 500) -> None:
        for name, value in (("window_size", window_size), ("max_points", max_points)):
            validate(name, value, Integer(2))
        self.window_size, self.max_points = window_size, max_points
        self.n_rows = self.n_resets = 0
        self._codes: dict[Any, int] = {}
        self._true_counts: list[int] = []
        self._predicted_counts: list[int] = []
        self._n_correct = self._n_no_change = self._n_majority = 0
        self._loss = 0.0
        self._last = self._most_frequent = NONE
        # Of each row: codes of label and prediction, who else was correct, and the loss.
        self._window: deque[list[Any]] = deque(maxlen=window_size)
        self._every = max(window_size // 10, 1)
        self._sizes: list[int] | None = None
        self._points: list[list[float | None]] = []
        self._resets: deque[int] = deque(maxlen=MOST_RESETS)
        self._detector = DriftDetector()

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        true_probability: ArrayLike,
        *,
        memory_sizes: tuple[int, int] | None = None,
        resets: Iterable[int] = (),
    ) -> None:
        """Add the predictions of the next rows, each made before the row was learned.

        Parameters
        ----------
        y_true : array-like of shape (n_rows,)
            Labels.
        y_pred : array-like of shape (n_rows,)
            Predictions; None is no prediction, which is not correct.
        true_probability : array-like of shape (n_rows,)
            The predicted probability of the true label; 0 for a label that had not been seen.
        memory_sizes : tuple of int or None, default=None
            Rows in the short-term and in the long-term memory after these rows.
        resets : iterable of int, default=()
            Those of these rows at which the short-term memory was made smaller, counted from 0 over the whole
            stream.

        Raises
        ------
        ValueError
            If the lengths differ, or a probability is not from 0 to 1.
        """
        labels, predictions = (np.asarray(values, object).tolist() for values in (y_true, y_pred))
        probabilities = np.asarray(true_probability, dtype=np.float64)
        if not len(labels) == len(predictions) == len(probabilities):
            raise ValueError(
                "y_true, y_pred and true_probability must have the same length; got "
                f"{len(labels)}, {len(predictions)} and {len(probabilities)}."
            )
        # Rounding may leave a probability slightly above 1.
        if not np.all((probabilities >= 0) & (probabilities <= 1 + 1e-9)):
            raise ValueError("true_probability must be from 0 to 1.")
        self._sizes = None if memory_sizes is None else list(map(int, memory_sizes))
        waiting = deque(sorted(map(int, resets)))
        errors = []
        for label, prediction, probability in zip(labels, predictions, probabilities.tolist(), strict=True):
            errors.append(self._add(label, prediction, probability))
            while waiting and waiting[0] < self.n_rows:
                self._resets.append(waiting.popleft())
                self.n_resets += 1
            if self.n_rows % self._every == 0:
                self._points.append(self._point())
                if len(self._points) > self.max_points:
                    self._every *= 2
                    self._points = [point for point in self._points if int(point[0] or 0) % self._every == 0]
        self._detector.update(errors)

    @property
    def scores(self) -> PrequentialScores:
        counts = (self.n_rows, self._n_correct, self._n_no_change, self._n_majority)
        return _scores(counts, np.array(self._true_counts), np.array(self._predicted_counts), self._loss)

    @property
    def window_scores(self) -> PrequentialScores:
        if not self._window:
            return self.scores
        labels, predictions, no_change, majority, losses = zip(*self._window, strict=True)
        true, predicted = np.array(labels), np.array(predictions)
        counts = (len(true), int(np.sum(true == predicted)), sum(no_change), sum(majority))
        true_counts, predicted_counts = (
            np.bincount(codes[codes != NONE], minlength=len(self._codes)) for codes in (true, predicted)
        )
        return _scores(counts, true_counts, predicted_counts, math.fsum(losses))

    @property
    def curve(self) -> PrequentialCurve:
        points = [*self._points, *([self._point()] if self.n_rows % self._every else [])]
        columns = np.array(points, dtype=np.float64).reshape(len(points), len(PrequentialCurve._fields)).T
        return PrequentialCurve(columns[0].astype(np.int64), *columns[1:])

    @property
    def alarms(self) -> tuple[Alarm, ...]:
        return tuple(self._detector.alarms)

    @property
    def n_alarms(self) -> int:
        return self._detector.n_alarms

    @property
    def resets(self) -> tuple[int, ...]:
        return tuple(self._resets)

    @property
    def labels(self) -> list[Any]:
        """The labels that were seen or predicted, in the order in which they came."""
        return list(self._codes)

    @property
    def n_rows_to_next_point(self) -> int:
        """Number of rows up to the next point of the curves."""
        return self._every - self.n_rows % self._every

    def to_dict(self) -> dict[str, Any]:
        """Return the state as JSON has it; an evaluation made of it continues with the same bits.

        Returns
        -------
        state : dict
            With labels as they are; JSON has text, numbers and bools.
        """
        state = {name.removeprefix("_"): value for name, value in vars(self).items() if name != "_codes"}
        lists = {"labels": self.labels, "window": list(self._window), "resets": list(self._resets)}
        return deepcopy(state | lists | {"detector": self._detector.to_dict()})

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> PrequentialEvaluation:
        """Return the evaluation of which `to_dict` has made the state.

        Parameters
        ----------
        state : dict

        Returns
        -------
        evaluation : PrequentialEvaluation
        """
        evaluation = cls(window_size=state["window_size"], max_points=state["max_points"])
        for name in vars(evaluation).keys() - {"_codes", "_window", "_resets", "_detector"}:
            setattr(evaluation, name, deepcopy(state[name.removeprefix("_")]))
        evaluation._codes = {label: code for code, label in enumerate(state["labels"])}
        evaluation._window.extend(deepcopy(state["window"]))
        evaluation._resets.extend(state["resets"])
        evaluation._detector = DriftDetector.from_dict(state["detector"])
        return evaluation

    def _add(self, label: Any, prediction: Any, probability: float) -> bool:
        """Add a prediction, and return whether it was wrong."""
        code = self._code(label)
        predicted = NONE if prediction is None else self._code(prediction)
        no_change, majority = int(code == self._last), int(code == self._most_frequent)
        loss = -math.log(min(max(probability, EPSILON), 1.0 - EPSILON))
        self._window.append([code, predicted, no_change, majority, loss])
        self.n_rows += 1
        self._n_correct += code == predicted
        self._n_no_change += no_change
        self._n_majority += majority
        self._loss += loss
        self._true_counts[code] += 1
        if predicted != NONE:
            self._predicted_counts[predicted] += 1
        self._last = code
        best = self._most_frequent
        if best == NONE or self._true_counts[code] > self._true_counts[best]:
            self._most_frequent = code
        return code != predicted

    def _code(self, label: Any) -> int:
        code = self._codes.setdefault(label, len(self._codes))
        if code == len(self._true_counts):
            self._true_counts.append(0)
            self._predicted_counts.append(0)
        return code

    def _point(self) -> list[float | None]:
        return [self.n_rows, *self.window_scores[1:], *(self._sizes or (None, None)), self.n_resets]


def _scores(
    counts: tuple[int, int, int, int], true_counts: Indices, predicted_counts: Indices, loss: float
) -> PrequentialScores:
    """Return the scores of some rows; all are 0 if there are none.

    Parameters
    ----------
    counts : (n_rows, n_correct, n_no_change, n_majority)
        Rows, and how many of them are predicted correctly by the classifier, by the label before and by the
        most frequent label.
    true_counts, predicted_counts : (n_labels,)
        Number of rows with each label, and with each prediction.
    loss : float
        Sum of the losses.
    """
    n_rows = counts[0]
    if n_rows == 0:
        return PrequentialScores(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    accuracy, no_change, majority = (count / n_rows for count in counts[1:])
    # Of the same predictions in random order.
    chance = float(np.dot(true_counts / n_rows, predicted_counts / n_rows))
    kappa, kappa_temporal = (
        (accuracy - other) / (1.0 - other) if other < 1.0 else 0.0 for other in (chance, no_change)
    )
    return PrequentialScores(n_rows, accuracy, kappa, kappa_temporal, loss / n_rows, no_change, majority)
