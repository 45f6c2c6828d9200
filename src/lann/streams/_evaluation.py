"""Prequential evaluation: every row of a stream is first predicted and then learned."""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from lann._support.types import Indices
from lann.streams._evaluation_state import EvaluationState, read_state
from lann.streams._scores import EPSILON, Counts, PrequentialCurve, PrequentialScores, chance_agreement

MOST_DRIFTS = 1000
NONE = -1


class Outcome(NamedTuple):
    """How one row was predicted: codes of its label and prediction, who was correct, and the loss."""

    label: int
    prediction: int
    no_change: int
    majority: int
    loss: float


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
    drifts : tuple of int
        Rows at which the classifier has found a drift; the last 1000 of them.
    n_rows, n_drifts : int
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
            if isinstance(value, bool) or not isinstance(value, int) or value < 2:
                raise ValueError(f"{name} must be an integer of at least 2; got {value!r}.")
        self.window_size, self.max_points = window_size, max_points
        self._codes: dict[Any, int] = {}
        self._true_counts: list[int] = []
        self._predicted_counts: list[int] = []
        self.n_rows = self._n_correct = self._n_no_change = self._n_majority = 0
        self._loss = 0.0
        self._last = self._most_frequent = NONE
        self._window: deque[Outcome] = deque(maxlen=window_size)
        self._every = max(window_size // 10, 1)
        self._sizes: tuple[int, int] | None = None
        self._points: list[tuple[float | None, ...]] = []
        self._drifts: deque[int] = deque(maxlen=MOST_DRIFTS)
        self.n_drifts = 0

    def update(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike,
        true_probability: ArrayLike,
        *,
        memory_sizes: tuple[int, int] | None = None,
        drifts: Iterable[int] = (),
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
        drifts : iterable of int, default=()
            Those of these rows at which a drift was found, counted from 0 over the whole stream.

        Raises
        ------
        ValueError
            If the lengths differ, or a probability is not from 0 to 1.
        """
        labels, predictions = _as_list(y_true), _as_list(y_pred)
        probabilities = np.asarray(true_probability, dtype=np.float64)
        if not len(labels) == len(predictions) == len(probabilities):
            raise ValueError(
                "y_true, y_pred and true_probability must have the same length; got "
                f"{len(labels)}, {len(predictions)} and {len(probabilities)}."
            )
        # Rounding may leave a probability slightly above 1.
        if not np.all((probabilities >= 0) & (probabilities <= 1 + 1e-9)):
            raise ValueError("true_probability must be from 0 to 1.")
        self._sizes = None if memory_sizes is None else (int(memory_sizes[0]), int(memory_sizes[1]))
        found = deque(sorted(map(int, drifts)))
        for label, prediction, probability in zip(labels, predictions, probabilities.tolist(), strict=True):
            self._add(label, prediction, probability)
            while found and found[0] < self.n_rows:
                self._drifts.append(found.popleft())
                self.n_drifts += 1
            if self.n_rows % self._every == 0:
                self._add_point()

    @property
    def scores(self) -> PrequentialScores:
        chance = 0.0
        if self.n_rows:
            chance = chance_agreement(
                np.array(self._true_counts), np.array(self._predicted_counts), self.n_rows
            )
        counts = (self.n_rows, self._n_correct, self._n_no_change, self._n_majority)
        return Counts(*counts, chance, self._loss).scores()

    @property
    def window_scores(self) -> PrequentialScores:
        if not self._window:
            return self.scores
        label, prediction, no_change, majority, loss = zip(*self._window, strict=True)
        true, predicted = np.array(label), np.array(prediction)
        n_rows, n_labels = len(true), len(self._codes)
        true_counts = np.bincount(true, minlength=n_labels)
        predicted_counts = np.bincount(predicted[predicted != NONE], minlength=n_labels)
        chance = chance_agreement(true_counts, predicted_counts, n_rows)
        n_correct = int(np.sum(true == predicted))
        return Counts(n_rows, n_correct, sum(no_change), sum(majority), chance, math.fsum(loss)).scores()

    @property
    def curve(self) -> PrequentialCurve:
        points: list[Any] = list(self._points)
        if self.n_rows % self._every:
            points.append(self._point())
        points = [[math.nan if value is None else value for value in point] for point in points]
        columns = np.array(points, dtype=np.float64).reshape(len(points), len(PrequentialCurve._fields)).T
        return PrequentialCurve(columns[0].astype(np.int64), *columns[1:])

    @property
    def drifts(self) -> tuple[int, ...]:
        return tuple(self._drifts)

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

        Raises
        ------
        ValueError
            If a label is not text, a number or a bool.
        """
        return EvaluationState(
            window_size=self.window_size,
            max_points=self.max_points,
            labels=self.labels,
            true_counts=self._true_counts,
            predicted_counts=self._predicted_counts,
            n_rows=self.n_rows,
            n_correct=self._n_correct,
            n_no_change=self._n_no_change,
            n_majority=self._n_majority,
            loss=self._loss,
            last=self._last,
            most_frequent=self._most_frequent,
            window=[list(outcome) for outcome in self._window],
            every=self._every,
            sizes=None if self._sizes is None else list(self._sizes),
            points=[list(point) for point in self._points],
            drifts=list(self._drifts),
            n_drifts=self.n_drifts,
        ).to_dict()

    @classmethod
    def from_dict(cls, state: dict[str, Any]) -> PrequentialEvaluation:
        """Return the evaluation of which `to_dict` has made the state.

        Parameters
        ----------
        state : dict

        Returns
        -------
        evaluation : PrequentialEvaluation

        Raises
        ------
        ValueError
            If the dict is not such a state.
        """
        found = read_state(state)
        evaluation = cls(window_size=found.window_size, max_points=found.max_points)
        evaluation._codes = {label: code for code, label in enumerate(found.labels)}
        evaluation._true_counts = list(found.true_counts)
        evaluation._predicted_counts = list(found.predicted_counts)
        evaluation.n_rows, evaluation._n_correct = found.n_rows, found.n_correct
        evaluation._n_no_change, evaluation._n_majority = found.n_no_change, found.n_majority
        evaluation._loss = found.loss
        evaluation._last, evaluation._most_frequent = found.last, found.most_frequent
        evaluation._window.extend(Outcome(*outcome) for outcome in found.window)
        evaluation._every = found.every
        evaluation._sizes = None if found.sizes is None else (found.sizes[0], found.sizes[1])
        evaluation._points = [tuple(point) for point in found.points]
        evaluation._drifts.extend(found.drifts)
        evaluation.n_drifts = found.n_drifts
        return evaluation

    def _add(self, label: Any, prediction: Any, probability: float) -> None:
        code = self._code(label)
        predicted = NONE if prediction is None else self._code(prediction)
        outcome = Outcome(
            code,
            predicted,
            int(code == self._last),
            int(code == self._most_frequent),
            -math.log(min(max(probability, EPSILON), 1.0 - EPSILON)),
        )
        self._window.append(outcome)
        self.n_rows += 1
        self._n_correct += code == predicted
        self._n_no_change += outcome.no_change
        self._n_majority += outcome.majority
        self._loss += outcome.loss
        self._true_counts[code] += 1
        if predicted != NONE:
            self._predicted_counts[predicted] += 1
        self._last = code
        best = self._most_frequent
        if best == NONE or self._true_counts[code] > self._true_counts[best]:
            self._most_frequent = code

    def _code(self, label: Any) -> int:
        code = self._codes.setdefault(label, len(self._codes))
        if code == len(self._true_counts):
            self._true_counts.append(0)
            self._predicted_counts.append(0)
        return code

    def _point(self) -> tuple[float | None, ...]:
        return (self.n_rows, *self.window_scores[1:], *(self._sizes or (None, None)), self.n_drifts)

    def _add_point(self) -> None:
        self._points.append(self._point())
        if len(self._points) > self.max_points:
            self._every *= 2
            self._points = [point for point in self._points if _row(point) % self._every == 0]


def _row(point: Sequence[float | None]) -> int:
    assert point[0] is not None
    return int(point[0])


def _as_list(values: ArrayLike) -> list[Any]:
    return list(values.tolist() if isinstance(values, np.ndarray) else values)  # type: ignore[arg-type]


def rows_of_drifts(drifts: Sequence[Any], start: int) -> Indices:
    """Return the rows of the drifts from a row on, of a list in the order of rows."""
    rows: list[int] = []
    for drift in reversed(drifts):
        if drift.row < start:
            break
        rows.append(drift.row)
    return np.array(rows[::-1], dtype=np.int64)
