"""Start a child process for a measurement, and read what it found."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import benchmarks

REPOSITORY = Path(benchmarks.__path__[0]).parent
THREAD_VARIABLES = ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS")


def run_child(module: str, task: Mapping[str, Any], minutes: float) -> Any:
    """
    Return what `python -m MODULE TASK` prints in its last line.

    Parameters
    ----------
    module
        Name of the module.
    task
        Passed as JSON; ``n_jobs`` in it is the number of threads of all libraries.
    minutes
        After these, the child is ended.

    Raises
    ------
    RuntimeError
        If the child ends with an error, or is ended.
    """
    environment = os.environ | dict.fromkeys(THREAD_VARIABLES, str(task["n_jobs"]))
    command = [sys.executable, "-m", module, json.dumps(task)]
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, cwd=REPOSITORY, env=environment, timeout=60 * minutes
        )
    except subprocess.TimeoutExpired:
        raise RuntimeError(f"ended after {minutes:g} minutes.") from None
    if done.returncode != 0:
        lines = done.stderr.strip().splitlines()
        reason = lines[-1] if lines else "no message"
        if done.returncode < 0:
            reason = f"ended by signal {-done.returncode}"
        raise RuntimeError(f"the process failed: {reason}")
    return json.loads(done.stdout.strip().splitlines()[-1])
