"""Scores of predicted labels and probabilities."""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Floats, Labels

# As scikit-learn clips: a label with probability 0 costs 36.
SMALLEST = float(np.finfo(np.float64).eps)
N_BINS = 15


def accuracy(y: Labels, predicted: Labels) -> float:
    """Return the share of correct labels."""
    return float(np.mean(y == predicted))


def balanced_accuracy(y: Labels, predicted: Labels) -> float:
    """Return the share of correct labels within a class, averaged over the classes in `y`."""
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


def log_loss(y: Labels, probabilities: Floats, classes: Labels) -> float:
    """
    Return the mean of −log of the probability of the correct label, clipped at 2.2e-16.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        The labels of the columns, ascending. A label without a column has probability 0.
    """
    columns = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    correct = np.where(classes[columns] == y, probabilities[np.arange(len(y)), columns], 0.0)
    return float(-np.mean(np.log(np.clip(correct, SMALLEST, 1.0))))


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

    References
    ----------
    C. Guo, G. Pleiss, Y. Sun, K. Q. Weinberger: On Calibration of Modern Neural Networks, ICML 2017.
    """
    top = probabilities.argmax(axis=1)
    confidence = probabilities[np.arange(len(y)), top]
    surplus = (classes[top] == y) - confidence
    bins = np.clip(np.ceil(confidence * n_bins).astype(np.int64) - 1, 0, n_bins - 1)
    # Both means of a bin have the same denominator, n_b, which cancels against its weight.
    return float(np.abs(np.bincount(bins, weights=surplus, minlength=n_bins)).sum() / len(y))
