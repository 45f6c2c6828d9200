"""Fits with one and with two workers, and in one process: times, and whether the predictions are the same."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.engine import Found, Values
from benchmarks.scale.child import run_child
from benchmarks.scale.plan import DASK_FEATURES, DASK_ROWS, DASK_WORKERS, N_TEST, ONE_PROCESS, workers_name

PACKAGES = ("dask", "distributed")


def measure_dask(seed: int, minutes: float, n_rows: int = DASK_ROWS) -> Found:
    """Return the figures by the number of workers; `same` is the share of predictions as with one worker."""
    found: dict[str, Values] = {}
    for n_workers in (0, *DASK_WORKERS):
        task: dict[str, Any] = {
            "n_rows": n_rows,
            "n_features": DASK_FEATURES,
            "n_queries": N_TEST,
            "n_workers": n_workers,
            "seed": seed,
            "n_jobs": 1,
        }
        name = workers_name(n_workers) if n_workers else ONE_PROCESS
        found[name] = run_child("benchmarks.scale.dask_process", task, minutes)
    predicted = {name: np.array(values.pop("predicted")) for name, values in found.items()}
    for name, values in found.items():
        values["same"] = float(np.mean(predicted[name] == predicted[workers_name(1)]))
    return found
