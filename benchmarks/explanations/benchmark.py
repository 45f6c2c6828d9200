"""Explanations: agreement with planted features, faithfulness to the model, answers, curves, and cost."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass, replace
from functools import partial
from importlib.metadata import version
from typing import Any

from benchmarks.common.datasets import DataSet, load_sets
from benchmarks.common.methods import make_estimator
from benchmarks.engine import (
    Benchmark,
    Found,
    Job,
    Options,
    Report,
    Results,
    Values,
    fingerprint,
    option,
)
from benchmarks.engine.tables import plural
from benchmarks.explanations import tasks
from benchmarks.explanations.answers import score_answers
from benchmarks.explanations.categories import (
    CITIES_TABLE,
    PLANTED_TABLE,
    TABLE_EXPLAINERS,
    TableExplainer,
    score_cities,
    score_planted_table,
)
from benchmarks.explanations.checks import make_checks
from benchmarks.explanations.cost import measure_first
from benchmarks.explanations.curves import KERNEL, score_curves
from benchmarks.explanations.explainers import LANN, OURS, Explainer, choose_explainers
from benchmarks.explanations.faithfulness import score_faithfulness
from benchmarks.explanations.fresh import measure_fresh
from benchmarks.explanations.kinds import KINDS as KINDS_OF_DATA
from benchmarks.explanations.measure import PlantedData, measure_cost, measure_deletion, measure_permuted
from benchmarks.explanations.summary import (
    ANSWERS,
    CATEGORIES,
    CITIES,
    COST,
    CURVES,
    FAITHFULNESS,
    FIRST,
    FRESH,
    KINDS,
    MODELS,
    PARTS,
    PERMUTED,
    PLANTED,
    REAL,
    auc_difference,
)
from benchmarks.explanations.tables import make_tables
from benchmarks.explanations.tasks import (
    Sizes,
    Task,
    data_name,
    permuted_task,
    planted_task,
    real_task,
    repeated_task,
    shape_name,
)

# Explanation methods that are measured on further kinds of data.
ON_KINDS = (
    OURS, "lann-support", "tree-shap", "kernel-shap-lann", "lime-lann", "permutation-lann",
    "permutation-forest",
)  # fmt: skip
TURNS_OF_FIRST = 2

ScoreTable = Callable[[TableExplainer, int, Sizes, int], Values]


@dataclass(frozen=True)
class ExplanationOptions(Options):
    """The options of the benchmark."""

    seeds: int | None = option(
        None,
        "Generate data with the seeds 0 … N − 1. Default: 10, with --quick 2.",
        kind=int,
        bounds=(1, float("inf")),
    )
    method: tuple[str, ...] = option((), "Measure only this method; may be repeated.", metavar="NAME")


class Explanations(Benchmark[ExplanationOptions]):
    """Explanations. The parts from "permuted" on are about LANN alone."""

    name = "explanations"
    Options = ExplanationOptions
    parts = PARTS
    main_scores = {
        PLANTED: "auc", KINDS: "auc", MODELS: "accuracy", CATEGORIES: "auc", CITIES: "city", PERMUTED: "auc",
        REAL: "deletion", FAITHFULNESS: "rank", ANSWERS: "grouped_support", CURVES: "deletion", COST: "ratio",
        FIRST: "ratio", FRESH: "total",
    }  # fmt: skip
    quick = "2 seeds, few rows, small real data sets; about five minutes."

    def __init__(self, options: ExplanationOptions) -> None:
        super().__init__(options)
        self.sizes = tasks.QUICK if options.quick else tasks.FULL
        if options.seeds is not None:
            self.sizes = replace(self.sizes, n_seeds=options.seeds)
        chosen = choose_explainers(options.method)
        self.skipped = {e.name: e.missing for e in chosen if e.missing is not None}
        self.explainers = [explainer for explainer in chosen if explainer.missing is None]
        # Explanations of LANN itself: fast enough for the parts that need many fits.
        self.our_explainers = [explainer for explainer in self.explainers if explainer.group == LANN]
        names = [explainer.name for explainer in self.explainers]
        self.table_explainers = [one for one in TABLE_EXPLAINERS if one.explainer in names]
        self._planted = PlantedData(self.sizes, options.n_jobs)

    def jobs(self) -> Iterator[Job]:
        makers: dict[str, Callable[[], Iterator[Job]]] = {
            PLANTED: self._planted_jobs,
            KINDS: self._kind_jobs,
            CATEGORIES: partial(self._table_jobs, CATEGORIES, PLANTED_TABLE, score_planted_table),
            CITIES: partial(self._table_jobs, CITIES, CITIES_TABLE, score_cities),
            PERMUTED: self._permuted_jobs,
            REAL: self._real_jobs,
            FAITHFULNESS: self._faithfulness_jobs,
            ANSWERS: self._answer_jobs,
            CURVES: self._curve_jobs,
            COST: self._cost_jobs,
            FRESH: self._fresh_jobs,
        }
        for part in self.chosen:
            if part in (PLANTED, KINDS, CATEGORIES, CITIES) or self.our_explainers:
                yield from makers[part]()

    def describe(self, job: Job, found: Found) -> str:
        if job.part == COST:
            return f"explaining takes {found[OURS]['ratio']:.2f} times as long as predicting"
        if job.part == FIRST:
            return f"the first explanation takes {found[OURS]['ratio']:.2f} times as long as the fit"
        score = self.main_scores[job.part]
        texts = [f"{method} {values[score]:.3f}" for method, values in found.items()]
        return f"{score} {', '.join(texts)}"

    def report(self, results: Results) -> Report:
        sizes = self.sizes
        return Report(
            "Explanations against planted truth",
            f"Means over {plural(sizes.n_seeds, 'seed')} of `lann.datasets.make_local_relevance` with its "
            f"defaults, {sizes.n_train} training rows and {sizes.n_test} test rows.",
            make_tables(results, self.explainers, sizes),
            make_checks(results, self.explainers, sizes),
            legend=[
                *((e.label, e.name, e.description) for e in self.explainers),
                *((f"{e.label}, tables", e.name, e.description) for e in self.table_explainers),
            ],
            figure_fields={
                (PLANTED, e.name, data_name(n)): {
                    "lead_of_lann": auc_difference(results, OURS, e.name, data_name(n))
                }
                for e in self.explainers
                for n in sizes.n_features
            },
        )

    def _planted_jobs(self) -> Iterator[Job]:
        return self._agreement_jobs(
            PLANTED, self.explainers, [data_name(n_features) for n_features in self.sizes.n_features]
        )

    def _kind_jobs(self) -> Iterator[Job]:
        compared = [explainer for explainer in self.explainers if explainer.name in ON_KINDS]
        return self._agreement_jobs(KINDS, compared, list(KINDS_OF_DATA))

    def _agreement_jobs(self, part: str, explainers: list[Explainer], names: list[str]) -> Iterator[Job]:
        models = dict.fromkeys(explainer.model for explainer in explainers)
        for seed in range(self.sizes.n_seeds):
            for name in names:
                for model in models:
                    yield Job(
                        MODELS,
                        model,
                        name,
                        seed,
                        partial(self._planted.fit, model, name, seed),
                        label=f"fit of {model} on {name}, seed {seed}",
                        fingerprint=self._fingerprint(model),
                    )
                for explainer in explainers:
                    package = None if explainer.needs is None else version(explainer.needs)
                    yield Job(
                        part,
                        explainer.name,
                        name,
                        seed,
                        partial(self._planted.explain, explainer, name, seed),
                        label=f"{explainer.name} on {name}, seed {seed}",
                        fingerprint=self._fingerprint(explainer.model, package=package),
                    )

    def _table_jobs(self, part: str, data_set: str, score: ScoreTable) -> Iterator[Job]:
        for seed in range(self.sizes.n_seeds):
            for explainer in self.table_explainers:
                if part == CITIES and not explainer.has_votes:
                    continue
                yield Job(
                    part,
                    explainer.name,
                    data_set,
                    seed,
                    partial(self._table, explainer, seed, score),
                    label=f"{explainer.name} on {data_set}, seed {seed}",
                    fingerprint=fingerprint(
                        "benchmarks.explanations.categories",
                        explainer.make(self.options.n_jobs, 0),
                        sizes=[self.sizes.n_train, self.sizes.n_test, self.sizes.n_rows[explainer.rows]],
                        n_jobs=self.options.n_jobs,
                    ),
                )

    def _permuted_jobs(self) -> Iterator[Job]:
        n_permutations = self.sizes.n_permutations
        for seed in range(self.sizes.n_seeds):
            for n_features in self.sizes.n_features:
                for permutation in range(n_permutations):
                    yield Job(
                        PERMUTED,
                        OURS,
                        data_name(n_features),
                        seed * n_permutations + permutation,
                        partial(self._permuted, n_features, seed, permutation),
                        label=f"permuted labels {permutation + 1} on {data_name(n_features)}, seed {seed}",
                        fingerprint=self._fingerprint(OURS, explained=self._our_names),
                    )

    def _real_jobs(self) -> Iterator[Job]:
        data_sets, skipped = load_sets(self.sizes.real_sets)
        self.skipped.update(skipped)
        for data in data_sets:
            for number in range(self.sizes.real_splits):
                yield Job(
                    REAL,
                    OURS,
                    data.name,
                    number,
                    partial(self._deletion, data, number),
                    label=f"{OURS} on {data.name}, split {number + 1}",
                    fingerprint=self._fingerprint(OURS, explained=self._our_names, data=data.digest),
                )

    def _faithfulness_jobs(self) -> Iterator[Job]:
        sizes = self.sizes
        return self._jobs_by_set(FAITHFULNESS, sizes.faithful_sets, sizes.faithful_rows, self._faithfulness)

    def _answer_jobs(self) -> Iterator[Job]:
        return self._jobs_by_set(ANSWERS, self.sizes.real_sets, self.sizes.answer_rows, self._answers)

    def _curve_jobs(self) -> Iterator[Job]:
        sizes = self.sizes
        return self._jobs_by_set(
            CURVES, sizes.curve_sets, sizes.curve_batch, self._curves, n_splits=sizes.curve_splits
        )

    def _jobs_by_set(
        self, part: str, names: tuple[str, ...], n_rows: int, run: Callable[[Task], Found], n_splits: int = 1
    ) -> Iterator[Job]:
        """Yield a job for each split of real data, and, but for answers, for planted data."""
        if OURS not in self._our_names:
            return
        sizes, n_jobs = self.sizes, self.options.n_jobs
        data_sets, skipped = load_sets(names)
        self.skipped.update(skipped)
        made: list[tuple[str, str, Callable[[int], Task]]] = [
            (data.name, data.digest, partial(real_task, data, n_rows=n_rows, n_jobs=n_jobs))
            for data in data_sets
        ]
        if part != ANSWERS:
            n_features = sizes.checked_features
            make = partial(planted_task, n_features, n_train=sizes.n_train, n_test=n_rows, n_jobs=n_jobs)
            made.insert(0, (data_name(n_features), "", make))
        for name, digest, make_task in made:
            for number in range(n_splits):
                yield Job(
                    part,
                    OURS,
                    name,
                    number,
                    partial(self._on_task, make_task, number, run),
                    label=f"{part} on {name}, split {number + 1}",
                    fingerprint=self._fingerprint(OURS, data=digest, with_shap=self._with_shap),
                )

    def _cost_jobs(self) -> Iterator[Job]:
        if OURS not in self._our_names:
            return
        sizes = self.sizes
        data_sets, skipped = load_sets(sizes.timed_sets)
        self.skipped.update(skipped)
        names: list[tuple[str, DataSet | int]] = [
            *((data_name(n_features), n_features) for n_features in sizes.timed_features),
            *((data.name, data) for data in data_sets),
        ]
        for name, data in names:
            yield Job(
                COST,
                OURS,
                name,
                0,
                partial(self._cost, data),
                label=f"cost of {OURS} on {name}",
                fingerprint=self._fingerprint(OURS, with_shap=self._with_shap),
            )
        for shape in sizes.first_shapes:
            name = shape_name(*shape)
            yield Job(
                FIRST,
                OURS,
                name,
                0,
                partial(self._first, *shape),
                label=f"first explanation of {OURS} on {name}",
                fingerprint=self._fingerprint(OURS),
            )

    def _fresh_jobs(self) -> Iterator[Job]:
        name = data_name(self.sizes.fresh_features)
        yield Job(
            FRESH,
            OURS,
            name,
            0,
            self._fresh,
            label=f"new process with {OURS} on {name}",
            fingerprint=self._fingerprint(OURS),
        )

    def warm_ups(self, jobs: list[Job]) -> dict[str, Callable[[], object]]:
        # Kernels are compiled before something is timed.
        return {OURS: self._warm_up} if any(job.part in (CURVES, COST, FIRST) for job in jobs) else {}

    def _warm_up(self) -> None:
        task = planted_task(8, 0, 100, 5, self.options.n_jobs)
        explanation = make_estimator(OURS, self.options.n_jobs, 0).fit(task.X, task.y).explain(task.X_test)
        if len(explanation.support) != len(explanation.in_words()):
            raise RuntimeError("An explanation must have one sentence for each row.")

    def _table(self, explainer: TableExplainer, seed: int, score: ScoreTable) -> Found:
        return {explainer.name: score(explainer, seed, self.sizes, self.options.n_jobs)}

    def _permuted(self, n_features: int, seed: int, permutation: int) -> Found:
        sizes = self.sizes
        task = planted_task(n_features, seed, sizes.permuted_train, sizes.permuted_test, self.options.n_jobs)
        return measure_permuted(self.our_explainers, permuted_task(task, permutation))

    def _deletion(self, data: DataSet, number: int) -> Found:
        task = real_task(data, number, self.sizes.real_rows, self.options.n_jobs)
        return measure_deletion(self.our_explainers, task)

    def _on_task(self, make_task: Callable[[int], Task], number: int, run: Callable[[Task], Found]) -> Found:
        return run(make_task(number))

    def _faithfulness(self, task: Task) -> Found:
        return {OURS: score_faithfulness(self._fitted(task), task.X_test)}

    def _answers(self, task: Task) -> Found:
        return {OURS: score_answers(self._fitted(task), task.X_test)}

    def _curves(self, task: Task) -> Found:
        return score_curves(self._fitted(task), task, self.sizes.curve_rows, with_shap=self._with_shap)

    def _fitted(self, task: Task) -> Any:
        return make_estimator(OURS, self.options.n_jobs, task.seed).fit(task.X, task.y)

    def _cost(self, data: DataSet | int) -> Found:
        sizes, n_jobs = self.sizes, self.options.n_jobs
        if isinstance(data, int):
            task = planted_task(data, 0, sizes.n_train, sizes.timed_rows, n_jobs)
        else:
            task = repeated_task(real_task(data, 0, sizes.timed_rows, n_jobs), sizes.timed_rows)
        model = make_estimator(OURS, n_jobs, 0)
        return {
            OURS: measure_cost(model, task, sizes.timed_turns, sizes.kernel_rows, with_shap=self._with_shap)
        }

    def _first(self, n_rows: int, n_features: int) -> Found:
        task = planted_task(n_features, 0, n_rows, 1, self.options.n_jobs)
        return {OURS: measure_first(make_estimator(OURS, self.options.n_jobs, 0), task, TURNS_OF_FIRST)}

    def _fresh(self) -> Found:
        sizes = self.sizes
        task = planted_task(sizes.fresh_features, 0, sizes.n_train, 1, self.options.n_jobs)
        return {OURS: measure_fresh(self._fitted(task), task.X_test, sizes.timed_turns)}

    @property
    def _with_shap(self) -> bool:
        return any(explainer.name == KERNEL for explainer in self.explainers)

    @property
    def _our_names(self) -> list[str]:
        return [explainer.name for explainer in self.our_explainers]

    def _fingerprint(self, model: str, **values: Any) -> Values:
        # More seeds or other numbers of features add measurements, but do not change them.
        sizes = asdict(replace(self.sizes, n_seeds=1, n_features=()))
        n_jobs = self.options.n_jobs
        estimator = make_estimator(model, n_jobs, 0)
        return fingerprint(
            "benchmarks.explanations.benchmark", estimator, sizes=sizes, n_jobs=n_jobs, **values
        )


BENCHMARK = Explanations
