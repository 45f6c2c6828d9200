"""Scores of predictions that were made row by row."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann._support.types import Floats, Indices

# scikit-learn's log_loss counts a probability of 0 as this.
EPSILON = float(np.finfo(np.float64).eps)


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


class Counts(NamedTuple):
    """What the scores of some rows are computed from.

    Attributes
    ----------
    n_rows, n_correct, n_no_change, n_majority : int
        Rows, and how many of them are predicted correctly by the classifier, by the label before and by the
        most frequent label.
    chance : float
        The product of the shares of labels and of predictions, summed over labels.
    loss : float
        Sum of the losses.
    """

    n_rows: int
    n_correct: int
    n_no_change: int
    n_majority: int
    chance: float
    loss: float

    def scores(self) -> PrequentialScores:
        """Return the scores; all are 0 if there are no rows."""
        n_rows = self.n_rows
        if n_rows == 0:
            return PrequentialScores(0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
        accuracy, no_change = self.n_correct / n_rows, self.n_no_change / n_rows
        return PrequentialScores(
            n_rows,
            accuracy,
            _above(accuracy, self.chance),
            _above(accuracy, no_change),
            self.loss / n_rows,
            no_change,
            self.n_majority / n_rows,
        )


def chance_agreement(true_counts: Indices, predicted_counts: Indices, n_rows: int) -> float:
    """Return the share of correct predictions that is expected of the same predictions in random order."""
    return float(np.dot(true_counts / n_rows, predicted_counts / n_rows))


def _above(accuracy: float, other: float) -> float:
    return (accuracy - other) / (1.0 - other) if other < 1.0 else 0.0


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
    n_drifts : ndarray of float
        Drifts that had been found.
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
    n_drifts: Floats
