"""Measure a classifier on rows with missing values."""

from __future__ import annotations

from typing import Any

from benchmarks.common.measure import measure_task
from benchmarks.engine import Values
from benchmarks.missing.data import Source


def measure_source(estimator: Any, source: Source, seed: int, number: int, n_jobs: int) -> Values:
    """Fit on the training rows of a split and score on the test rows; the values are of `measure_task`."""
    return measure_task(estimator, source.make(seed, number), n_jobs)
