"""Measurements one after the other, each told as it comes; one that fails does not stop the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass


@dataclass(frozen=True)
class Step:
    """What is about to run: `done` of `total` are behind it; `said` is what the one before has found."""

    what: str
    done: int
    total: int
    said: str = ""


@dataclass(frozen=True)
class Job:
    """One measurement: who, on what, and what to do, which gives a few words about the outcome."""

    method: str
    data_set: str
    run: Callable[[], str]


def chosen_parts(names: list[str] | None, available: tuple[str, ...], also: str = "") -> tuple[str, ...]:
    """The parts of these names, or all, in their order; `also` says why others are not there."""
    for name in names or ():
        if name not in available:
            raise ValueError(f"There is no part {name!r}{also}; the parts are {', '.join(available)}.")
    return tuple(part for part in available if not names or part in names)


def run_jobs(jobs: list[Job], failures: dict[tuple[str, str], str]) -> Iterator[Step]:
    """Say before each measurement what comes, after it what was found.

    failures : by method and data set, the sentence with which one has failed; filled
    """
    said = ""
    for done, job in enumerate(jobs):
        where = f"{job.method} on {job.data_set}"
        yield Step(where, done, len(jobs), said)
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                outcome = job.run()
        except Exception as error:
            # Whatever it is, the other measurements go on.
            outcome = " ".join(str(error).split()) or type(error).__name__
            failures[job.method, job.data_set] = outcome
            outcome = f"failed: {outcome}"
        said = f"{where}: {outcome} ({time.perf_counter() - start:.1f} s)"
    yield Step("done", len(jobs), len(jobs), said)
