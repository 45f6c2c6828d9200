"""Run one fit in a process of its own, which is ended when it takes too long."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path

from benchmarks.engine import Values, choose
from benchmarks.originals.environment import environment_variables

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]


@dataclass(frozen=True)
class Pair:
    """An original program, and the baseline of `lann` that is compared with it."""

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

# LGRLVQ, with one vector of relevances for each prototype, is in none of the original programs.
WITHOUT_ORIGINAL = ("lgrlvq",)


def choose_pairs(names: tuple[str, ...]) -> list[Pair]:
    """Return the pairs of which one side has one of these names; by default all."""
    for name in names:
        if name in WITHOUT_ORIGINAL:
            raise ValueError(f"There is no original program of {name} to compare with.")
    known = sorted({name for pair in PAIRS for name in (pair.ours, pair.original)})
    chosen = choose(names, known, "method")
    return [pair for pair in PAIRS if pair.ours in chosen or pair.original in chosen]


@dataclass(frozen=True)
class Side:
    """
    A program that fits, and its settings.

    Parameters
    ----------
    command
        The interpreter and the script or module.
    splits
        The folder of the splits.
    seed, n_jobs
        Parameters of the estimator; the number of threads also applies to BLAS and OpenMP.
    time_limit
        Seconds after which the process is ended, its start included.
    """

    command: tuple[str, ...]
    splits: Path
    seed: int
    n_jobs: int
    time_limit: float

    def measure(self, method: str, split: str) -> Values:
        """Return the scores of `programs.measure`; raise RuntimeError if there are none."""
        options = ["--split", split, "--seed", str(self.seed), "--n-jobs", str(self.n_jobs)]
        try:
            done = subprocess.run(
                [*self.command, method, str(self.splits), *options],
                env=environment_variables(self.n_jobs),
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                timeout=self.time_limit,
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"over {self.time_limit:g} s") from None
        lines = done.stdout.splitlines()
        if done.returncode or not lines:
            message = (done.stderr.strip().splitlines() or ["no error message"])[-1]
            raise RuntimeError(f"ended with code {done.returncode}: {message}")
        values = json.loads(lines[-1])
        if "failure" in values:
            raise RuntimeError(values["failure"])
        return {name: values[name] for name in values if name not in ("method", "split")}
