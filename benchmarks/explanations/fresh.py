"""One row explained by a saved model in a new process."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import lann
from benchmarks.common.arrays import Floats
from benchmarks.engine import Values

STEPS = ("import", "load", "explain", "again")

EXPLAIN_ONE = """
import json, sys, time
times = [time.perf_counter()]
import numpy as np
import lann
from lann.persist import load
times.append(time.perf_counter())
model = load(sys.argv[1])
times.append(time.perf_counter())
row = np.load(sys.argv[2])
for _ in range(2):
    explanation = model.explain(row)
    explanation.supports, explanation.in_words()
    times.append(time.perf_counter())
print(json.dumps([later - earlier for earlier, later in zip(times, times[1:])]))
"""


def measure_fresh(model: Any, row: Floats, n_turns: int) -> Values:
    """
    Save a model with its landmarks, and let new processes load it and explain a row.

    Parameters
    ----------
    model
        Fitted.
    row : (1, n_features)
    n_turns
        Number of processes, after one that compiles.

    Returns
    -------
    values
        Seconds, medians over the processes. ``import``: of NumPy and lann. ``load``. ``explain``: the first
        explanation, with its supports and its sentence. ``again``: the same once more. ``total``: of the
        first three. ``megabytes``: the size of the file.
    """
    model.explain(row)  # computes the landmarks, which are saved
    with tempfile.TemporaryDirectory() as folder:
        saved, stored = Path(folder) / "model.lann", Path(folder) / "row.npy"
        lann.save(model, saved)
        np.save(stored, row)
        command = [sys.executable, "-W", "ignore", "-c", EXPLAIN_ONE, str(saved), str(stored)]
        turns = [_seconds(command) for _ in range(1 + n_turns)][1:]
        size = saved.stat().st_size
    medians = [statistics.median(times) for times in zip(*turns, strict=True)]
    return {
        **dict(zip(STEPS, medians, strict=True)),
        "total": statistics.median(sum(times[:3]) for times in turns),
        "megabytes": size / 1e6,
    }


def _seconds(command: list[str]) -> list[float]:
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    times: list[float] = json.loads(done.stdout)
    return times
