"""The noisy sets: every method on every data set, split by split."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial

from benchmarks.common.measure import PROBABILITY_SCORES
from benchmarks.common.methods import choose_methods, package_version, split_missing
from benchmarks.common.probability_tables import score_failures
from benchmarks.common.protocols import Split
from benchmarks.common.set_tables import accuracy_table, score_table
from benchmarks.common.split_benchmark import Plan, SplitBenchmark, SplitOptions, in_order
from benchmarks.engine import Found, Job, Report, Results, choose, fingerprint, option
from benchmarks.engine.tables import plural
from benchmarks.noisy.checks import make_checks
from benchmarks.noisy.data import MOST_ROWS, N_SPLITS, QUICK_SETS, SETS, NoisySet, load_noisy_sets
from benchmarks.noisy.measure import measure_split
from benchmarks.noisy.plan import COMPARED, PART
from benchmarks.noisy.tables import confident_table, means_table, vote_table

DEFAULT_SPLITS, QUICK_SPLITS = 3, 1


@dataclass(frozen=True)
class NoisyOptions(SplitOptions):
    """The options of the benchmark."""

    splits: int | None = option(
        None,
        f"Number of splits. Default: {DEFAULT_SPLITS}, with --quick {QUICK_SPLITS}.",
        kind=int,
        bounds=(1, N_SPLITS),
    )
    details: bool = option(False, "Also print a table per score.")


class Noisy(SplitBenchmark[NoisyOptions]):
    """Every method on ten noisy data sets."""

    name = "noisy"
    Options = NoisyOptions
    parts = (PART,)
    main_scores = {PART: "accuracy"}
    quick = f"small data sets, {plural(QUICK_SPLITS, 'split')}, and no slow methods."
    omitted = ("only",)

    def __init__(self, options: NoisyOptions) -> None:
        super().__init__(options)
        chosen = choose_methods(options.method or COMPARED)
        if options.quick and not options.method:
            chosen = [method for method in chosen if method.quick]
        methods, missing = split_missing(chosen)
        names = choose(options.data, SETS, "data set")
        if options.quick and not options.data:
            names = list(QUICK_SETS)
        self.data_sets, self.skipped = load_noisy_sets(names)
        if not self.data_sets:
            name, reason = next(iter(self.skipped.items()))
            raise ValueError(f"No data set could be loaded: {name} {reason}")
        self.skipped.update(missing)
        n_splits = options.splits or (QUICK_SPLITS if options.quick else DEFAULT_SPLITS)
        self.plan = Plan(options.seed, n_splits, methods, [data.name for data in self.data_sets])

    @property
    def variant(self) -> str:
        return f"seed-{self.plan.seed}"

    def jobs(self) -> Iterator[Job]:
        plan, n_jobs = self.plan, self.options.n_jobs
        data_sets = {data.name: data for data in self.data_sets}
        splits = {data.name: data.splits(plan.seed, plan.n_splits) for data in self.data_sets}
        for method, name, number in in_order(plan.methods, plan.n_splits, plan.data_sets):
            data, split = data_sets[name], splits[name][number]
            yield Job(
                PART,
                method.name,
                name,
                number,
                partial(self._measure, method.name, data, split),
                label=f"{method.name} on {name}, split {number + 1} of {plan.n_splits}",
                fingerprint=fingerprint(
                    "benchmarks.noisy.measure",
                    self.estimator(method.name),
                    data=data.digest,
                    n_jobs=n_jobs,
                    **package_version(method),
                ),
                size=len(split[0]) * data.table.shape[1],
            )

    def describe(self, job: Job, found: Found) -> str:
        values = found[job.method]
        loss = values["log_loss_floored"]
        text = f"accuracy {values['accuracy']:.3f}"
        return text if loss is None else f"{text}, log-loss {loss:.3f}"

    def report(self, results: Results) -> Report:
        plan, found = self.plan, results.part(PART, "accuracy")
        failures = score_failures(found, plan.method_names, plan.data_sets)
        return Report(
            "Noisy data",
            f"{plural(plan.n_splits, 'stratified split')}, seed {plan.seed}: half for training and half for "
            f"testing, at most {MOST_ROWS} rows each; of larger sets, streams included, every split is a "
            "random sample. All methods have the same rows, encoded by the training rows: numbers imputed by "
            "the median and z-scored, categories one-hot encoded with a level for missing values. CatBoost "
            "has the same columns of 0 and 1, not the categories.",
            [
                accuracy_table(found, plan),
                score_table(found, plan, "log_loss_floored"),
                means_table(found, plan),
                vote_table(found, plan),
                confident_table(found, plan),
            ],
            make_checks(found, plan),
            details=[score_table(found, plan, score) for score in PROBABILITY_SCORES[1:]],
            show_details=self.options.details,
            legend=[(method.label, method.name, method.description) for method in plan.methods],
            records=[
                *(
                    {
                        "kind": "vote",
                        "method": method,
                        "data_set": name,
                        "repeat": repeat,
                        "vote": values["vote"],
                    }
                    for method in plan.method_names
                    for name in plan.data_sets
                    for repeat, values in found.cell(method, name).items()
                    if "vote" in values
                ),
                *(failure.as_dict() for failure in failures),
            ],
        )

    def _measure(self, method: str, data: NoisySet, split: Split) -> Found:
        return {method: measure_split(self.estimator(method), data, split, self.options.n_jobs)}


BENCHMARK = Noisy
