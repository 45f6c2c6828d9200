"""Fit once, and print the seconds and the peak memory: `python -m benchmarks.speed.fit_process`."""

from __future__ import annotations

import json
import resource
import sys
import time

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.speed._internals import compile_cell_search
from lann import LANNClassifier


def sample(rng: np.random.Generator, n_rows: int, n_features: int) -> tuple[Floats, Labels]:
    """Return rows from twelve Gaussians in four classes."""
    centers = np.random.default_rng(1).normal(size=(12, n_features))
    which = rng.integers(12, size=n_rows)
    return centers[which] + 0.7 * rng.normal(size=(n_rows, n_features)), which % 4


def peak_memory() -> int:
    """Return the largest number of bytes that the process has held."""
    try:  # on Linux: of this process alone; the resource usage includes the process that started it
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)


def reset_peak() -> int:
    """Start a new peak where the system allows it, and return the memory from which it is counted."""
    before = peak_memory()
    try:  # on Linux
        with open("/proc/self/clear_refs", "w") as clear:
            clear.write("5")
        with open("/proc/self/statm") as statm:
            before = int(statm.read().split()[1]) * resource.getpagesize()
    except OSError:
        pass
    return before


def main(n_rows: int, n_features: int, n_jobs: int) -> None:
    rng = np.random.default_rng(0)
    # Compile or load the kernels first: the memory of the compiler is not that of a fit.
    X, y = sample(rng, 500, n_features)
    LANNClassifier(random_state=0).fit(X, y)
    compile_cell_search(X)
    X, y = sample(rng, n_rows, n_features)
    before = reset_peak()
    start = time.perf_counter()
    LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
    seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": (peak_memory() - before) / 1e6}))


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
