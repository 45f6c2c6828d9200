"""The paper's table: every method on every data set, split by split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.common.datasets import DataSet, choose_sets, load_sets
from benchmarks.common.measure import measure
from benchmarks.common.methods import choose_methods, package_version, split_missing
from benchmarks.common.probability_tables import score_failures
from benchmarks.common.protocols import N_SPLITS, Split, choose_protocol
from benchmarks.common.split_benchmark import SplitBenchmark, SplitOptions
from benchmarks.engine import Found, Job, Report, Results, fingerprint, option
from benchmarks.paper.checks import make_checks
from benchmarks.paper.comparison import compare
from benchmarks.paper.plan import PART, Plan
from benchmarks.paper.tables import (
    accuracy_table,
    comparison_table,
    details_table,
    means_table,
    probability_details_table,
    probability_table,
)

QUICK_SPLITS = 3


@dataclass(frozen=True)
class PaperOptions(SplitOptions):
    """The options of the benchmark."""

    protocol: str = option(
        "paper",
        "paper: train on 25 % and test on 75 %, 10 times; cv: 10-fold cross-validation.",
        metavar="NAME",
    )
    splits: int | None = option(
        None, "Measure only the first N of the 10 splits.", kind=int, bounds=(1, N_SPLITS)
    )
    details: bool = option(False, "Also print a table per data set.")


class Paper(SplitBenchmark[PaperOptions]):
    """Every method on every data set of the paper."""

    name = "paper"
    Options = PaperOptions
    parts = (PART,)
    main_scores = {PART: "accuracy"}
    quick = f"small data sets, {QUICK_SPLITS} splits, and no slow methods."
    omitted = ("only",)

    def __init__(self, options: PaperOptions) -> None:
        super().__init__(options)
        self.protocol = choose_protocol(options.protocol)
        methods, missing = split_missing(choose_methods(options.method, quick=options.quick))
        self.data_sets, self.skipped = load_sets(choose_sets(options.data, quick=options.quick))
        if not self.data_sets:
            raise ValueError(f"No data set could be loaded: {next(iter(self.skipped.values()))}")
        self.skipped.update(missing)
        n_splits = options.splits or (QUICK_SPLITS if options.quick else N_SPLITS)
        names = [data.name for data in self.data_sets]
        self.plan = Plan(self.protocol.name, options.seed, n_splits, methods, names)

    @property
    def variant(self) -> str:
        return f"{self.plan.protocol}-{self.plan.seed}"

    def jobs(self) -> Iterator[Job]:
        """
        Yield the jobs.

        All methods and data sets have their first split before any has its second: other load on the machine
        then affects all methods alike, and an interrupted run has all rows and columns. The largest data sets
        come first, since they tell most about the time that the rest will take.
        """
        plan, n_jobs = self.plan, self.options.n_jobs
        splits = {
            data.name: self.protocol.splits(data.X, data.y, plan.seed, plan.n_splits)
            for data in self.data_sets
        }
        sizes = {data.name: len(splits[data.name][0][0]) * data.X.shape[1] for data in self.data_sets}
        fingerprints = {
            (method.name, data.name): fingerprint(
                "benchmarks.common.measure",
                self.estimator(method.name),
                data=data.digest,
                n_jobs=n_jobs,
                **package_version(method),
            )
            for method in plan.methods
            for data in self.data_sets
        }
        for number in range(plan.n_splits):
            for data in sorted(self.data_sets, key=lambda data: -sizes[data.name]):
                for method in plan.methods:
                    yield Job(
                        PART,
                        method.name,
                        data.name,
                        number,
                        partial(self._measure, method.name, data, splits[data.name][number]),
                        label=f"{method.name} on {data.name}, split {number + 1} of {plan.n_splits}",
                        fingerprint=fingerprints[method.name, data.name],
                        size=sizes[data.name],
                    )

    def report(self, results: Results) -> Report:
        plan, found = self.plan, results.part(PART, "accuracy")
        comparisons, checks = compare(found, plan), make_checks(found, plan)
        tables = [accuracy_table(found, plan), means_table(found, plan), probability_table(found, plan)]
        failures = score_failures(found, [method.name for method in plan.methods], plan.data_sets)
        if comparisons:
            tables.append(comparison_table(comparisons, plan))
        return Report(
            "The paper's table",
            f"{plan.n_splits} of {N_SPLITS} splits, seed {plan.seed}: {self.protocol.description}.",
            tables,
            checks,
            details=[
                make(found, name, plan)
                for name in plan.data_sets
                for make in (details_table, probability_details_table)
            ],
            show_details=self.options.details,
            legend=[(method.label, method.name, method.description) for method in plan.methods],
            figure_fields=plan.published_fields(found),
            records=[
                *plan.mean_records(found),
                *(comparison.as_dict() for comparison in comparisons),
                *(failure.as_dict() for failure in failures),
            ],
        )

    def _measure(self, method: str, data: DataSet, split: Split) -> Found:
        return {method: measure(self.estimator(method), data.X, data.y, split, self.options.n_jobs)}


BENCHMARK = Paper
