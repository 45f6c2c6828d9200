"""Curves of classifiers that reject rows, and the area under the risk-coverage curve."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils.multiclass import unique_labels
from sklearn.utils.validation import check_consistent_length, column_or_1d

from lann._support.types import Floats, Indices


def _sort(
    y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike
) -> tuple[NDArray[Any], NDArray[Any], Indices]:
    """Sort rows by falling certainty; rows of equal certainty are one step.

    Returns
    -------
    y_true, y_pred : (n_rows,)
        Labels in this order.
    n_accepted : (n_steps,)
        Number of rows that are accepted after each step, ascending to n_rows.
    """
    truth, predicted = column_or_1d(y_true), column_or_1d(y_pred)
    values = column_or_1d(certainty, dtype=np.float64)
    check_consistent_length(truth, predicted, values)
    if len(values) == 0 or np.isnan(values).any():
        raise ValueError("A curve needs at least one row, and a certainty that is not NaN for each.")
    unique_labels(truth, predicted)  # raises ValueError if some labels are text and some are numbers
    order = np.argsort(-values, kind="stable")
    values = values[order]
    n_accepted = np.append(np.flatnonzero(values[1:] != values[:-1]) + 1, len(values))
    return truth[order], predicted[order], n_accepted


def _count(selected: NDArray[np.bool_], n_accepted: Indices) -> Indices:
    """Return how many of the selected rows are accepted after each step: (n_steps,)."""
    return np.cumsum(selected, dtype=np.int64)[n_accepted - 1]


def risk_coverage_curve(y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike) -> tuple[Floats, Floats]:
    """Compute the error of the accepted rows for every share of accepted rows.

    The rows are accepted in the order of falling certainty; rows of equal certainty are accepted together.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    certainty : array-like of shape (n_rows,)
        The larger, the more certain the prediction.

    Returns
    -------
    coverage : ndarray of shape (n_steps,)
        Share of the rows that are accepted, ascending to 1.
    risk : ndarray of shape (n_steps,)
        Share of the accepted rows whose predicted label is wrong.

    See Also
    --------
    aurc : The area under this curve.

    Examples
    --------
    >>> from lann.reject import risk_coverage_curve
    >>> coverage, risk = risk_coverage_curve([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.6])
    >>> coverage
    array([0.25, 0.5 , 1.  ])
    >>> risk
    array([0.  , 0.  , 0.25])
    """
    truth, predicted, n_accepted = _sort(y_true, y_pred, certainty)
    return n_accepted / len(truth), _count(truth != predicted, n_accepted) / n_accepted


def accuracy_reject_curve(
    y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike
) -> tuple[Floats, Floats]:
    """Compute the accuracy on the accepted rows for every share of rejected rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    certainty : array-like of shape (n_rows,)
        The larger, the more certain the prediction.

    Returns
    -------
    rejected : ndarray of shape (n_steps,)
        Share of the rows that are rejected, ascending from 0.
    accuracy : ndarray of shape (n_steps,)
        Share of the accepted rows whose predicted label is correct.

    Examples
    --------
    >>> from lann.reject import accuracy_reject_curve
    >>> rejected, accuracy = accuracy_reject_curve([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.6])
    >>> rejected
    array([0.  , 0.5 , 0.75])
    >>> accuracy
    array([0.75, 1.  , 1.  ])
    """
    coverage, risk = risk_coverage_curve(y_true, y_pred, certainty)
    return 1.0 - coverage[::-1], 1.0 - risk[::-1]


def aurc(y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike) -> float:
    """Compute the area under the risk-coverage curve: the mean of the risks at 1, 2, …, n accepted rows.

    The smaller, the better certainties tell errors from correct predictions, and the fewer errors there are.
    Rows of equal certainty count as the mean over all their orders.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    certainty : array-like of shape (n_rows,)
        The larger, the more certain the prediction.

    Returns
    -------
    area : float
        From 0 to 1.

    References
    ----------
    Y. Geifman, G. Uziel, R. El-Yaniv: Bias-Reduced Uncertainty Estimation for Deep Neural Classifiers, ICLR
    2019.

    Examples
    --------
    >>> from lann.reject import aurc
    >>> round(aurc([0, 1, 1, 0], [0, 1, 0, 0], [0.9, 0.8, 0.6, 0.7]), 4)
    0.0625
    """
    truth, predicted, ends = _sort(y_true, y_pred, certainty)
    n_accepted = np.arange(1, len(truth) + 1)
    # Among rows of equal certainty, the expected number of errors grows linearly.
    n_wrong = np.append(0, _count(truth != predicted, ends))
    return float(np.mean(np.interp(n_accepted, np.append(0, ends), n_wrong) / n_accepted))


def precision_reject_curve(
    y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike, *, label: Any
) -> tuple[Floats, Floats]:
    """Compute the precision of a class on the accepted rows for every share of rejected rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    certainty : array-like of shape (n_rows,)
        The larger, the more certain the prediction.
    label : label
        The class.

    Returns
    -------
    rejected : ndarray of shape (n_steps,)
        Share of the rows that are rejected, ascending from 0.
    precision : ndarray of shape (n_steps,)
        Of the accepted rows for which the class is predicted, the share that belongs to it. NaN where there
        are none.

    See Also
    --------
    recall_reject_curve : The other half for classes of different size.

    Examples
    --------
    >>> from lann.reject import precision_reject_curve
    >>> rejected, precision = precision_reject_curve([0, 1, 0], [0, 1, 1], [0.7, 0.9, 0.6], label=1)
    >>> precision
    array([0.5, 1. , 1. ])
    """
    return _class_curve(_sort(y_true, y_pred, certainty), label, among="predicted")


def recall_reject_curve(
    y_true: ArrayLike, y_pred: ArrayLike, certainty: ArrayLike, *, label: Any
) -> tuple[Floats, Floats]:
    """Compute the recall of a class on the accepted rows for every share of rejected rows.

    Parameters
    ----------
    y_true : array-like of shape (n_rows,)
        Labels.
    y_pred : array-like of shape (n_rows,)
        Predicted labels.
    certainty : array-like of shape (n_rows,)
        The larger, the more certain the prediction.
    label : label
        The class.

    Returns
    -------
    rejected : ndarray of shape (n_steps,)
        Share of the rows that are rejected, ascending from 0.
    recall : ndarray of shape (n_steps,)
        Of the accepted rows that belong to the class, the share for which it is predicted. NaN where there
        are none.

    See Also
    --------
    precision_reject_curve : The other half for classes of different size.

    Examples
    --------
    >>> from lann.reject import recall_reject_curve
    >>> rejected, recall = recall_reject_curve([0, 1, 1], [0, 1, 0], [0.7, 0.9, 0.6], label=1)
    >>> recall
    array([0.5, 1. , 1. ])
    """
    return _class_curve(_sort(y_true, y_pred, certainty), label, among="true")


def _class_curve(
    steps: tuple[NDArray[Any], NDArray[Any], Indices], label: Any, *, among: str
) -> tuple[Floats, Floats]:
    """Return the shares of rejected rows, and the share of hits among the accepted rows of a class."""
    truth, predicted, n_accepted = steps
    is_true, is_predicted = truth == label, predicted == label
    if not (is_true | is_predicted).any():
        known = unique_labels(truth, predicted).tolist()
        raise ValueError(f"label={label!r} is neither in y_true nor in y_pred, which have {known}.")
    n_among = _count(is_predicted if among == "predicted" else is_true, n_accepted)
    n_hits = _count(is_true & is_predicted, n_accepted)
    shares = np.full(len(n_among), np.nan)
    np.divide(n_hits, n_among, out=shares, where=n_among > 0)
    return 1.0 - n_accepted[::-1] / len(truth), shares[::-1]
