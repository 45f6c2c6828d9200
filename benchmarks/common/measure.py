"""Measure a classifier on one split: accuracy, probabilities and time."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.protocols import Split, scale
from benchmarks.common.scores import (
    accuracy,
    add_floor,
    balanced_accuracy,
    brier_score,
    count_confident,
    expected_calibration_error,
    log_loss,
)
from benchmarks.engine import Values

PROBABILITY_SCORES = ("log_loss_floored", "log_loss", "brier_floored", "brier", "ece")
"""Scores of probabilities: with the same floor for every method, or as the method returns them."""

SCORES = ("accuracy", "balanced_accuracy", *PROBABILITY_SCORES, "fit_seconds", "predict_seconds")


@dataclass(frozen=True)
class Task:
    """Training and test rows of one split, as all methods get them."""

    X_train: Floats
    y_train: Labels
    X_test: Floats
    y_test: Labels


def measure(estimator: Any, X: Floats, y: Labels, split: Split, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows, both scaled by the training rows.

    Parameters
    ----------
    estimator
        Not fitted.
    X : (n_samples, n_features)
    y : (n_samples,)
    split
        The training rows and the test rows.
    n_jobs
        The number of threads.

    Returns
    -------
    values
        Those of `measure_task`.
    """
    train, test = split
    X_train, X_test = scale(X, split)
    return measure_task(estimator, Task(X_train, y[train], X_test, y[test]), n_jobs)


def measure_task(estimator: Any, task: Task, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows.

    Methods that use threads of OpenMP or BLAS rather than a parameter `n_jobs` are limited to as many threads
    as the others.

    Parameters
    ----------
    estimator
        Not fitted; fitted afterwards.
    task
        The rows. Whatever has prepared them is not timed.
    n_jobs
        The number of threads.

    Returns
    -------
    values
        The scores of `SCORES`, ``n_train`` and ``n_test``, and how many predictions have a probability of at
        least .99 (``n_confident``) and are correct (``n_confident_correct``). Scores of probabilities are
        None if the estimator has no probabilities, or if the score cannot be computed: ``errors`` then has
        the error message by the name of the score.
    """
    limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(n_jobs)
    with limit, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # above all that NCA has not converged in 50 iterations
        start = time.perf_counter()
        estimator.fit(task.X_train, task.y_train)
        fitted = time.perf_counter()
        # CatBoost returns a column if there are more than two classes.
        predicted = np.asarray(estimator.predict(task.X_test)).reshape(len(task.y_test))
        done = time.perf_counter()
        scores = _score_probabilities(estimator, task)
    return {
        "accuracy": accuracy(task.y_test, predicted),
        "balanced_accuracy": balanced_accuracy(task.y_test, predicted),
        **scores,
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "n_train": len(task.y_train),
        "n_test": len(task.y_test),
    }


def _score_probabilities(estimator: Any, task: Task) -> Values:
    """Return the scores of probabilities; an error is recorded and does not end the measurement."""
    values: Values = dict.fromkeys((*PROBABILITY_SCORES, "n_confident", "n_confident_correct"))
    errors: dict[str, str] = {}
    values["errors"] = errors
    if not hasattr(estimator, "predict_proba"):
        return values
    try:
        returned = estimator.predict_proba(task.X_test)
    except Exception as error:
        errors.update(dict.fromkeys(PROBABILITY_SCORES, _describe(error)))
        return values
    floored = add_floor(returned)
    scores: dict[str, tuple[Callable[[Labels, Floats, Labels], float], Floats]] = {
        "log_loss_floored": (log_loss, floored),
        "log_loss": (log_loss, returned),
        "brier_floored": (brier_score, floored),
        "brier": (brier_score, returned),
        "ece": (expected_calibration_error, returned),
    }
    for name, (score, probabilities) in scores.items():
        try:
            value = score(task.y_test, probabilities, estimator.classes_)
        except Exception as error:
            errors[name] = _describe(error)
            continue
        if np.isfinite(value):
            values[name] = value
        else:
            errors[name] = f"the score is {value}"
    n_confident, n_correct = count_confident(task.y_test, returned, estimator.classes_)
    return values | {"n_confident": n_confident, "n_confident_correct": n_correct}


def _describe(error: Exception) -> str:
    return f"{type(error).__name__}: {' '.join(str(error).split())}"


def warm_up(estimator: Any, n_jobs: int) -> None:
    """Compile or load what a first fit compiles or loads, so that no timing includes it."""
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(X))
    try:
        measure(estimator, X, y, (rows, rows), n_jobs)
    except Exception:
        return  # the measurement will fail with the same error, and report it
