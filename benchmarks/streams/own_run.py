"""Run the estimators of `lann.streams`, with the same rule for the first row as for river's classifiers."""

from __future__ import annotations

from typing import Any

from benchmarks.common.arrays import Floats, Labels
from benchmarks.streams.measure import run_batches
from benchmarks.streams.scores import Record


def run_own(model: Any, X: Floats, y: Labels) -> Record:
    """Predict and learn in batches; before the first row there is no prediction, whatever is returned."""
    record = run_batches(model, X, y)
    record.predicted[0], record.true_probability[0] = -1, 0.0
    return record
