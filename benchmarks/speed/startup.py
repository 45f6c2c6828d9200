"""What a new process costs: the import, and the first fit with and without compiled kernels on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from functools import partial

from benchmarks.engine import Found, seconds_of
from benchmarks.speed.figures import Figure

FIRST_FIT = """
import time
from sklearn.datasets import load_iris
from lann import LANNClassifier
X, y = load_iris(return_X_y=True)
start = time.perf_counter()
LANNClassifier(random_state=0).fit(X, y).predict(X)
print(time.perf_counter() - start)
"""


def time_import(repeats: int) -> Found:
    """Return the seconds that the import of the classifier takes beyond that of `sklearn.neighbors`."""
    ours, other = [], []
    for _ in range(max(repeats, 3)):
        other.append(seconds_of(partial(_run, "import sklearn.neighbors")))
        ours.append(seconds_of(partial(_run, "import sklearn.neighbors; from lann import LANNClassifier")))
    best, best_other = min(ours), min(other)
    figure = Figure("import LANNClassifier", best - best_other, 0.3, False, best, best_other, unit=" s")
    return {"more than sklearn.neighbors": figure.values()}


def time_first_fit(repeats: int) -> Found:
    """Return the seconds of the first fit in a process, with compiled kernels on disk and without."""
    with tempfile.TemporaryDirectory() as cache:
        variables = {**os.environ, "NUMBA_CACHE_DIR": cache}
        empty = float(_run(FIRST_FIT, variables))
        cached = min(float(_run(FIRST_FIT, variables)) for _ in range(max(repeats, 2)))
    task = "first fit in a process"
    return {
        "kernels cached on disk": Figure(task, cached, 2.0, False, cached, unit=" s").values(),
        "empty cache": Figure(task, empty, 20.0, False, empty, unit=" s").values(),
    }


def _run(code: str, variables: dict[str, str] | None = None) -> str:
    command = [sys.executable, "-c", code]
    return subprocess.run(command, capture_output=True, text=True, check=True, env=variables).stdout
