"""What benchmarks share that measure methods on splits of data sets."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeVar

from benchmarks.common.measure import warm_up
from benchmarks.common.methods import METHODS, make_estimator
from benchmarks.engine import Benchmark, Job, Options, option


@dataclass(frozen=True)
class SplitOptions(Options):
    """The options that all of them have."""

    method: tuple[str, ...] = option((), "Measure only this method; may be repeated.", metavar="NAME")
    data: tuple[str, ...] = option((), "Measure only this data set; may be repeated.", metavar="NAME")
    seed: int = option(
        0,
        "Seed of the splits and the methods. 0 is for figures that are reported; for tuning, use 1000 and "
        "above, so that nothing is tuned on the reported splits.",
        bounds=(0, 2**32 - 1),
    )


SomeOptions = TypeVar("SomeOptions", bound=SplitOptions)


class SplitBenchmark(Benchmark[SomeOptions]):
    """A benchmark of methods on splits of data sets."""

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        waiting = {job.method for job in jobs}
        return {
            method.name: partial(warm_up, self.estimator(method.name), self.options.n_jobs)
            for method in METHODS
            if method.name in waiting and method.compiles
        }

    def estimator(self, name: str) -> Any:
        """Return the estimator of a method, not fitted."""
        return make_estimator(name, self.options.n_jobs, self.options.seed)
