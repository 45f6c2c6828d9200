"""Whether explanations find planted features, beside SHAP and LIME; faithfulness, curves and cost."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from dataclasses import asdict, replace
from functools import partial
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.explanations import actions, scores
from benchmarks.explanations.data import (
    FULL,
    KINDS,
    QUICK,
    Task,
    data_name,
    permuted_task,
    planted_task,
    real_task,
    repeated_task,
    shape_name,
)
from benchmarks.explanations.explainers import (
    CITIES_TABLE,
    LANN,
    OURS,
    PLANTED_TABLE,
    TABLE_EXPLAINERS,
    Explainer,
    choose_explainers,
)
from benchmarks.explanations.stability import (
    CATBOOST,
    load_stability_sets,
    measure_errors,
    measure_stability,
)
from benchmarks.explanations.stability import MODELS as STABILITY_MODELS
from benchmarks.harness import (
    NAN,
    Benchmark,
    Check,
    Found,
    Job,
    Report,
    Results,
    Table,
    check,
    number,
    positive,
    share,
)
from benchmarks.methods import make_estimator
from benchmarks.paper import lowest
from benchmarks.tabular import DataSet, load_sets

(
    PLANTED, KINDS_PART, CATEGORIES, CITIES, PERMUTED, REAL, FAITHFULNESS, ANSWERS, CURVES, STABILITY, ERRORS,
    COST, FRESH,
) = PARTS = (
    "planted", "kinds", "categories", "cities", "permuted", "real", "faithfulness", "answers", "curves",
    "stability", "errors", "cost", "fresh",
)  # fmt: skip
MODELS, FIRST = "models", "first call"
ON_KINDS = (
    OURS, "lann-support", "tree-shap", "kernel-shap-lann", "lime-lann", "permutation-lann",
    "permutation-forest",
)  # fmt: skip
SUPPORT, KERNEL = scores.SUPPORT, scores.KERNEL


class Explanations(Benchmark):
    parts = (*PARTS, *actions.PARTS)
    main_score = "auc"
    quick = "2 seeds, few rows, small real data sets; about five minutes."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        text = "Generate data with the seeds 0 … N − 1. Default: 10, with --quick 2."
        parser.add_argument("--seeds", type=positive, help=text)
        parser.add_argument("--method", action="append", metavar="NAME", help="Only this method; repeatable.")

    def __init__(self, options: argparse.Namespace) -> None:
        super().__init__(options)
        self.sizes = QUICK if options.quick else FULL
        if options.seeds is not None:
            self.sizes = replace(self.sizes, n_seeds=options.seeds)
        chosen = choose_explainers(options.method or ())
        self.skipped = {e.name: e.missing for e in chosen if e.missing is not None}
        self.explainers = [explainer for explainer in chosen if explainer.missing is None]
        self.ours = [explainer for explainer in self.explainers if explainer.group == LANN]
        names = [explainer.name for explainer in self.explainers]
        self.has_ours, self.with_shap = OURS in names, KERNEL in names
        self.table_explainers = [one for one in TABLE_EXPLAINERS if one.explainer in names]
        self.planted = scores.PlantedData(self.sizes, options.n_jobs)
        sizes = asdict(replace(self.sizes, n_seeds=1, n_features=()))
        self.key = (repr(sizes), options.n_jobs, self.with_shap, [explainer.name for explainer in self.ours])

    def jobs(self) -> Iterator[Job]:
        sizes, n_jobs = self.sizes, self.options.n_jobs
        seeds = range(sizes.n_seeds)
        if PLANTED in self.chosen:
            yield from self._planted_jobs(PLANTED, self.explainers, [data_name(n) for n in sizes.n_features])
        if KINDS_PART in self.chosen:
            compared = [explainer for explainer in self.explainers if explainer.name in ON_KINDS]
            yield from self._planted_jobs(KINDS_PART, compared, list(KINDS))
        tables = (
            (CATEGORIES, PLANTED_TABLE, scores.score_planted_table),
            (CITIES, CITIES_TABLE, scores.score_cities),
        )
        for part, data, score in tables:
            for seed in seeds if part in self.chosen else ():
                for one in self.table_explainers:
                    if part == CATEGORIES or one.has_votes:
                        run = partial(self._named, one.name, partial(score, one, seed, sizes, n_jobs))
                        yield Job(part, one.name, data, seed, run, self.key)
        if PERMUTED in self.chosen and self.ours:
            for seed in seeds:
                for n in sizes.n_features:
                    for i in range(sizes.n_permutations):
                        run = partial(self._permuted, n, seed, i)
                        yield Job(
                            PERMUTED, OURS, data_name(n), seed * sizes.n_permutations + i, run, self.key
                        )
        if REAL in self.chosen and self.ours:
            for data_set in self._load(sizes.real_sets):
                for split in range(sizes.real_splits):
                    yield Job(
                        REAL, OURS, data_set.name, split, partial(self._real, data_set, split), self.key
                    )
        yield from self._stability_jobs()
        if self.has_ours:
            yield from self._own_jobs()
        # They are compared with methods of their own.
        for part in (part for part in actions.PARTS if part in self.chosen and not self.options.method):
            yield from actions.jobs(part, self.sizes, self.options.n_jobs, self.key[:2], self.skipped)

    def _stability_jobs(self) -> Iterator[Job]:
        """Return the jobs that compare explanations by several models of a table."""
        sizes, n_jobs, wanted = self.sizes, self.options.n_jobs, self.options.method
        parts = [part for part in (STABILITY, ERRORS) if part in self.chosen]
        if not parts:
            return
        sets, skipped = load_stability_sets(sizes.stability_sets)
        self.skipped.update(skipped)
        models = []
        for name, (_, _, package) in STABILITY_MODELS.items():
            if package is not None and find_spec(package) is None:
                self.skipped[name] = f"needs {package}, which is not installed."
            elif wanted is None or name in wanted:
                models.append(name)
        for data in sets:
            key = (self.key, data.digest)
            for split in range(sizes.stability_splits):
                for name in models if STABILITY in parts else ():
                    run: Callable[[], Found] = partial(measure_stability, data, split, name, sizes, n_jobs)
                    yield Job(STABILITY, name, data.name, split, run, key)
                if ERRORS in parts and self.has_ours:
                    run = partial(measure_errors, data, split, sizes, n_jobs)
                    yield Job(ERRORS, OURS, data.name, split, run, key)

    def _planted_jobs(self, part: str, explainers: list[Explainer], names: list[str]) -> Iterator[Job]:
        for seed in range(self.sizes.n_seeds):
            for name in names:
                for model in dict.fromkeys(explainer.model for explainer in explainers):
                    yield Job(
                        MODELS, model, name, seed, partial(self.planted.fit, model, name, seed), self.key
                    )
                for explainer in explainers:
                    run = partial(self.planted.explain, explainer, name, seed)
                    yield Job(part, explainer.name, name, seed, run, self.key)

    def _own_jobs(self) -> Iterator[Job]:
        """Return the jobs that measure explanations of LANN, alone or beside KernelSHAP on the same model."""
        sizes, n_jobs = self.sizes, self.options.n_jobs
        kinds: dict[str, tuple[tuple[str, ...], int, int, Callable[[Task], Found]]] = {
            FAITHFULNESS: (sizes.faithful_sets, sizes.faithful_rows, 1, self._faithfulness),
            ANSWERS: (sizes.real_sets, sizes.answer_rows, 1, self._answers),
            CURVES: (sizes.curve_sets, sizes.curve_batch, sizes.curve_splits, self._curves),
        }
        for part in (part for part in kinds if part in self.chosen):
            names, n_rows, n_splits, run = kinds[part]
            made: dict[str, Callable[[int], Task]] = {}
            if part != ANSWERS:
                n = sizes.checked_features
                made[data_name(n)] = partial(
                    planted_task, n, n_train=sizes.n_train, n_test=n_rows, n_jobs=n_jobs
                )
            made |= {d.name: partial(real_task, d, n_rows=n_rows, n_jobs=n_jobs) for d in self._load(names)}
            for name, make in made.items():
                for split in range(n_splits):
                    job = lambda make=make, split=split, run=run: run(make(split))  # noqa: E731
                    yield Job(part, OURS, name, split, job, self.key)
        if COST in self.chosen:
            data = {data_name(n): n for n in sizes.timed_features} | {
                d.name: d for d in self._load(sizes.timed_sets)
            }
            for name, one in data.items():
                yield Job(COST, OURS, name, 0, partial(self._cost, one), self.key)
            for shape in sizes.first_shapes:
                yield Job(FIRST, OURS, shape_name(*shape), 0, partial(self._first, *shape), self.key)
        if FRESH in self.chosen:
            yield Job(FRESH, OURS, data_name(sizes.fresh_features), 0, self._fresh, self.key)

    def _load(self, names: tuple[str, ...]) -> list[DataSet]:
        found, skipped = load_sets(names)
        self.skipped.update(skipped)
        return found

    def warm_up(self, jobs: list[Job]) -> None:
        if any(job.part in (CURVES, COST, FIRST) for job in jobs):
            task = planted_task(8, 0, 100, 5, self.options.n_jobs)
            self._fitted(task).explain(task.X_test).in_words()

    @staticmethod
    def _named(name: str, run: Callable[[], Any]) -> Found:
        return {name: run()}

    def _permuted(self, n_features: int, seed: int, permutation: int) -> Found:
        sizes = self.sizes
        task = planted_task(n_features, seed, sizes.permuted_train, sizes.permuted_test, self.options.n_jobs)
        return scores.measure_permuted(self.ours, permuted_task(task, permutation))

    def _real(self, data: DataSet, split: int) -> Found:
        return scores.measure_deletion(
            self.ours, real_task(data, split, self.sizes.real_rows, self.options.n_jobs)
        )

    def _fitted(self, task: Task) -> Any:
        return make_estimator(OURS, self.options.n_jobs, task.seed).fit(task.X, task.y)

    def _faithfulness(self, task: Task) -> Found:
        return {OURS: scores.score_faithfulness(self._fitted(task), task.X_test)}

    def _answers(self, task: Task) -> Found:
        return {OURS: scores.score_answers(self._fitted(task), task.X_test)}

    def _curves(self, task: Task) -> Found:
        return scores.score_curves(self._fitted(task), task, self.sizes.curve_rows, with_shap=self.with_shap)

    def _cost(self, data: DataSet | int) -> Found:
        sizes, n_jobs = self.sizes, self.options.n_jobs
        if isinstance(data, int):
            task = planted_task(data, 0, sizes.n_train, sizes.timed_rows, n_jobs)
        else:
            task = repeated_task(real_task(data, 0, sizes.timed_rows, n_jobs), sizes.timed_rows)
        model = make_estimator(OURS, n_jobs, 0)
        turns = sizes.timed_turns
        return {OURS: scores.measure_cost(model, task, turns, sizes.kernel_rows, with_shap=self.with_shap)}

    def _first(self, n_rows: int, n_features: int) -> Found:
        task = planted_task(n_features, 0, n_rows, 1, self.options.n_jobs)
        return {OURS: scores.measure_first(make_estimator(OURS, self.options.n_jobs, 0), task, 2)}

    def _fresh(self) -> Found:
        sizes = self.sizes
        task = planted_task(sizes.fresh_features, 0, sizes.n_train, 1, self.options.n_jobs)
        return {OURS: scores.measure_fresh(self._fitted(task), task.X_test, sizes.timed_turns)}

    def report(self, results: Results) -> Report:
        sizes = self.sizes
        tables = [self._auc_table(results, PLANTED), self._auc_table(results, KINDS_PART)]
        columns: tuple[str, ...] = (
            "auc",
            "top_3",
            "rank",
            "mass",
            "deletion",
            "random_deletion",
            "stability",
            "sparseness",
            "seconds",
        )
        for n in sizes.n_features:
            tables.append(score_table(results, f"All scores, {n} features", PLANTED, columns, data_name(n)))
        tables.append(score_table(results, "Accuracy of the models", MODELS, ("accuracy",)))
        columns = ("auc", "accuracy", "seconds")
        tables.append(score_table(results, "Planted with categories", CATEGORIES, columns))
        columns = ("city", "x", "replaced_city", "replaced_x", "accuracy")
        tables.append(score_table(results, "A category and a number that decide together", CITIES, columns))
        tables.append(score_table(results, "Permuted labels", PERMUTED, ("auc",)))
        tables.append(score_table(results, "Deletion on real data", REAL, ("deletion", "random_deletion")))
        columns = ("rank", "rank_min", "wrong_signs", "n_large", "difference", "sum_error", "relevances")
        tables.append(score_table(results, "Supports beside their definition", FAITHFULNESS, columns))
        columns = ("support", "grouped_support", "relevances", "grouped_relevances", "absolute")
        tables.append(score_table(results, "Rows with an answer", ANSWERS, columns))
        columns = (*scores.AREAS, "seconds")
        tables.append(score_table(results, "Deletion and insertion curves", CURVES, columns))
        columns = ("seeds", "seeds_top", "halves", "halves_top")
        tables.append(score_table(results, "Agreement of models on a row", STABILITY, columns))
        columns = ("coverage", "error", "support", "told")
        tables.append(score_table(results, "Standard errors of supports", ERRORS, columns))
        columns = (
            "predict", "explain", "ratio", "first", "fit", "one", "one_in_words", "kernel", "speedup",
            "speedup_of_one",
        )  # fmt: skip
        tables.append(score_table(results, "Cost in seconds", COST, columns))
        tables.append(score_table(results, "The first call, seconds", FIRST, ("fit", "first", "ratio")))
        columns = (*scores.STEPS, "total", "megabytes")
        tables.append(score_table(results, "A saved model in a new process, seconds", FRESH, columns))
        for title, part, columns in actions.TABLES:
            tables.append(score_table(results, title, part, columns))
            tables.append(mean_table(results, f"{title}, mean", part, columns))
        introduction = (
            f"Means over {sizes.n_seeds} seeds of `lann.datasets.make_local_relevance` with its defaults, "
            f"{sizes.n_train} training rows and {sizes.n_test} test rows. AUC: how often a feature that "
            "determines the label of a row is ranked before one that does not; ± over the seeds. "
            "benchmarks/README.md describes the parts and scores."
        )
        return Report(introduction, [table for table in tables if table.rows], self._checks(results))

    def _stability_checks(self, results: Results) -> list[Check]:
        names = results.data_sets(STABILITY)

        def means(score: str, method: str = SUPPORT) -> list[float]:
            return [results.mean(STABILITY, method, name, score) for name in names] or [NAN]

        ratios = [own / other for own, other in zip(means("halves"), means("halves", CATBOOST), strict=True)]
        coverage = [results.mean(ERRORS, OURS, name, "coverage") for name in results.data_sets(ERRORS)]
        from_95 = abs(float(np.mean(coverage)) - 0.95) if coverage else NAN
        return [
            check("lann: supports by two seeds: lowest correlation", lowest(means("seeds")), least=0.94),
            check("lann: supports by halves: mean correlation", float(np.mean(means("halves"))), least=0.75),
            check("lann: supports by halves / CatBoost's SHAP, lowest", lowest(ratios), least=0.9),
            check("lann: largest supports by two seeds", float(np.mean(means("seeds_top"))), least=0.8),
            check("lann: largest supports by halves", float(np.mean(means("halves_top"))), least=0.65),
            check("lann: mean coverage of 95 % intervals, from .95", from_95, most=0.02),
        ]

    def _auc_table(self, results: Results, part: str) -> Table:
        names = results.data_sets(part)
        rows: list[tuple[str, ...]] = []
        for group in dict.fromkeys(explainer.group for explainer in self.explainers):
            rows.append((group,))
            for e in self.explainers:
                values = [
                    (results.mean(part, e.name, n, "auc"), results.std(part, e.name, n, "auc")) for n in names
                ]
                if e.group == group and any(value == value for value, _ in values):
                    rows.append((e.name, *(share(value, 3, spread) for value, spread in values)))
        return Table(f"Agreement with the planted features: {part}", ("AUC", *names), rows if names else [])

    def _checks(self, results: Results) -> list[Check]:
        def least(part: str, score: str, names: list[str] | None = None) -> float:
            found = results.data_sets(part) if names is None else names
            return lowest([results.mean(part, OURS, name, score) for name in found]) if found else NAN

        def most(part: str, score: str) -> float:
            found = results.data_sets(part)
            return -lowest([-results.mean(part, OURS, name, score) for name in found]) if found else NAN

        names = [data_name(n) for n in FULL.n_features]
        others = [e.name for e in self.explainers if e.name != OURS]
        leads = [auc_lead(results, other, name) for other in others for name in names]
        models = [
            results.mean(MODELS, OURS, n, "accuracy") - results.mean(MODELS, "forest", n, "accuracy")
            for n in names
        ]
        real = [
            results.mean(REAL, OURS, n, "deletion") - results.mean(REAL, OURS, n, "random_deletion")
            for n in FULL.real_sets
        ]
        n_real = sum(value > 0 for value in real) if sum(real) == sum(real) else NAN
        curves = results.data_sets(CURVES)
        checks = [
            check("lann: AUC on planted features at least .985", least(PLANTED, "auc", names), least=0.985),
            check("lann: AUC ahead of every other method", lowest(leads) if leads else NAN, least=1e-8),
            check(
                "lann: AUC on further kinds of data at least .95",
                least(KINDS_PART, "auc", list(KINDS)),
                least=0.95,
            ),
            check("lann: AUC on tables with categories at least .97", least(CATEGORIES, "auc"), least=0.97),
            check(
                "lann: a city that decides with a number: relevance from .375",
                abs(least(CITIES, "city") - 0.375),
                most=0.1,
            ),
            check("lann: more accurate than the forest on the planted data", lowest(models), least=1e-8),
            check(
                "lann: explaining takes less than 3 times as long as predicting", most(COST, "ratio"), most=3
            ),
            check("lann: at least 1000 times as fast as KernelSHAP", least(COST, "speedup"), least=1000),
            check("lann: one row with sentence in less than 20 ms, s", most(COST, "one_in_words"), most=0.02),
            check("lann: deletion ahead of random on at least 10 of 13 sets", n_real, least=10),
            check("lann: AUC with permuted labels from .5", abs(most(PERMUTED, "auc") - 0.5), most=0.05),
            check(
                "lann: rank correlation of supports with their definition",
                least(FAITHFULNESS, "rank"),
                least=0.97,
            ),
            check(
                "lann: supports above .1 with the wrong sign", most(FAITHFULNESS, "wrong_signs"), most=0.01
            ),
            check("lann: every row has an answer", least(ANSWERS, "grouped_support"), least=1),
            check(
                "lann: the first explanation does not take longer than the fit", most(FIRST, "ratio"), most=1
            ),
        ]
        checks += self._stability_checks(results)
        checks += actions.checks(results)
        for area, sign in (("deletion", -1), ("insertion", 1)):
            margins = [
                sign * (results.mean(CURVES, SUPPORT, n, area) - results.mean(CURVES, KERNEL, n, area))
                for n in curves
            ]
            lead = lowest(margins) if margins else NAN
            checks.append(check(f"lann: {area} curves of the support ahead of KernelSHAP", lead, least=1e-8))
        return checks


def score_table(results: Results, title: str, part: str, columns: tuple[str, ...], data: str = "") -> Table:
    """Make a table of means: data sets and methods by scores."""
    rows = []
    for name in [data] if data else results.data_sets(part):
        for method in results.methods(part):
            if results.cell(part, method, name):
                cells = []
                for score in columns:
                    value, spread = (
                        results.mean(part, method, name, score),
                        results.std(part, method, name, score),
                    )
                    text = number(value)
                    cells.append(text if spread != spread else f"{text} ± {number(spread, 2)}")
                rows.append((method if data else f"{name}, {method}", *cells))
    return Table(title, ("", *(column.replace("_", " ") for column in columns)), rows)


def mean_table(results: Results, title: str, part: str, columns: tuple[str, ...]) -> Table:
    """Make a table of means over the data sets: methods by scores."""
    names, rows = results.data_sets(part), []
    for method in results.methods(part):
        means = [results.mean(part, method, names, score) for score in columns]
        rows.append((method, *map(number, means)))
    return Table(title, ("", *(column.replace("_", " ") for column in columns)), rows)


def auc_lead(results: Results, other: str, name: str) -> float:
    """Return the AUC of LANN minus that of another method, on the rows that both have explained."""
    ours, theirs = (results.cell(PLANTED, method, name) for method in (OURS, other))
    leads = []
    for seed in ours.keys() & theirs.keys():
        left, right = ours[seed]["aucs"], theirs[seed]["aucs"]
        n_shared = min(len(left), len(right))
        leads.append(float(np.mean(left[:n_shared]) - np.mean(right[:n_shared])))
    return float(np.mean(leads)) if leads else NAN


BENCHMARK = Explanations
