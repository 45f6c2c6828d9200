"""Measure a classifier on one split: accuracy, calibration and time."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from threadpoolctl import threadpool_limits

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.protocols import Split, scale
from benchmarks.common.scores import accuracy, balanced_accuracy, expected_calibration_error, log_loss
from benchmarks.engine import Values

SCORES = ("accuracy", "balanced_accuracy", "log_loss", "ece", "fit_seconds", "predict_seconds")


def measure(estimator: Any, X: Floats, y: Labels, split: Split, n_jobs: int) -> Values:
    """
    Fit on the training rows and score on the test rows, both scaled by the training rows.

    Scaling is not timed. Methods that use threads of OpenMP or BLAS rather than a parameter `n_jobs` are
    limited to as many threads as the others.

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
        The scores of `SCORES`, ``n_train`` and ``n_test``. Log-loss and ECE are None if the estimator has no
        probabilities.
    """
    train, test = split
    X_train, X_test = scale(X, split)
    limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(n_jobs)
    with limit, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # above all that NCA has not converged in 50 iterations
        start = time.perf_counter()
        estimator.fit(X_train, y[train])
        fitted = time.perf_counter()
        predicted = estimator.predict(X_test)
        done = time.perf_counter()
        probabilities = estimator.predict_proba(X_test) if hasattr(estimator, "predict_proba") else None
    values: Values = {
        "accuracy": accuracy(y[test], predicted),
        "balanced_accuracy": balanced_accuracy(y[test], predicted),
        "log_loss": None,
        "ece": None,
        "fit_seconds": fitted - start,
        "predict_seconds": done - fitted,
        "n_train": len(train),
        "n_test": len(test),
    }
    if probabilities is not None:
        if not np.isfinite(probabilities).all():
            raise ValueError("The probabilities are not all finite.")
        values["log_loss"] = log_loss(y[test], probabilities, estimator.classes_)
        values["ece"] = expected_calibration_error(y[test], probabilities, estimator.classes_)
    return values


def warm_up(estimator: Any, n_jobs: int) -> None:
    """Compile or load what a first fit compiles or loads, so that no timing includes it."""
    X, y = load_iris(return_X_y=True)
    rows = np.arange(len(X))
    try:
        measure(estimator, X, y, (rows, rows), n_jobs)
    except Exception:
        return  # the measurement will fail with the same error, and report it
