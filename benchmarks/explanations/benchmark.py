"""Explanations: agreement with planted features, permuted labels, deletion on real data, and cost."""

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
from benchmarks.explanations.categories import (
    CITIES_TABLE,
    PLANTED_TABLE,
    TABLE_EXPLAINERS,
    TableExplainer,
    score_cities,
    score_planted_table,
)
from benchmarks.explanations.checks import make_checks
from benchmarks.explanations.explainers import LANN, OURS, choose_explainers
from benchmarks.explanations.measure import PlantedData, measure_cost, measure_deletion, measure_permuted
from benchmarks.explanations.summary import (
    CATEGORIES,
    CITIES,
    COST,
    MODELS,
    PARTS,
    PERMUTED,
    PLANTED,
    REAL,
    auc_difference,
)
from benchmarks.explanations.tables import make_tables
from benchmarks.explanations.tasks import Sizes, data_name, permuted_task, planted_task, real_task

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
    """Explanations. The parts "permuted", "real" and "cost" are about LANN alone."""

    name = "explanations"
    Options = ExplanationOptions
    parts = PARTS
    main_scores = {
        PLANTED: "auc", MODELS: "accuracy", CATEGORIES: "auc", CITIES: "city", PERMUTED: "auc",
        REAL: "deletion", COST: "ratio",
    }  # fmt: skip
    quick = "2 seeds, few rows, small real data sets; about two minutes."

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
            CATEGORIES: partial(self._table_jobs, CATEGORIES, PLANTED_TABLE, score_planted_table),
            CITIES: partial(self._table_jobs, CITIES, CITIES_TABLE, score_cities),
            PERMUTED: self._permuted_jobs,
            REAL: self._real_jobs,
            COST: self._cost_jobs,
        }
        for part in self.chosen:
            if part in (PLANTED, CATEGORIES, CITIES) or self.our_explainers:
                yield from makers[part]()

    def describe(self, job: Job, found: Found) -> str:
        if job.part == COST:
            return f"explaining takes {found[OURS]['ratio']:.2f} times as long as predicting"
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
        models = dict.fromkeys(explainer.model for explainer in self.explainers)
        for seed in range(self.sizes.n_seeds):
            for n_features in self.sizes.n_features:
                name = data_name(n_features)
                for model in models:
                    yield Job(
                        MODELS,
                        model,
                        name,
                        seed,
                        partial(self._planted.fit, model, n_features, seed),
                        label=f"fit of {model} on {name}, seed {seed}",
                        fingerprint=self._fingerprint(model),
                    )
                for explainer in self.explainers:
                    package = None if explainer.needs is None else version(explainer.needs)
                    yield Job(
                        PLANTED,
                        explainer.name,
                        name,
                        seed,
                        partial(self._planted.explain, explainer, n_features, seed),
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

    def _cost_jobs(self) -> Iterator[Job]:
        with_shap = any(explainer.name == "kernel-shap-lann" for explainer in self.explainers)
        for n_features in self.sizes.timed_features if OURS in self._our_names else ():
            name = data_name(n_features)
            yield Job(
                COST,
                OURS,
                name,
                0,
                partial(self._cost, n_features, with_shap),
                label=f"cost of {OURS} on {name}",
                fingerprint=self._fingerprint(OURS, with_shap=with_shap),
            )

    def _table(self, explainer: TableExplainer, seed: int, score: ScoreTable) -> Found:
        return {explainer.name: score(explainer, seed, self.sizes, self.options.n_jobs)}

    def _permuted(self, n_features: int, seed: int, permutation: int) -> Found:
        sizes = self.sizes
        task = planted_task(n_features, seed, sizes.permuted_train, sizes.permuted_test, self.options.n_jobs)
        return measure_permuted(self.our_explainers, permuted_task(task, permutation))

    def _deletion(self, data: DataSet, number: int) -> Found:
        task = real_task(data, number, self.sizes.real_rows, self.options.n_jobs)
        return measure_deletion(self.our_explainers, task)

    def _cost(self, n_features: int, with_shap: bool) -> Found:
        sizes, n_jobs = self.sizes, self.options.n_jobs
        task = planted_task(n_features, 0, sizes.n_train, sizes.timed_rows, n_jobs)
        model = make_estimator(OURS, n_jobs, 0)
        return {OURS: measure_cost(model, task, sizes.timed_turns, sizes.kernel_rows, with_shap=with_shap)}

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
