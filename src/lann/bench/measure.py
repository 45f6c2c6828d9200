"""One method on one split: how right, how well calibrated, how fast."""

from __future__ import annotations

import time
import warnings
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.datasets import load_iris
from sklearn.preprocessing import StandardScaler
from threadpoolctl import threadpool_limits

from lann._types import Floats, Labels
from lann.bench.protocols import Split
from lann.bench.scores import accuracy, balanced_accuracy, expected_calibration_error, log_loss


@dataclass(frozen=True)
class Measurement:
    """What is kept of a split. No `log_loss` and no `ece` where a method gives no probabilities."""

    accuracy: float
    balanced_accuracy: float
    log_loss: float | None
    ece: float | None
    fit_seconds: float
    predict_seconds: float
    n_train: int
    n_test: int


def measure(estimator: Any, X: Floats, y: Labels, split: Split, n_jobs: int) -> Measurement:
    """
    Fit on one part and score on the other, every feature scaled by the training part's mean and deviation.

    Scaling is not timed. Methods that thread by OpenMP or BLAS, not by a parameter `n_jobs`, are held to as
    many threads as the others.

    Parameters
    ----------
    estimator
        Not fitted.
    X : (n_samples, n_features)
    y : (n_samples,)
    split
        The rows to train on, and those to test on.
    n_jobs
        The number of threads.
    """
    train, test = split
    scaler = StandardScaler().fit(X[train])
    points, queries = scaler.transform(X[train]), scaler.transform(X[test])
    limit = nullcontext() if "n_jobs" in estimator.get_params() else threadpool_limits(n_jobs)
    with limit, warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that NCA has not converged in its 50 steps, above all
        start = time.perf_counter()
        estimator.fit(points, y[train])
        fitted = time.perf_counter()
        predicted = estimator.predict(queries)
        done = time.perf_counter()
        probabilities = estimator.predict_proba(queries) if hasattr(estimator, "predict_proba") else None
    if probabilities is not None and not np.isfinite(probabilities).all():
        raise ValueError("The probabilities are not all finite.")
    right = y[test]
    return Measurement(
        accuracy=accuracy(right, predicted),
        balanced_accuracy=balanced_accuracy(right, predicted),
        log_loss=None if probabilities is None else log_loss(right, probabilities, estimator.classes_),
        ece=None
        if probabilities is None
        else expected_calibration_error(right, probabilities, estimator.classes_),
        fit_seconds=fitted - start,
        predict_seconds=done - fitted,
        n_train=len(train),
        n_test=len(test),
    )


def warm_up(estimator: Any, n_jobs: int) -> None:
    """Compile, or load, what a first fit compiles or loads, so that no timing includes it."""
    X, y = load_iris(return_X_y=True)
    everything = np.arange(len(X))
    # An estimator that fails will say so where it is measured.
    try:
        measure(estimator, X, y, (everything, everything), n_jobs)
    except Exception:
        return
