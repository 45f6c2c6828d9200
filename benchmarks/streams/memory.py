"""The memory of SAMKNN on a long stream, measured in a process of its own."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import benchmarks
from benchmarks.engine import Found
from benchmarks.streams.methods import SAM_KNN

N_ROWS = (100_000, 1_000_000)
REPOSITORY = Path(benchmarks.__path__[0]).parent


def data_name(n_rows: int) -> str:
    return f"{n_rows} rows × 8 features"


def measure_memory(n_rows: int) -> Found:
    """Return the peak memory of a process in which SAMKNN predicts and learns so many rows."""
    command = [sys.executable, "-m", "benchmarks.streams.memory_process", str(n_rows)]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=REPOSITORY)
    found = json.loads(done.stdout)
    note = (
        f"peak of the whole process; accuracy {found['accuracy']:.3f}, {found['rows_per_second']:.0f} rows/s"
    )
    return {SAM_KNN: {"megabytes": found["megabytes"], "note": note}}
