"""One fit of one side, in a process of its own that is ended when it takes too long."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from environment import environment_variables

HERE = Path(__file__).parent


@dataclass(frozen=True)
class Pair:
    """An original program, and the method of this library that is held against it."""

    original: str
    ours: str


PAIRS = (
    Pair("pylmnn", "lmnn"),
    Pair("metric-learn-lmnn", "lmnn"),
    Pair("sklearn-lvq-gmlvq", "gmlvq"),
    Pair("sklvq-gmlvq", "gmlvq"),
    Pair("sklearn-lvq-lgmlvq", "lgmlvq"),
    Pair("sklvq-lgmlvq", "lgmlvq"),
    Pair("sklearn-lvq-grlvq", "grlvq"),
)

# LGRLVQ, one vector of relevances for each prototype, has no original among the programs.
WITHOUT_ORIGINAL = ("lgrlvq",)


def choose_pairs(names: list[str] | None) -> list[Pair]:
    """The pairs that have one of these names on either side, or all."""
    known = {name for pair in PAIRS for name in (pair.ours, pair.original)}
    for name in names or ():
        if name in WITHOUT_ORIGINAL:
            raise ValueError(f"There is no original program of {name} to compare with.")
        if name not in known:
            raise ValueError(f"There is no method {name!r}; the methods are {', '.join(sorted(known))}.")
    return [pair for pair in PAIRS if not names or pair.ours in names or pair.original in names]


@dataclass(frozen=True)
class Side:
    """
    A script that fits, and what it is run with.

    Parameters
    ----------
    python
        The interpreter.
    script
        ``programs.py`` or ``ours.py``.
    splits
        The folder of the splits.
    seed, n_jobs
        Of the estimator; the number of threads also holds for BLAS and OpenMP.
    time_limit
        Seconds after which the process is killed, its start included.
    """

    python: str
    script: str
    splits: Path
    seed: int
    n_jobs: int
    time_limit: float

    def measure(self, method: str, split: str) -> dict[str, Any]:
        """
        What `programs.measure` returns, or a ``failure`` if the process died.

        If it was killed, the ``time_limit`` is told too.
        """
        options = ["--split", split, "--seed", str(self.seed), "--n-jobs", str(self.n_jobs)]
        command = [self.python, str(HERE / self.script), method, str(self.splits), *options]
        try:
            done = subprocess.run(
                command,
                env=environment_variables(self.n_jobs),
                capture_output=True,
                text=True,
                timeout=self.time_limit,
            )
        except subprocess.TimeoutExpired:
            return {"failure": f"over {self.time_limit:g} s", "time_limit": self.time_limit}
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            said = done.stderr.strip().splitlines() or ["no reason given"]
            return {"failure": f"ended with code {done.returncode}: {said[-1]}"}
        return json.loads(lines[-1])
