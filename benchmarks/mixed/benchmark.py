"""Tables as they are: every method on every data set, split by split."""

from __future__ import annotations

from dataclasses import dataclass

from benchmarks.common.methods import choose_methods
from benchmarks.common.probability_tables import score_failures
from benchmarks.common.protocols import Split
from benchmarks.common.set_tables import accuracy_table, by_set, score_table
from benchmarks.common.split_benchmark import SplitOptions
from benchmarks.common.table_benchmark import TableBenchmark
from benchmarks.engine import Found, Job, Report, Results, option
from benchmarks.engine.tables import plural
from benchmarks.mixed.checks import make_checks
from benchmarks.mixed.data import (
    MOST_TRAINING_ROWS,
    N_SPLITS,
    QUICK_SETS,
    SETS,
    MixedSet,
    load_mixed_sets,
    small_task,
)
from benchmarks.mixed.measure import measure_split, measure_table
from benchmarks.mixed.methods import METHODS
from benchmarks.mixed.plan import PART
from benchmarks.mixed.tables import means_table, ranks_table

DEFAULT_SPLITS, QUICK_SPLITS = 5, 1


@dataclass(frozen=True)
class MixedOptions(SplitOptions):
    """The options of the benchmark."""

    splits: int | None = option(
        None,
        f"Number of splits. Default: {DEFAULT_SPLITS}, with --quick {QUICK_SPLITS}.",
        kind=int,
        bounds=(1, N_SPLITS),
    )
    details: bool = option(False, "Also print a table per score.")


class Mixed(TableBenchmark[MixedOptions]):
    """Every method on eleven tables with categories and missing values."""

    name = "mixed"
    Options = MixedOptions
    parts = (PART,)
    main_scores = {PART: "accuracy"}
    quick = f"small data sets, {plural(QUICK_SPLITS, 'split')}."
    omitted = ("only",)
    measured_by = "benchmarks.mixed.measure"
    methods = METHODS

    def __init__(self, options: MixedOptions) -> None:
        super().__init__(options)
        n_splits = options.splits or (QUICK_SPLITS if options.quick else DEFAULT_SPLITS)
        self.make_plan(
            choose_methods(options.method, available=METHODS),
            load_mixed_sets,
            sets=SETS,
            quick_sets=QUICK_SETS,
            n_splits=n_splits,
        )

    def warm_up(self, name: str) -> None:
        try:
            measure_table(self.estimator(name), small_task(), self.options.n_jobs)
        except Exception:
            return  # the measurement will fail with the same error, and report it

    def describe(self, job: Job, found: Found) -> str:
        values = found[job.method]
        text, loss = f"accuracy {values['accuracy']:.3f}", values["log_loss"]
        return text if loss is None else f"{text}, log-loss {loss:.3f}"

    def report(self, results: Results) -> Report:
        plan, found = self.plan, results.part(PART, "accuracy")
        failures = score_failures(found, plan.method_names, plan.data_sets)
        return Report(
            "Tables as they are",
            f"{plural(plan.n_splits, 'stratified split')}, seed {plan.seed}: half of the rows for training, "
            f"at most {MOST_TRAINING_ROWS}, and the other half for testing. Tables with numbers, categories "
            "and missing values. Some methods take them as they are, others after an encoder that is fitted "
            "on the training rows.",
            [
                accuracy_table(found, plan),
                score_table(found, plan, "log_loss"),
                means_table(found, plan),
                ranks_table(found, plan),
            ],
            make_checks(found, plan),
            details=[
                by_set(found, plan, "balanced_accuracy", "Balanced accuracy"),
                by_set(found, plan, "roc_auc", "ROC AUC"),
                *(score_table(found, plan, score) for score in ("log_loss_floored", "brier", "ece")),
                by_set(found, plan, "fit_seconds", "Seconds to fit", largest=False),
            ],
            show_details=self.options.details,
            legend=[(method.label, method.name, method.description) for method in plan.methods],
            records=[failure.as_dict() for failure in failures],
        )

    def measure(self, method: str, data: MixedSet, split: Split) -> Found:
        return {method: measure_split(self.estimator(method), data, split, self.options.n_jobs)}


BENCHMARK = Mixed
