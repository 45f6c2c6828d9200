"""How good predicted labels and probabilities are."""

from __future__ import annotations

import numpy as np

from lann._types import Floats, Labels

# As scikit-learn clips: a label that was given no chance at all costs 36.
SMALLEST = float(np.finfo(np.float64).eps)
N_BINS = 15


def accuracy(y: Labels, predicted: Labels) -> float:
    """The share of labels that are right."""
    return float(np.mean(y == predicted))


def balanced_accuracy(y: Labels, predicted: Labels) -> float:
    """The share of labels that are right within a class, averaged over the classes that occur."""
    return float(np.mean([np.mean(predicted[y == label] == label) for label in np.unique(y)]))


def log_loss(y: Labels, probabilities: Floats, classes: Labels) -> float:
    """
    Mean of −log of the probability of the right label, clipped at 2.2e-16.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        Which label each column stands for, ascending. A label that has no column had no chance.
    """
    columns = np.minimum(np.searchsorted(classes, y), len(classes) - 1)
    right = np.where(classes[columns] == y, probabilities[np.arange(len(y)), columns], 0.0)
    return float(-np.mean(np.log(np.clip(right, SMALLEST, 1.0))))


def expected_calibration_error(
    y: Labels, probabilities: Floats, classes: Labels, n_bins: int = N_BINS
) -> float:
    """
    How far confidence is from accuracy: Σ_b n_b/n |accuracy_b − confidence_b|.

    A query's confidence is the probability of its most probable label. Bins are of equal width, open on the
    left and closed on the right.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        Which label each column stands for.
    n_bins
        How many bins [0, 1] is cut into.

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
