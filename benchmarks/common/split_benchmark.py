"""What benchmarks share that measure methods on splits of data sets."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, TypeVar

from benchmarks.common.measure import warm_up
from benchmarks.common.methods import Method, choose_methods, make_estimator
from benchmarks.engine import Benchmark, Check, Job, Options, Results, option, with_note
from benchmarks.engine.tables import plural


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


@dataclass(frozen=True)
class Plan:
    """
    What a run measures.

    Parameters
    ----------
    seed, n_splits
        How data sets are split.
    methods
        In the order of the tables.
    data_sets
        Those that could be loaded.
    """

    seed: int
    n_splits: int
    methods: list[Method]
    data_sets: list[str]

    @property
    def method_names(self) -> list[str]:
        return [method.name for method in self.methods]


def note_scope(checks: list[Check], plan: Plan, results: Results, n_splits: int) -> list[Check]:
    """Return the checks; with fewer than `n_splits` splits or another seed than 0, each says so."""
    if plan.seed == 0 and plan.n_splits >= n_splits and results.is_complete:
        return checks
    unfinished = "" if results.is_complete else ", unfinished"
    return with_note(checks, f"{plural(plan.n_splits, 'split')}, seed {plan.seed}{unfinished}")


class SplitBenchmark(Benchmark[SomeOptions]):
    """
    A benchmark of methods on splits of data sets.

    Attributes
    ----------
    methods
        The methods that ``--method`` chooses from; None: all of `benchmarks.common.methods`.
    """

    methods: ClassVar[Sequence[Method] | None] = None

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        waiting = {job.method for job in jobs}
        return {
            method.name: partial(self.warm_up, method.name)
            for method in choose_methods(available=self.methods)
            if method.name in waiting and method.compiles
        }

    def warm_up(self, name: str) -> None:
        """Compile or load what a first fit of a method compiles or loads."""
        warm_up(self.estimator(name), self.options.n_jobs)

    def estimator(self, name: str) -> Any:
        """Return the estimator of a method, not fitted."""
        return make_estimator(name, self.options.n_jobs, self.options.seed, self.methods)


def in_order(
    methods: Sequence[Method], n_splits: int, names: Sequence[str]
) -> Iterator[tuple[Method, str, int]]:
    """
    Yield methods, data sets and numbers of splits in the order in which they are to be measured.

    All methods and data sets have their first split before any has its second, and methods that are not quick
    come last: an interrupted run has all rows and columns of the others.
    """
    for quick in (True, False):
        for number in range(n_splits):
            for name in names:
                yield from ((method, name, number) for method in methods if method.quick == quick)
