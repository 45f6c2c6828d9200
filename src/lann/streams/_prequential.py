"""Run a classifier over a stream: predict every row, score the prediction, learn the row."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.utils import _safe_indexing, check_consistent_length

from lann._support.types import Floats, Indices
from lann.streams._evaluation import PrequentialEvaluation


class StreamBatch(NamedTuple):
    """Some rows of a stream, as they were predicted before they were learned.

    Attributes
    ----------
    first_row : int
        Number of the first row, counted from 0 over the whole stream.
    labels : ndarray of shape (n_rows,)
        True labels.
    predictions : ndarray of shape (n_rows,)
        Predicted labels as objects; None where nothing had been learned yet.
    probabilities : ndarray of shape (n_rows,)
        Probabilities of the predictions; 0 where there is none.
    true_probabilities : ndarray of shape (n_rows,)
        Predicted probabilities of the true labels.
    resets : ndarray of int
        Rows at which the short-term memory was made smaller, counted from 0 over the whole stream.
    alarms : ndarray of int
        Rows at which predictions are found to be wrong more often than before, counted likewise.
    """

    first_row: int
    labels: NDArray[Any]
    predictions: NDArray[Any]
    probabilities: Floats
    true_probabilities: Floats
    resets: Indices
    alarms: Indices


def prequential(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    evaluation: PrequentialEvaluation | None = None,
) -> PrequentialEvaluation:
    """Evaluate a classifier on a stream: every row is predicted, scored and then learned.

    Parameters
    ----------
    estimator : classifier
        With ``test_then_train``, as `SAMKNN` has it, or with ``partial_fit`` and ``predict_proba``, which are
        then called for every single row. What it has learned before is kept.
    X : array-like or DataFrame of shape (n_rows, n_features), or iterable of tuples
        The rows in the order of time; or, for streams larger than memory, batches ``(X, y)``.
    y : array-like of shape (n_rows,) or None, default=None
        Labels; None if `X` is an iterable of batches.
    classes : array-like or None, default=None
        All labels, if they are known. Classifiers of scikit-learn need them.
    evaluation : PrequentialEvaluation or None, default=None
        What is updated; None is a new one.

    Returns
    -------
    evaluation : PrequentialEvaluation

    See Also
    --------
    iter_prequential : The same, with the predictions.
    lann.plot.StreamDisplay : Draw the curves.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from lann.streams import prequential
    >>> rng = np.random.default_rng(0)
    >>> X = rng.normal(size=(300, 2))
    >>> y = (X[:, 0] > 0).astype(int)
    >>> evaluation = prequential(BernoulliNB(), X, y, classes=[0, 1])
    >>> round(evaluation.scores.accuracy, 2), round(evaluation.scores.no_change_accuracy, 2)
    (0.99, 0.5)
    """
    evaluation = PrequentialEvaluation() if evaluation is None else evaluation
    for _ in iter_prequential(estimator, X, y, classes=classes, evaluation=evaluation):
        pass
    return evaluation


def iter_prequential(
    estimator: Any,
    X: Any,
    y: ArrayLike | None = None,
    *,
    classes: ArrayLike | None = None,
    evaluation: PrequentialEvaluation | None = None,
    batch_size: int = 1000,
) -> Iterator[StreamBatch]:
    """Yield the predictions of a stream, batch by batch; every row is predicted, scored and then learned.

    The batches have no influence on predictions and scores.

    Parameters
    ----------
    estimator : classifier
        As in `prequential`, like the next four.
    X : array-like or DataFrame of shape (n_rows, n_features), or iterable of tuples
    y : array-like of shape (n_rows,) or None, default=None
    classes : array-like or None, default=None
    evaluation : PrequentialEvaluation or None, default=None
    batch_size : int, default=1000
        Number of rows of a batch, at most.

    Yields
    ------
    batch : StreamBatch

    Raises
    ------
    TypeError
        If the estimator has no way to learn row by row.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.naive_bayes import BernoulliNB
    >>> from lann.streams import iter_prequential
    >>> X, y = np.array([[0], [1], [0], [1]]), np.array(["low", "high", "low", "high"])
    >>> for batch in iter_prequential(BernoulliNB(), X, y, classes=["high", "low"]):
    ...     print(batch.first_row, batch.predictions.tolist())
    0 [None, 'low', 'low', 'high']
    """
    if hasattr(estimator, "test_then_train"):
        step = _test_then_train
    elif hasattr(estimator, "partial_fit") and hasattr(estimator, "predict_proba"):
        step = _row_by_row
    else:
        raise TypeError(
            f"{type(estimator).__name__} has neither test_then_train nor partial_fit and predict_proba."
        )
    evaluation = PrequentialEvaluation() if evaluation is None else evaluation
    # Rows that the estimator has learned before are not rows of this stream.
    offset = getattr(estimator, "n_seen_", 0) - evaluation.n_rows
    for rows, labels in [(X, y)] if y is not None else X:
        values = np.asarray(labels)
        check_consistent_length(rows, values)
        start = 0
        while start < len(values):
            # Batches end at points of the curves, where the sizes of the memories are noted.
            end = min(start + min(batch_size, evaluation.n_rows_to_next_point), len(values))
            part = _safe_indexing(rows, slice(start, end))
            probabilities = step(estimator, part, values[start:end], classes)
            batch = _describe(estimator, probabilities, values[start:end], evaluation.n_rows, offset)
            sizes = None
            if hasattr(estimator, "short_term_size_"):
                sizes = estimator.short_term_size_, estimator.long_term_size_
            evaluation.update(
                batch.labels,
                batch.predictions,
                batch.true_probabilities,
                memory_sizes=sizes,
                resets=batch.resets,
            )
            alarms = [alarm.row for alarm in evaluation.alarms if alarm.row >= batch.first_row]
            yield batch._replace(alarms=np.array(alarms, np.int64))
            start = end


def _test_then_train(estimator: Any, X: Any, y: NDArray[Any], classes: ArrayLike | None) -> Floats:
    is_new = classes is None and getattr(estimator, "n_seen_", 0) == 0
    probabilities = np.asarray(estimator.test_then_train(X, y, classes=classes))
    if is_new:  # no class was known, whatever the columns are
        probabilities[0] = 0.0
    return probabilities


def _row_by_row(estimator: Any, X: Any, y: NDArray[Any], classes: ArrayLike | None) -> Floats:
    predicted: list[dict[Any, float]] = []
    for i in range(len(y)):
        row = _safe_indexing(X, slice(i, i + 1))
        known = np.asarray(getattr(estimator, "classes_", [])).tolist()
        shares = estimator.predict_proba(row)[0] if known else []
        predicted.append(dict(zip(known, shares, strict=True)))
        estimator.partial_fit(row, y[i : i + 1], **({} if classes is None else {"classes": classes}))
    labels = np.asarray(estimator.classes_).tolist()
    return np.array([[shares.get(label, 0.0) for label in labels] for shares in predicted])


def _describe(
    estimator: Any, probabilities: Floats, labels: NDArray[Any], first_row: int, offset: int
) -> StreamBatch:
    known = probabilities.sum(axis=1) > 0
    predictions = np.full(len(labels), None, dtype=object)
    predictions[known] = estimator.classes_[probabilities[known].argmax(axis=1)].tolist()
    true_probabilities = probabilities[np.arange(len(labels)), np.searchsorted(estimator.classes_, labels)]
    resets = np.array([reset.row - offset for reset in getattr(estimator, "resets_", [])], dtype=np.int64)
    return StreamBatch(
        first_row,
        labels,
        predictions,
        probabilities.max(axis=1),
        true_probabilities,
        resets[resets >= first_row],
        resets[:0],
    )
