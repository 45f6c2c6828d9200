"""Measure a classifier on one split of a table."""

from __future__ import annotations

from typing import Any

from sklearn.metrics import roc_auc_score

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.measure import Task, measure_task
from benchmarks.common.protocols import Split
from benchmarks.engine import Values
from benchmarks.mixed.data import MixedSet


def measure_split(estimator: Any, data: MixedSet, split: Split, n_jobs: int) -> Values:
    """Measure a classifier, not fitted, on the rows of a split; the values are those of `measure_table`."""
    return measure_table(estimator, data.task(split), n_jobs)


def measure_table(estimator: Any, task: Task, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows.

    Parameters
    ----------
    estimator
        Not fitted; it takes data frames.
    task
        The rows, as data frames.
    n_jobs
        The number of threads.

    Returns
    -------
    values
        Those of `measure_task`, and ``roc_auc``; None if it cannot be computed, with the message in
        ``errors``.
    """
    values = measure_task(estimator, task, n_jobs)
    try:
        auc = roc_auc(task.y_test, estimator.predict_proba(task.X_test), estimator.classes_)
    except Exception as error:
        message = f"{type(error).__name__}: {' '.join(str(error).split())}"
        return values | {"roc_auc": None, "errors": values["errors"] | {"roc_auc": message}}
    return values | {"roc_auc": auc}


def roc_auc(y: Labels, probabilities: Floats, classes: Labels) -> float:
    """
    Return scikit-learn's area under the ROC curve, of more than two classes the mean of one against the rest.

    Parameters
    ----------
    y : (n_queries,)
    probabilities : (n_queries, n_classes)
    classes : (n_classes,)
        The labels of the columns, ascending.

    Raises
    ------
    ValueError
        If probabilities are not finite, or do not sum to 1 if there are more than two classes.
    """
    if len(classes) == 2:
        return float(roc_auc_score(y == classes[1], probabilities[:, 1]))
    return float(roc_auc_score(y, probabilities, multi_class="ovr", labels=classes))
