"""Fit once, and print the seconds and the peak memory: `python -m benchmarks.speed.fit_process`."""

from __future__ import annotations

import json
import sys
import time

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.peak_memory import peak_memory, reset_peak
from benchmarks.speed._internals import compile_cell_search
from lann import LANNClassifier


def sample(rng: np.random.Generator, n_rows: int, n_features: int) -> tuple[Floats, Labels]:
    """Return rows from twelve Gaussians in four classes."""
    centers = np.random.default_rng(1).normal(size=(12, n_features))
    which = rng.integers(12, size=n_rows)
    return centers[which] + 0.7 * rng.normal(size=(n_rows, n_features)), which % 4


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
