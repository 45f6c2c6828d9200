"""A fit on a cluster of processes, or in this one: `python -m benchmarks.scale.dask_process TASK`.

Every worker is a process with one thread. The rows are on the workers before the clock starts.
"""

from __future__ import annotations

import json
import sys
import time
from importlib import import_module
from typing import Any

import numpy as np

from benchmarks.common.peak_memory import peak_memory
from benchmarks.engine import Values
from benchmarks.scale.measure import GIGA
from benchmarks.scale.methods.lann import make, warm_up
from benchmarks.scale.planted import Planted, block_slices
from lann.distributed import LANNClassifier

CLIENT_THREADS = 2
"""Threads that train on the sample in this process, while the workers wait, whatever their number."""
N_FOR_WARM_UP = 60_000
"""Enough rows for the kernels that a fit on many rows uses."""


def dask_rows(planted: Planted, n_rows: int) -> tuple[Any, Any]:
    """Return X and y as Dask arrays, one chunk per block of rows, which the workers generate."""
    da, delayed = import_module("dask.array"), import_module("dask").delayed
    blocks, labels = [], []
    for number, rows_of_block in enumerate(block_slices(n_rows)):
        size = rows_of_block.stop - rows_of_block.start
        rows, y = (delayed(_first_of_block)(planted, number, size, part) for part in (0, 1))
        blocks.append(da.from_delayed(rows, (size, planted.n_features), np.float32))
        labels.append(da.from_delayed(y, (size,), np.int64))
    return da.concatenate(blocks), da.concatenate(labels)


def _first_of_block(planted: Planted, number: int, size: int, which: int) -> Any:
    """Return the first rows of a block (0) or their labels (1)."""
    return planted.block(number)[which][:size]


def run_one_process(task: Values) -> Values:
    """Fit and predict with the classifier of one machine, on one thread."""
    warm_up()
    planted = Planted(task["n_features"], task["seed"])
    X, y = planted.training_rows(task["n_rows"])
    X_test, y_test = planted.test_rows(task["n_queries"])
    start = time.perf_counter()
    model = make("lann", 1, task["seed"]).fit(X, y)
    fitted = time.perf_counter()
    predicted = model.predict(X_test)
    return _values(start, fitted, predicted, y_test)


def run_workers(task: Values) -> Values:
    """Fit and predict on a local cluster; the memory is the largest of its workers."""
    from distributed import Client, LocalCluster, wait

    planted = Planted(task["n_features"], task["seed"])
    X_test, y_test = planted.test_rows(task["n_queries"])
    with (
        LocalCluster(
            n_workers=task["n_workers"], threads_per_worker=1, processes=True, dashboard_address=None
        ) as cluster,
        Client(cluster) as client,
    ):
        client.run(warm_up)
        # Other rows: Dask takes the same rows, planned in another way, for those that it has.
        others = Planted(task["n_features"], task["seed"] + 1)
        LANNClassifier(random_state=0).fit(*dask_rows(others, min(N_FOR_WARM_UP, task["n_rows"])))
        X, y = client.persist(list(dask_rows(planted, task["n_rows"])))
        wait([X, y])
        start = time.perf_counter()
        model = LANNClassifier(n_jobs=CLIENT_THREADS, random_state=task["seed"]).fit(X, y)
        fitted = time.perf_counter()
        predicted = np.asarray(model.predict(X_test))
        found = _values(start, fitted, predicted, y_test)
        found["worker_peak_gb"] = max(client.run(peak_memory).values()) / GIGA
        # The same model in this process, with the same cells.
        found["same_gathered"] = float(np.mean(model.gather().predict(X_test) == predicted))
        return found


def _values(start: float, fitted: float, predicted: Any, y_test: Any) -> Values:
    seconds = time.perf_counter() - fitted
    return {
        "fit_seconds": fitted - start,
        "predict_seconds": seconds,
        "accuracy": float(np.mean(predicted == y_test)),
        "peak_gb": peak_memory() / GIGA,
        "predicted": np.asarray(predicted).tolist(),
    }


if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(run_workers(given) if given["n_workers"] else run_one_process(given)))
