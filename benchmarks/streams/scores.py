"""Scores of predictions that were made row by row, for the stream up to several rows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.common.arrays import Floats, Labels

FLOOR = 0.02
"""η of the floored log-loss: that of (P + η/C) / (1 + η), as in all benchmarks."""

SCORES = ("accuracy", "kappa", "kappa_temporal", "log_loss", "log_loss_floored")


class Record(NamedTuple):
    """
    What a method predicted, row by row, before it learned the row.

    Parameters
    ----------
    predicted
        Class indices (n_rows,); −1 where the method predicted nothing.
    true_probability
        The probability that the method gave to the true class (n_rows,); 0 for a class that it had not seen.
    """

    predicted: Labels
    true_probability: Floats


def score_up_to(record: Record, y: Labels, n_classes: int, n_rows: int) -> dict[str, float]:
    """
    Score the predictions of the first rows, every one counted from the first row on.

    The log-loss is scikit-learn's: a probability of 0 counts as the machine epsilon.
    """
    predicted, truth = record.predicted[:n_rows], y[:n_rows]
    probability = record.true_probability[:n_rows]
    accuracy = float(np.mean(predicted == truth))
    # The classifier that predicts the label before. It has nothing to say about the first row.
    no_change = float(np.sum(truth[1:] == truth[:-1]) / n_rows)
    counts = (np.bincount(rows, minlength=n_classes) / n_rows for rows in (truth, predicted[predicted >= 0]))
    chance = float(np.dot(*counts))
    epsilon = np.finfo(np.float64).eps
    floored = (probability + FLOOR / n_classes) / (1 + FLOOR)
    return {
        "accuracy": accuracy,
        "kappa": _above(accuracy, chance),
        "kappa_temporal": _above(accuracy, no_change),
        "log_loss": float(-np.mean(np.log(np.clip(probability, epsilon, 1 - epsilon)))),
        "log_loss_floored": float(-np.mean(np.log(floored))),
    }


def _above(accuracy: float, other: float) -> float:
    return (accuracy - other) / (1 - other) if other < 1 else 0.0
