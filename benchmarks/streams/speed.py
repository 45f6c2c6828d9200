"""Rows per second with a small window, beside river's search in the same process."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.datasets import DataSet
from benchmarks.engine import Found, time_in_turns
from benchmarks.streams.measure import run_river
from benchmarks.streams.methods import SAM_KNN, small_window_models
from benchmarks.streams.own_run import run_own

SET = "image-segmentation"
CONSTANT_FEATURE = 2
WINDOW, N_ROWS = 500, 23_100


def data_name() -> str:
    return f"window {WINDOW} × 18 features, {N_ROWS} rows"


def make_rows(data: DataSet) -> tuple[Floats, Labels]:
    """Return the data set in random order, without its constant feature, again and again."""
    order = np.random.default_rng(0).permutation(len(data.y))
    X = np.delete(data.X, CONSTANT_FEATURE, axis=1)[order]
    n_times = -(-N_ROWS // len(X))
    return np.tile(X, (n_times, 1))[:N_ROWS], np.tile(data.y[order], n_times)[:N_ROWS]


def time_small_window(data: DataSet, repeats: int) -> Found:
    """Return the rows per second of SAMKNN and of river's KNN, predicted and learned one by one."""
    X, y = make_rows(data)
    makers = small_window_models(WINDOW)
    sides = [partial(_run, make, run, X, y) for make, run in zip(makers, (run_own, run_river), strict=True)]
    sides[0]()  # compile
    times = time_in_turns(*sides, repeats=repeats, warm_up=False)
    ratio = min(times.other) / min(times.ours)
    return {
        SAM_KNN: {"rows_per_second": len(y) / min(times.ours), "note": f"{ratio:.1f} times river's kNN"},
        "river's KNNClassifier": {"rows_per_second": len(y) / min(times.other), "note": "LazySearch"},
    }


def _run(make: Any, run: Any, X: Floats, y: Labels) -> None:
    run(make(), X, y)
