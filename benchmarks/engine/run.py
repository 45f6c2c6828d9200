"""Run the jobs of a benchmark one after the other; a job that fails does not stop the others."""

from __future__ import annotations

import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from benchmarks.engine.benchmark import Benchmark
from benchmarks.engine.jobs import Job
from benchmarks.engine.results import Results
from benchmarks.engine.store import Store, Stored
from benchmarks.engine.time_left import TimeLeft


@dataclass(frozen=True)
class Step:
    """
    The state of a run before a job.

    Parameters
    ----------
    label
        What is about to run.
    n_done, n_total
        How many jobs have been run, and how many there are to run.
    seconds_left
        Estimate of the time for the rest; None if it is not known.
    message
        The outcome of the job before; empty if there is nothing to say.
    """

    label: str
    n_done: int
    n_total: int
    seconds_left: float | None = None
    message: str = ""


class Run:
    """
    One run of a benchmark; measurements of earlier runs are reused.

    Parameters
    ----------
    benchmark
        With its options.
    store
        Where measurements are stored; None to store nothing.

    Attributes
    ----------
    results
        The measurements so far.
    n_reused
        How many of them are from earlier runs.
    """

    def __init__(self, benchmark: Benchmark[Any], store: Store | None = None) -> None:
        self.benchmark, self.store = benchmark, store
        jobs = list(benchmark.jobs())
        self.results = Results(skipped=benchmark.skipped)
        self._time_left = TimeLeft()
        if store is not None and benchmark.discards_stored:
            for job in jobs:
                store.discard(job)
        self._waiting = [job for job in jobs if not self._reuse(job)]
        self.n_reused = len(jobs) - len(self._waiting)
        self.results.n_missing = len(self._waiting)

    def steps(self) -> Iterator[Step]:
        """Run the jobs; before each, yield what is about to run and what the one before found."""
        total = len(self._waiting)
        for label, warm_up in self.benchmark.warm_ups(self._waiting).items():
            yield Step(f"warm-up: {label}", 0, total)
            warm_up()
        message = ""
        for n_done, job in enumerate(self._waiting):
            if job.cell not in self.results.failures:
                yield Step(job.title, n_done, total, self._estimate(n_done), message)
                message = self._run_one(job)
            self.results.n_missing -= 1
        yield Step("done", total, total, 0.0, message)

    def _reuse(self, job: Job) -> bool:
        stored = None if self.store is None else self.store.load(job)
        if stored is None:
            return False
        self.results.add(job, stored.found)
        self._time_left.add(job, stored.seconds)
        return True

    def _estimate(self, n_done: int) -> float | None:
        rest = [job for job in self._waiting[n_done:] if job.cell not in self.results.failures]
        return self._time_left.estimate(rest)

    def _run_one(self, job: Job) -> str:
        start = time.perf_counter()
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                found = job.run()
        except Exception as error:
            # Not stored: the next run tries again.
            reason = " ".join(str(error).split()) or type(error).__name__
            self.results.failures[job.cell] = reason
            return f"{job.title}: failed: {reason}"
        seconds = time.perf_counter() - start
        if self.store is not None:
            self.store.save(job, Stored(found, seconds))
        self.results.add(job, found)
        self._time_left.add(job, seconds)
        outcome = self.benchmark.describe(job, found)
        return f"{job.title}: {outcome} ({seconds:.1f} s)" if outcome else ""
