"""What a new process waits for: the import, and the first fit with and without compiled kernels on disk."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator

from lann.bench.timing import Duel, Figure

FIRST_FIT = """
import time
from sklearn.datasets import load_iris
from lann import LANNClassifier
X, y = load_iris(return_X_y=True)
start = time.perf_counter()
LANNClassifier(random_state=0).fit(X, y).predict(X)
print(time.perf_counter() - start)
"""


def startup(repeats: int) -> Iterator[Figure]:
    """Seconds that `import lann` adds, and seconds of the first fit on iris."""
    ours, other = [], []
    for _ in range(max(repeats, 3)):
        other.append(_seconds_of("import sklearn.neighbors"))
        ours.append(_seconds_of("import sklearn.neighbors; from lann import LANNClassifier"))
    added = Duel(ours, other)
    yield Figure(
        "import LANNClassifier", "", "seconds more than sklearn.neighbors", min(ours), min(other),
        min(added.ours) - min(added.other), 0.0, 0.3, more_is_better=False, unit=" s",
    )  # fmt: skip
    with tempfile.TemporaryDirectory() as cache:
        empty = _first_fit(cache)
        cached = min(_first_fit(cache) for _ in range(max(repeats, 2)))
    yield Figure(
        "first fit in a process", "iris", "kernels cached on disk, seconds", cached, None,
        cached, 0.0, 2.0, more_is_better=False, unit=" s",
    )  # fmt: skip
    yield Figure(
        "first fit in a process", "iris", "empty cache, seconds", empty, None,
        empty, 0.0, 20.0, more_is_better=False, unit=" s",
    )  # fmt: skip


def _seconds_of(code: str) -> float:
    start = time.perf_counter()
    subprocess.run([sys.executable, "-c", code], check=True)
    return time.perf_counter() - start


def _first_fit(cache: str) -> float:
    environment = {**os.environ, "NUMBA_CACHE_DIR": cache}
    done = subprocess.run(
        [sys.executable, "-c", FIRST_FIT], capture_output=True, text=True, check=True, env=environment
    )
    return float(done.stdout)
