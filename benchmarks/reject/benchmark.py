"""The reject option: every method on every data set of the paper, split by split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

import numpy as np

from benchmarks.common.datasets import DataSet, choose_sets, load_sets
from benchmarks.common.measure import Task
from benchmarks.common.methods import choose_methods
from benchmarks.common.protocols import PROTOCOLS, Split, scale
from benchmarks.common.split_benchmark import Plan, SplitBenchmark, SplitOptions, in_order
from benchmarks.engine import Found, Job, Report, Results, fingerprint, option
from benchmarks.engine.tables import plural
from benchmarks.reject.checks import make_checks
from benchmarks.reject.measure import COVERAGES, N_FOLDS, measure_reject
from benchmarks.reject.methods import METHODS
from benchmarks.reject.plan import PART, digest_of, load_others
from benchmarks.reject.strangers import OtherSet
from benchmarks.reject.tables import make_tables

N_SPLITS = 10
DEFAULT_SPLITS, QUICK_SPLITS = 3, 1


@dataclass(frozen=True)
class RejectOptions(SplitOptions):
    """The options of the benchmark."""

    splits: int | None = option(
        None,
        f"Number of splits. Default: {DEFAULT_SPLITS}, with --quick {QUICK_SPLITS}.",
        kind=int,
        bounds=(1, N_SPLITS),
    )


class Reject(SplitBenchmark[RejectOptions]):
    """Every method in a reject option on the data sets of the paper."""

    name = "reject"
    Options = RejectOptions
    parts = (PART,)
    main_scores = {PART: "aurc_combined"}
    quick = f"small data sets, {plural(QUICK_SPLITS, 'split')}."
    omitted = ("only",)
    methods = METHODS

    def __init__(self, options: RejectOptions) -> None:
        super().__init__(options)
        methods = choose_methods(options.method, available=METHODS)
        n_splits = options.splits or (QUICK_SPLITS if options.quick else DEFAULT_SPLITS)
        self.data_sets, self.skipped = load_sets(choose_sets(options.data, quick=options.quick))
        if not self.data_sets:
            name, reason = next(iter(self.skipped.items()))
            raise ValueError(f"No data set could be loaded: {name} {reason}")
        self.others = load_others()
        self.plan = Plan(options.seed, n_splits, methods, [data.name for data in self.data_sets])

    @property
    def variant(self) -> str:
        return f"seed-{self.plan.seed}"

    def jobs(self) -> Iterator[Job]:
        plan, n_jobs = self.plan, self.options.n_jobs
        data_sets = {data.name: data for data in self.data_sets}
        splits = {
            data.name: PROTOCOLS["paper"].splits(data.X, data.y, plan.seed, plan.n_splits)
            for data in self.data_sets
        }
        digest = digest_of(self.others)
        for method, name, number in in_order(plan.methods, plan.n_splits, plan.data_sets):
            data = data_sets[name]
            yield Job(
                PART,
                method.name,
                name,
                number,
                partial(self.measure, method.name, data, splits[name][number]),
                label=f"{method.name} on {name}, split {number + 1} of {plan.n_splits}",
                fingerprint=fingerprint(
                    "benchmarks.reject.measure",
                    self.estimator(method.name),
                    data=data.digest,
                    others=digest,
                    n_jobs=n_jobs,
                ),
                size=data.X.size,
            )

    def measure(self, method: str, data: DataSet, split: Split) -> Found:
        """Measure a method on a split of a data set."""
        train, test = split
        X_train, X_test = scale(data.X, split)
        deviation = data.X[train].std(axis=0)
        unscaled = data.X[train].mean(axis=0), np.where(deviation > 0, deviation, 1.0)
        others: list[OtherSet] = [other for other in self.others if other.name != data.name]
        task = Task(X_train, data.y[train], X_test, data.y[test])
        return {method: measure_reject(self.estimator(method), task, unscaled, others, self.options.seed)}

    def describe(self, job: Job, found: Found) -> str:
        values = found[job.method]
        return f"AURC {100 * values['aurc_combined']:.2f} %, {100 * values['gone']:.0f} % of the errors gone"

    def report(self, results: Results) -> Report:
        found, plan = results.part(PART, "aurc_combined"), self.plan
        return Report(
            "Reject option",
            f"{plural(plan.n_splits, 'split')}, seed {plan.seed}: 25 % of the rows for training, the others "
            f"for testing, z-scored on the training rows. Thresholds are learned on the training rows, by "
            f"cross-fitting in {N_FOLDS} folds. All figures are those of test rows.",
            make_tables(found, plan),
            make_checks(found, plan),
            legend=[(method.label, method.name, method.description) for method in plan.methods],
            records=[{"kind": "coverages", "values": COVERAGES.tolist()}],
        )


BENCHMARK = Reject
