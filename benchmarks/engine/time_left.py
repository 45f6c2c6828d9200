"""Estimate how long the remaining jobs will take, from those that have been run."""

from __future__ import annotations

from collections.abc import Iterable
from statistics import fmean

from benchmarks.engine.jobs import Job


class TimeLeft:
    """
    Expected seconds of the remaining jobs.

    A further repeat takes as long as the mean of the earlier ones. On other data, a method takes as long in
    proportion to the size of the data as on the largest data on which it was measured. Before the first
    measurement it takes as long as the job expects.
    """

    def __init__(self) -> None:
        self._seconds: dict[tuple[str, str], dict[str, tuple[float, list[float]]]] = {}

    def add(self, job: Job, seconds: float) -> None:
        """Take the duration of a job into account."""
        of_method = self._seconds.setdefault((job.part, job.method), {})
        of_method.setdefault(job.data_set, (job.size, []))[1].append(seconds)

    def estimate(self, jobs: Iterable[Job]) -> float | None:
        """Return the seconds that these jobs will take; None if it is not known for one of them."""
        expected = [self._estimate_one(job) for job in jobs]
        known = [seconds for seconds in expected if seconds is not None]
        return sum(known) if len(known) == len(expected) else None

    def _estimate_one(self, job: Job) -> float | None:
        of_method = self._seconds.get((job.part, job.method))
        if not of_method:
            return job.expected
        if job.data_set in of_method:
            return fmean(of_method[job.data_set][1])
        size, seconds = max(of_method.values())
        return fmean(seconds) * job.size / size
