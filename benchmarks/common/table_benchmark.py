"""What benchmarks share that measure methods on splits of tables, in one part."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from typing import Any, ClassVar, TypeVar

from benchmarks.common.methods import Method, package_version, split_missing
from benchmarks.common.protocols import Split
from benchmarks.common.split_benchmark import Plan, SplitBenchmark, SplitOptions, in_order
from benchmarks.engine import Found, Job, choose, fingerprint

SomeOptions = TypeVar("SomeOptions", bound=SplitOptions)
# From names to the tables that could be loaded, and why others could not.
Load = Callable[[Sequence[str]], tuple[list[Any], dict[str, str]]]


class TableBenchmark(SplitBenchmark[SomeOptions]):
    """
    A benchmark of methods on splits of tables.

    Attributes
    ----------
    measured_by
        Name of the module that measures: results are measured again if it changes.
    data_sets
        The tables that could be loaded.
    plan
        What the run measures.
    """

    measured_by: ClassVar[str]
    data_sets: list[Any]
    plan: Plan

    def make_plan(
        self, methods: Sequence[Method], load: Load, *, sets: Sequence[str], quick_sets: Sequence[str],
        n_splits: int,
    ) -> None:  # fmt: skip
        """Load the tables of the run; set `plan`, and what has to be skipped."""
        options = self.options
        present, missing = split_missing(list(methods))
        names = choose(options.data, list(sets), "data set")
        if options.quick and not options.data:
            names = list(quick_sets)
        self.data_sets, self.skipped = load(names)
        if not self.data_sets:
            name, reason = next(iter(self.skipped.items()))
            raise ValueError(f"No data set could be loaded: {name} {reason}")
        self.skipped.update(missing)
        self.plan = Plan(options.seed, n_splits, present, [data.name for data in self.data_sets])

    @abstractmethod
    def measure(self, method: str, data: Any, split: Split) -> Found:
        """Measure a method on a split of a table."""

    @property
    def variant(self) -> str:
        return f"seed-{self.plan.seed}"

    def jobs(self) -> Iterator[Job]:
        plan, n_jobs, (part,) = self.plan, self.options.n_jobs, self.parts
        data_sets = {data.name: data for data in self.data_sets}
        splits = {data.name: data.splits(plan.seed, plan.n_splits) for data in self.data_sets}
        for method, name, number in in_order(plan.methods, plan.n_splits, plan.data_sets):
            data, split = data_sets[name], splits[name][number]
            yield Job(
                part,
                method.name,
                name,
                number,
                partial(self.measure, method.name, data, split),
                label=f"{method.name} on {name}, split {number + 1} of {plan.n_splits}",
                fingerprint=fingerprint(
                    self.measured_by,
                    self.estimator(method.name),
                    data=data.digest,
                    n_jobs=n_jobs,
                    **package_version(method),
                ),
                size=len(split[0]) * data.table.shape[1],
            )
