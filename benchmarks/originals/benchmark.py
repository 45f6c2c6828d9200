"""The baselines beside the original programs, which need old versions."""

from __future__ import annotations

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np

from benchmarks.harness import (
    NAN,
    Benchmark,
    Found,
    Job,
    Report,
    Results,
    Table,
    Values,
    check,
    choose,
    number,
    positive,
    share,
)
from benchmarks.paper import lowest
from benchmarks.tabular import choose_paper_sets, load_sets

HERE = Path(__file__).parent
REPOSITORY = HERE.parents[1]
ORIGINAL, OURS = "original", "ours"
DATA_SETS = (
    "wine", "iris", "breast-cancer", "ionosphere", "digits", "outdoor-objects", "artificial-classification",
    "image-segmentation", "robot-navigation",
)  # fmt: skip
PAIRS = (
    ("pylmnn", "lmnn"),
    ("metric-learn-lmnn", "lmnn"),
    ("sklearn-lvq-gmlvq", "gmlvq"),
    ("sklvq-gmlvq", "gmlvq"),
    ("sklearn-lvq-lgmlvq", "lgmlvq"),
    ("sklvq-lgmlvq", "lgmlvq"),
    ("sklearn-lvq-grlvq", "grlvq"),
)
"""The original programs, and our baseline of each."""

RUN_OURS = (
    "from benchmarks.methods import METHODS; from benchmarks.originals.programs import run; "
    "run({method.name: method.make for method in METHODS})"
)
REQUIREMENTS = Path(__file__).with_name("requirements.txt")
PYTHON = (3, 11)  # the newest for which the old versions were built
THREADS = (
    "OMP_NUM_THREADS",
    "OPENBLAS_NUM_THREADS",
    "MKL_NUM_THREADS",
    "BLIS_NUM_THREADS",
    "NUMEXPR_NUM_THREADS",
    "NUMBA_NUM_THREADS",
    "VECLIB_MAXIMUM_THREADS",
)


def python_of(folder: Path) -> Path:
    """Return the Python of the old environment in a folder, which need not exist yet."""
    return folder / "environment" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")


def make_environment(folder: Path) -> None:
    """
    Create the old environment if it is absent, incomplete or of other versions.

    Parameters
    ----------
    folder
        The environment is ``environment`` in it.
    """
    environment, python = folder / "environment", python_of(folder)
    installed = environment / "installed.txt"  # written last: an interrupted installation has none
    if installed.exists() and installed.read_text() == REQUIREMENTS.read_text():
        return
    create = [_base_python(), "-m", "venv", "--clear", str(environment)]
    _call(create, "The old environment could not be created")
    install = [str(python), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _call([*install, "-r", str(REQUIREMENTS)], "The old versions could not be installed")
    shutil.copyfile(REQUIREMENTS, installed)


def _base_python() -> str:
    if sys.version_info[:2] == PYTHON:
        return sys.executable
    name = f"python{PYTHON[0]}.{PYTHON[1]}"
    found = shutil.which(name)
    if found is None:
        raise ValueError(f"The original programs need {name}, and there is none on the PATH.")
    return found


def _call(command: list[str], problem: str) -> None:
    done = subprocess.run(command, capture_output=True, text=True)
    if done.returncode:
        lines = [line for line in (done.stderr or done.stdout).splitlines() if line.strip()] or [
            "no error message"
        ]
        errors = [line for line in lines if line.startswith("ERROR")] or lines
        raise ValueError(f"{problem}: {errors[-1].removeprefix('ERROR: ')}")


@dataclass(frozen=True)
class Side:
    """One side of the comparison: a command that fits a method on a split in a process of its own."""

    command: tuple[str, ...]
    splits: Path
    options: argparse.Namespace

    def measure(self, name: str, method: str, split: str) -> Found:
        n_jobs = str(self.options.n_jobs)
        arguments = [
            method,
            str(self.splits),
            "--split",
            split,
            "--seed",
            str(self.options.seed),
            "--n-jobs",
            n_jobs,
        ]
        limit = self.options.time_limit
        try:
            done = subprocess.run(
                [*self.command, *arguments],
                env=os.environ | dict.fromkeys(THREADS, n_jobs),
                cwd=REPOSITORY,
                capture_output=True,
                text=True,
                timeout=limit,
            )
        except subprocess.TimeoutExpired:
            raise RuntimeError(f"over {limit:g} s") from None
        if done.returncode or not done.stdout:
            message = (done.stderr.strip().splitlines() or ["no error message"])[-1]
            raise RuntimeError(f"ended with code {done.returncode}: {message}")
        values: Values = json.loads(done.stdout.splitlines()[-1])
        if "failure" in values:
            raise RuntimeError(values["failure"])
        return {name: {key: value for key, value in values.items() if key not in ("method", "split")}}


class Originals(Benchmark):
    parts = (ORIGINAL, OURS)
    quick = "iris and wine, 1 split."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        add = parser.add_argument
        add("--data", action="append", metavar="NAME", help="Only this data set; repeatable.")
        add("--method", action="append", metavar="NAME", help="Only this original or baseline; repeatable.")
        add("--splits", type=positive, help="The first N of the 10 splits. Default: 2, with --quick 1.")
        add("--seed", type=int, default=0, help="Seed of the splits and the methods.")
        add(
            "--time-limit",
            type=float,
            default=600.0,
            help="Seconds for one fit, with the start of its process.",
        )
        add("--environment", type=Path, default=HERE / ".originals", help="Where the old environment is.")
        parser.set_defaults(n_jobs=1)

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        chosen = choose(options.method, sorted({name for pair in PAIRS for name in pair}), "method")
        self.pairs = [pair for pair in PAIRS if set(pair) & set(chosen)]
        self.n_splits = options.splits or (1 if options.quick else 2)
        names = options.data or (("iris", "wine") if options.quick else DATA_SETS)
        self.data_sets, self.skipped = load_sets(choose_paper_sets(names, options.quick))
        self.folder = options.environment.resolve()

    def jobs(self) -> Iterator[Job]:
        splits = self.folder / "splits"
        splits.mkdir(parents=True, exist_ok=True)
        python = str(python_of(self.folder))
        original = Side((python, str(HERE / "programs.py")), splits, self.options)
        ours = Side((sys.executable, "-c", RUN_OURS), splits, self.options)
        programs = REQUIREMENTS.read_text() + (HERE / "programs.py").read_text()
        for data in self.data_sets:
            for split in range(self.n_splits):
                task = data.task(self.options.seed, split)
                name = f"{data.name}-{self.options.seed}-{split}"
                np.savez(splits / f"{name}.npz", **vars(task))
                key = (programs, data.digest, self.options.seed, self.options.n_jobs)
                for program, baseline in self.pairs:
                    run = partial(original.measure, program, program, name)
                    yield Job(ORIGINAL, program, data.name, split, run, key)
                    beside = f"{baseline} beside {program}"
                    yield Job(OURS, beside, data.name, split, partial(ours.measure, beside, baseline, name))

    def warm_up(self, jobs: list[Job]) -> None:
        if any(job.part == ORIGINAL for job in jobs):
            make_environment(self.folder)

    def report(self, results: Results) -> Report:
        rows: list[tuple[str, ...]] = []
        margins, ratios = [], []
        for data in self.data_sets:
            rows.append((data.name,))
            for program, baseline in self.pairs:
                sides = ((ORIGINAL, program), (OURS, f"{baseline} beside {program}"))
                accuracy = [results.mean(*side, data.name, "accuracy") for side in sides]
                stds = [results.std(*side, data.name, "accuracy") for side in sides]
                seconds = [results.mean(*side, data.name, "fit_seconds") for side in sides]
                margins.append(accuracy[1] - accuracy[0])
                ratios.append(seconds[0] / seconds[1])
                texts = [share(value, 3, std) for value, std in zip(accuracy, stds, strict=True)]
                times = [number(value) for value in (*seconds, ratios[-1])]
                rows.append((f"{program}, {baseline}", *texts, f"{margins[-1]:+.3f}", *times))
        known = [ratio for ratio in ratios if ratio == ratio]
        mean = statistics.geometric_mean(known) if known else NAN
        notes = [f"Ratio: seconds of the original / ours, geometric mean {number(mean)}."]
        head = ("original, ours", "accuracy", "ours", "diff.", "seconds", "ours", "ratio")
        introduction = (
            f"Means over {self.n_splits} splits, trained on 25 %, seed {self.options.seed}. The same splits "
            "for both sides, ours right after the original, each fit in its own process; originals may be "
            "of an earlier run."
        )
        text = "ours is at most .01 less accurate than the original, on every data set"
        checks = [check(text, lowest(margins), least=-0.01)]
        return Report(introduction, [Table("Originals and ours", head, rows, notes)], checks)


BENCHMARK = Originals
