"""What one method needs on some rows, measured in the process that this runs in."""

from __future__ import annotations

import time
from typing import Any, Protocol

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.peak_memory import held_memory, peak_memory, reset_peak
from benchmarks.common.scores import accuracy, add_floor, log_loss
from benchmarks.engine import Values, seconds_of
from benchmarks.scale.planted import Rows

AnyRows = Rows | Floats

GIGA = 1e9


class MethodModule(Protocol):
    """What a module of `benchmarks.scale.methods` has."""

    def make(self, name: str, n_jobs: int, seed: int) -> Any:
        """Return the estimator."""

    def warm_up(self) -> None:
        """Do what a first call in a process does beside its work."""

    def further(self, model: Any, X: Rows, X_test: Rows) -> Values:
        """Measure what only some methods have, after all else."""


def measure_fit(model: Any, X: AnyRows, y: Labels) -> Values:
    """Fit, and return the seconds and the memory: at most during the fit, and kept after it."""
    before = reset_peak()
    seconds = seconds_of(lambda: model.fit(X, y))
    peak = peak_memory()
    return {
        "fit_seconds": seconds,
        "peak_gb": peak / GIGA,
        "above_gb": (peak - before) / GIGA,
        "kept_gb": (held_memory() - before) / GIGA,
        "data_gb": (X.nbytes + y.nbytes) / GIGA,
    }


def measure_predict(model: Any, X_test: Rows, y_test: Labels) -> Values:
    """Predict one row, then all rows twice; return seconds, rows per second and the accuracy."""
    one_row = seconds_of(lambda: model.predict(X_test[:1]))
    start = time.perf_counter()
    predicted = model.predict(X_test)
    seconds = time.perf_counter() - start
    again = seconds_of(lambda: model.predict(X_test))
    return {
        "one_row_seconds": one_row,
        "predict_seconds": seconds,
        "n_queries": len(X_test),
        "rows_per_second": len(X_test) / seconds,
        "rows_per_second_again": len(X_test) / again,
        "accuracy": accuracy(y_test, predicted),
        "peak_predict_gb": peak_memory() / GIGA,
    }


def measure_probabilities(model: Any, X_test: AnyRows, y_test: Labels) -> Values:
    """Score probabilities and labels of many rows, which are computed once."""
    start = time.perf_counter()
    probabilities = np.asarray(model.predict_proba(X_test), dtype=np.float64)
    seconds = time.perf_counter() - start
    classes = np.asarray(model.classes_)
    return {
        "predict_seconds": seconds,
        "rows_per_second": len(X_test) / seconds,
        "accuracy": accuracy(y_test, classes[probabilities.argmax(axis=1)]),
        "log_loss": log_loss(y_test, probabilities, classes),
        "log_loss_floored": log_loss(y_test, add_floor(probabilities), classes),
        "peak_predict_gb": peak_memory() / GIGA,
    }
