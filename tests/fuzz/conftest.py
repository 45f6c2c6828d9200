"""A run of the harness in a process of its own, for the short slices."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.fuzz.outcomes import FAULTS, OUTCOMES

ROOT = Path(__file__).parents[2]
# Those that fork processes, which Windows cannot.
collect_ignore = [] if hasattr(os, "fork") else ["test_harness.py", "test_model_files.py"]


@pytest.fixture(scope="session")
def run_harness():
    """Run cases of a part from seed 0 on, in which nothing may happen that must not; return the counts.

    In a process of its own: children that are forked from one with OpenMP threads could hang.
    """

    def run(part, n_cases):
        command = [sys.executable, "-m", "tests.fuzz", part, "--cases", str(n_cases), "--seed", "0"]
        ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
        assert ended.returncode == 0, ended.stdout + ended.stderr
        line = next(line for line in ended.stdout.splitlines() if line.startswith(f"{part}  "))
        counts = dict(zip(["cases", *OUTCOMES], map(int, line.split()[1:]), strict=True))
        assert counts["cases"] == n_cases
        assert not any(counts[kind] for kind in FAULTS)
        for line in ended.stdout.splitlines():
            if line.startswith(f"right in {part}: "):
                for text in line.split(": ", 1)[1].split(", "):
                    number, detail = text.split(" ", 1)
                    counts[detail] = int(number)
        return counts

    return run
