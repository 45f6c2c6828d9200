"""The noisy sets: every method on every data set, split by split."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.common.measure import PROBABILITY_SCORES
from benchmarks.common.methods import choose_methods
from benchmarks.common.probability_tables import score_failures
from benchmarks.common.protocols import Split
from benchmarks.common.set_tables import accuracy_table, score_table
from benchmarks.common.split_benchmark import SplitOptions
from benchmarks.common.table_benchmark import TableBenchmark
from benchmarks.engine import Found, Job, Report, Results, option
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


class Noisy(TableBenchmark[NoisyOptions]):
    """Every method on ten noisy data sets."""

    name = "noisy"
    Options = NoisyOptions
    parts = (PART,)
    main_scores = {PART: "accuracy"}
    quick = f"small data sets, {plural(QUICK_SPLITS, 'split')}, and no slow methods."
    omitted = ("only",)
    measured_by = "benchmarks.noisy.measure"

    def __init__(self, options: NoisyOptions) -> None:
        super().__init__(options)
        chosen = choose_methods(options.method or COMPARED)
        if options.quick and not options.method:
            chosen = [method for method in chosen if method.quick]
        n_splits = options.splits or (QUICK_SPLITS if options.quick else DEFAULT_SPLITS)
        self.make_plan(chosen, load_noisy_sets, sets=SETS, quick_sets=QUICK_SETS, n_splits=n_splits)

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

    def measure(self, method: str, data: NoisySet, split: Split) -> Found:
        return {method: measure_split(self.estimator(method), data, split, self.options.n_jobs)}


BENCHMARK = Noisy
