"""Missing values: every method with cells emptied at random, and with informative gaps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from benchmarks.common.measure import measure_task
from benchmarks.common.methods import Method, choose_methods, make_estimator
from benchmarks.common.probability_tables import score_failures
from benchmarks.common.split_benchmark import Plan, SplitBenchmark, SplitOptions, in_order
from benchmarks.engine import Found, Job, Report, Results, choose, fingerprint, option
from benchmarks.engine.tables import plural
from benchmarks.missing.checks import make_checks
from benchmarks.missing.data import (
    INFORMATIVE_SETS,
    QUICK_RANDOM_SETS,
    RANDOM_SETS,
    Source,
    informative_sources,
    random_sources,
)
from benchmarks.missing.methods import METHODS, TABLE_METHODS
from benchmarks.missing.plan import COMPLETE, INFORMATIVE, PARTS, RANDOM
from benchmarks.missing.tables import complete_plan, make_tables
from benchmarks.missing.tasks import MOST_TEST_ROWS, MOST_TRAINING_ROWS, SHARE

N_SPLITS = 10
DEFAULT_SPLITS, QUICK_SPLITS = 3, 1


@dataclass(frozen=True)
class MissingOptions(SplitOptions):
    """The options of the benchmark."""

    splits: int | None = option(
        None,
        f"Number of splits. Default: {DEFAULT_SPLITS}, with --quick {QUICK_SPLITS}.",
        kind=int,
        bounds=(1, N_SPLITS),
    )


class Missing(SplitBenchmark[MissingOptions]):
    """Every method on data with missing values."""

    name = "missing"
    Options = MissingOptions
    parts = PARTS
    main_scores = {RANDOM: "accuracy", COMPLETE: "accuracy", INFORMATIVE: "accuracy"}
    quick = f"small data sets, {plural(QUICK_SPLITS, 'split')}."
    methods = METHODS

    def __init__(self, options: MissingOptions) -> None:
        super().__init__(options)
        methods = choose_methods(options.method, available=METHODS)
        n_splits = options.splits or (QUICK_SPLITS if options.quick else DEFAULT_SPLITS)
        chosen = choose(options.data, [*RANDOM_SETS, *INFORMATIVE_SETS], "data set")
        if options.quick and not options.data:
            chosen = [*QUICK_RANDOM_SETS, *INFORMATIVE_SETS]
        names = {
            RANDOM: [name for name in chosen if name in RANDOM_SETS],
            INFORMATIVE: [name for name in chosen if name in INFORMATIVE_SETS],
        }
        self.sources, self.plans = {}, {}
        empty = Plan(options.seed, n_splits, methods, [])
        for part in PARTS:
            sources = self._load(part, names[part] if part in self.chosen else [])
            self.sources[part] = {source.name: source for source in sources}
            self.plans[part] = replace(empty, data_sets=list(self.sources[part]))
        if not any(plan.data_sets for plan in self.plans.values()):
            name, reason = next(iter(self.skipped.items()), ("", "no data set belongs to these parts."))
            raise ValueError(f"No data set could be loaded: {f'{name} {reason}'.strip()}")

    def _load(self, part: str, names: Sequence[str]) -> list[Source]:
        load = partial(random_sources, gaps=True) if part == RANDOM else informative_sources
        found, skipped = load(names)
        self.skipped.update(skipped)
        return found

    @property
    def variant(self) -> str:
        return f"seed-{self.options.seed}"

    def jobs(self) -> Iterator[Job]:
        plan = self.plans[RANDOM]
        complete, _ = random_sources(plan.data_sets, gaps=False)
        yield from self._part_jobs(RANDOM, plan, self.sources[RANDOM])
        yield from self._part_jobs(COMPLETE, complete_plan(plan), {one.name: one for one in complete})
        yield from self._part_jobs(INFORMATIVE, self.plans[INFORMATIVE], self.sources[INFORMATIVE])

    def _part_jobs(self, part: str, plan: Plan, sources: dict[str, Source]) -> Iterator[Job]:
        n_jobs = self.options.n_jobs
        for method, name, number in in_order(plan.methods, plan.n_splits, plan.data_sets):
            source = sources[name]
            yield Job(
                part,
                method.name,
                name,
                number,
                partial(self._measure, method.name, source, number),
                label=f"{method.name} on {name}, {part}, split {number + 1} of {plan.n_splits}",
                fingerprint=fingerprint(
                    "benchmarks.missing.tasks",
                    self._estimator_for(source, method.name),
                    data=source.digest,
                    n_jobs=n_jobs,
                ),
                size=source.size,
            )

    def describe(self, job: Job, found: Found) -> str:
        return f"accuracy {found[job.method]['accuracy']:.3f}"

    def report(self, results: Results) -> Report:
        random, informative = self.plans[RANDOM], self.plans[INFORMATIVE]
        return Report(
            "Missing values",
            f"{plural(random.n_splits, 'split')}, seed {random.seed}. At random: the paper's data sets, 25 % "
            f"of the rows for training, at most {MOST_TRAINING_ROWS}, and at most {MOST_TEST_ROWS} others "
            f"for testing, z-scored on the training rows; {100 * SHARE:.0f} % of the cells of all of these "
            "are emptied completely at random. Informative: in the votes of house-votes-84 and in generated "
            "data, which values are missing depends on the class.",
            make_tables(results, random, informative),
            make_checks(results, random),
            legend=[(method.label, method.name, method.description) for method in random.methods],
            records=[
                failure.as_dict()
                for part, plan in self.plans.items()
                for failure in score_failures(results.part(part), plan.method_names, plan.data_sets)
            ],
        )

    def _measure(self, method: str, source: Source, number: int) -> Found:
        estimator = self._estimator_for(source, method)
        return {method: measure_task(estimator, source.make(self.options.seed, number), self.options.n_jobs)}

    def _estimator_for(self, source: Source, method: str) -> Any:
        methods: list[Method] = TABLE_METHODS if source.has_tables else METHODS
        return make_estimator(method, self.options.n_jobs, self.options.seed, methods)


BENCHMARK = Missing
