"""
Scores of predicted labels and probabilities.

Probabilities are scored as the method returns them: they are not clipped, and not scaled to sum 1. A score
that cannot be computed raises an error, which is for the measurement to report. The one exception is
`add_floor`, the same for every method.
"""

from __future__ import annotations

import numpy as np
from sklearn import metrics

from benchmarks.common.arrays import Floats, Labels

N_BINS = 15
FLOOR = 0.02
CONFIDENT = 0.99


def accuracy(y: Labels, predicted: Labels) -> float:
    """Return the share of correct labels."""
    return float(np.mean(y == predicted))


def balanced_accuracy(y: Labels, predicted: Labels) -> float:
    """Return the share of correct labels within a class, averaged over the classes in `y`."""
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


def add_floor(probabilities: Floats, floor: float = FLOOR) -> Floats:
    """
    Return (P + η/C) / (1 + η): the probabilities mixed with equal ones, so that none is 0.

    A forest or a vote of neighbors returns exact zeros. The log-loss of a label with probability 0 is
    infinite, or depends on the constant at which it is clipped: with a floor, methods with and without zeros
    can be compared.

    Parameters
    ----------
    probabilities : (n_queries, n_classes)
    floor
        η.
    """
    return (probabilities + floor / probabilities.shape[1]) / (1 + floor)


def log_loss(y: Labels, probabilities: Floats, classes: Labels) -> float:
    """
    Return scikit-learn's log-loss, which clips at the machine epsilon: a label with probability 0 costs 36.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        The labels of the columns, ascending.

    Raises
    ------
    ValueError
        If probabilities are not finite, are below 0 or above 1, or if a label has no column.
    """
    return float(metrics.log_loss(y, probabilities, labels=classes))


def brier_score(y: Labels, probabilities: Floats, classes: Labels) -> float:
    """
    Return scikit-learn's Brier score, halved for any number of classes: it is from 0 to 1.

    With two classes it is the mean squared error of the probability of one of them. The parameters and the
    errors are those of `log_loss`.
    """
    return float(metrics.brier_score_loss(y, probabilities, labels=classes, scale_by_half=True))


def expected_calibration_error(
    y: Labels, probabilities: Floats, classes: Labels, n_bins: int = N_BINS
) -> float:
    """
    Return the expected calibration error, Σ_b n_b/n |accuracy_b − confidence_b|.

    The confidence of a prediction is the probability of its most probable label. Bins have equal width, are
    open on the left and closed on the right.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        The labels of the columns.
    n_bins
        Number of bins in [0, 1].

    Raises
    ------
    ValueError
        If probabilities are not finite.

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger: On Calibration of Modern Neural Networks, ICML 2017.
    """
    if not np.isfinite(probabilities).all():
        raise ValueError("The probabilities are not all finite.")
    correct, confidence = _top_labels(y, probabilities, classes)
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    # Both means of a bin have the same denominator, n_b, which cancels against its weight.
    errors = np.bincount(bins, weights=correct - confidence, minlength=n_bins)
    return float(np.abs(errors).sum() / len(y))


def count_confident(
    y: Labels, probabilities: Floats, classes: Labels, least: float = CONFIDENT
) -> tuple[int, int]:
    """
    Count the predictions with a probability of at least `least`.

    Returns
    -------
    n_confident, n_correct
        Their number, and how many of them are correct.
    """
    correct, confidence = _top_labels(y, probabilities, classes)
    confident = confidence >= least
    return int(confident.sum()), int(correct[confident].sum())


def _top_labels(y: Labels, probabilities: Floats, classes: Labels) -> tuple[Floats, Floats]:
    """Return whether the most probable label is correct, 0 or 1, and its probability; both (n_queries,)."""
    top = probabilities.argmax(axis=1)
    return (classes[top] == y).astype(np.float64), probabilities[np.arange(len(y)), top]
