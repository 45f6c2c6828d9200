"""How time and memory grow with the number of points."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from collections.abc import Iterator

from lann.bench.timing import Figure

SMALL, LARGE, N_FEATURES = 5_000, 200_000, 20

# Each size runs in a process of its own: the peak of memory is a property of the process.
SCRIPT = """
import json, resource, sys, time
import numpy as np
from lann import LANNClassifier
from lann.metrics import DiagonalMetric
from lann.search import GraphSearch

n_points, n_features, n_jobs = map(int, sys.argv[1:])
rng = np.random.default_rng(0)

def sample(n):
    centers = np.random.default_rng(1).normal(size=(12, n_features))
    which = rng.integers(12, size=n)
    return centers[which] + 0.7 * rng.normal(size=(n, n_features)), which % 4

def peak():
    try:  # on Linux: of this program alone; the resource usage also knows the peak of whoever started it
        with open("/proc/self/status") as status:
            return next(int(line.split()[1]) * 1024 for line in status if line.startswith("VmHWM"))
    except OSError:
        pass
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024)

# Compile, or load, the kernels: the compiler's memory is not that of a fit.
X, y = sample(500)
LANNClassifier(random_state=0).fit(X, y)
GraphSearch(DiagonalMetric(X, np.ones(X.shape))).query(X, 5, exclude=np.arange(len(X)))

X, y = sample(n_points)
before = peak()
try:  # on Linux: forget the peak so far, and start from what is held now
    with open("/proc/self/clear_refs", "w") as clear:
        clear.write("5")
    with open("/proc/self/statm") as statm:
        before = int(statm.read().split()[1]) * resource.getpagesize()
except OSError:
    pass
start = time.perf_counter()
LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
seconds = time.perf_counter() - start
print(json.dumps({"seconds": seconds, "megabytes": (peak() - before) / 1e6}))
"""


def growth(n_jobs: int) -> Iterator[Figure]:
    """The exponent of fit time from 5k to 200k points, and the peak memory at 200k."""
    small, large = (_measure(size, n_jobs) for size in (SMALL, LARGE))
    exponent = math.log(large["seconds"] / small["seconds"]) / math.log(LARGE / SMALL)
    name = f"{SMALL // 1000}k to {LARGE // 1000}k × {N_FEATURES}"
    yield Figure(
        "fit, defaults", name, "fit time grows as m to the power", large["seconds"], small["seconds"],
        exponent, 0.0, 1.3, more_is_better=False, unit="",
    )  # fmt: skip
    yield Figure(
        "fit, defaults", f"{LARGE // 1000}k × {N_FEATURES}", "peak memory above the data, GB",
        large["seconds"], None, large["megabytes"] / 1e3, 0.0, 1.0, more_is_better=False, unit=" GB",
    )  # fmt: skip


def _measure(n_points: int, n_jobs: int) -> dict[str, float]:
    command = [sys.executable, "-c", SCRIPT, str(n_points), str(N_FEATURES), str(n_jobs)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)
