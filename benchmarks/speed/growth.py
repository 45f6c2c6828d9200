"""How the time and the memory of a fit grow with the number of rows."""

from __future__ import annotations

import json
import math
import subprocess
import sys
from pathlib import Path

import benchmarks
from benchmarks.engine import Found
from benchmarks.speed.figures import Figure

SMALL, LARGE, N_FEATURES = 5_000, 200_000, 20
REPOSITORY = Path(benchmarks.__path__[0]).parent


def data_name() -> str:
    return f"{SMALL // 1000}k to {LARGE // 1000}k × {N_FEATURES}"


def measure_growth(n_jobs: int) -> Found:
    """Return the exponent of the fit time from 5k to 200k rows, and the peak memory at 200k."""
    small, large = (_fit_in_process(n_rows, n_jobs) for n_rows in (SMALL, LARGE))
    exponent = math.log(large["seconds"] / small["seconds"]) / math.log(LARGE / SMALL)
    times = large["seconds"], small["seconds"]
    return {
        "time grows as m to the power": Figure(
            "fit, defaults", exponent, 1.3, False, *times, unit=""
        ).values(),
        "peak memory above the data": Figure(
            "fit, defaults", large["megabytes"] / 1e3, 1.0, False, large["seconds"], unit=" GB"
        ).values(),
    }


def _fit_in_process(n_rows: int, n_jobs: int) -> dict[str, float]:
    # The peak of memory is a property of a process.
    command = [
        sys.executable,
        "-m",
        "benchmarks.speed.fit_process",
        str(n_rows),
        str(N_FEATURES),
        str(n_jobs),
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    return json.loads(done.stdout)
