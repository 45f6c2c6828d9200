"""A run of `lann bench explanations`, one measurement after the other."""

from __future__ import annotations

import time
from collections.abc import Iterator
from functools import partial
from typing import Any

from lann.bench.explanations.agreement import agree, deletion
from lann.bench.explanations.cost import measure_cost
from lann.bench.explanations.explainers import LANN, OURS, Explainer
from lann.bench.explanations.permuted import permuted_auc, permuted_task
from lann.bench.explanations.real_sets import real_task
from lann.bench.explanations.results import Deletion, Fitted, Results
from lann.bench.explanations.task import Sizes, Task, data_name, planted_task
from lann.bench.jobs import Job, Step, chosen_parts, run_jobs
from lann.bench.methods import all_methods
from lann.bench.paper import DataSet, load_sets
from lann.bench.scores import accuracy

PLANTED, PERMUTED, REAL, COST = PARTS = ("planted", "permuted", "real", "cost")


def choose_parts(names: list[str] | None) -> tuple[str, ...]:
    """The parts of these names, or all."""
    return chosen_parts(names, PARTS)


class ExplanationRun:
    """
    A run of the benchmark.

    Parameters
    ----------
    explainers
        What to measure; those that need a package that is not there are left out, and named.
    sizes
        How much.
    parts
        Some of `PARTS`. All but "planted" are about LANN alone.
    n_jobs
        Threads for every model.
    """

    def __init__(
        self, explainers: list[Explainer], sizes: Sizes, parts: tuple[str, ...] = PARTS, *, n_jobs: int = 2
    ) -> None:
        self.results = Results([], sizes, parts)
        for explainer in explainers:
            if explainer.missing is None:
                self.results.explainers.append(explainer)
            else:
                self.results.skipped[explainer.name] = explainer.missing
        self.n_jobs = n_jobs
        self._makers = {method.name: method.make for method in all_methods()}
        self._task: tuple[object, Task] | None = None
        self._models: dict[str, Any] = {}

    def steps(self) -> Iterator[Step]:
        """Measure, and say before each measurement what comes, after it what was found."""
        yield from run_jobs(self._jobs(), self.results.failures)

    def _jobs(self) -> list[Job]:
        parts = {
            PLANTED: self._planted_jobs,
            PERMUTED: self._permuted_jobs,
            REAL: self._real_jobs,
            COST: self._cost_jobs,
        }
        return [job for part in self.results.parts for job in parts[part]()]

    def _planted_jobs(self) -> Iterator[Job]:
        sizes = self.results.sizes
        models = dict.fromkeys(explainer.model for explainer in self.results.explainers)
        for seed in range(sizes.n_seeds):
            for n_features in sizes.n_features:
                data = f"{data_name(n_features)}, seed {seed}"
                for model in models:
                    yield Job(f"fitting {model}", data, partial(self._fit_planted, model, n_features, seed))
                for explainer in self.results.explainers:
                    yield Job(explainer.name, data, partial(self._agree, explainer, n_features, seed))

    def _fit_planted(self, model: str, n_features: int, seed: int) -> str:
        task = self._planted(n_features, seed)
        start = time.perf_counter()
        fitted = self._fit(model, task)
        seconds = time.perf_counter() - start
        right = accuracy(task.answers, fitted.predict(task.queries))
        self.results.models.setdefault((model, n_features), {})[seed] = Fitted(right, seconds)
        self._models[model] = fitted
        return f"accuracy {right:.3f}"

    def _agree(self, explainer: Explainer, n_features: int, seed: int) -> str:
        sizes, task = self.results.sizes, self._planted(n_features, seed)
        if explainer.model not in self._models:
            raise ValueError(f"{explainer.model} could not be fitted.")
        found = agree(
            explainer, self._models[explainer.model], task,
            dict(sizes.rows)[explainer.rows], dict(sizes.nudged_rows)[explainer.rows],
        )  # fmt: skip
        self.results.agreements.setdefault((explainer.name, n_features), {})[seed] = found
        return f"AUC {found.auc:.3f}"

    def _planted(self, n_features: int, seed: int) -> Task:
        """The data set, and no models of any other: those of one data set are asked one after the other."""
        key, sizes = (n_features, seed), self.results.sizes
        if self._task is None or self._task[0] != key:
            self._task = key, planted_task(n_features, seed, sizes.n_train, sizes.n_test, self.n_jobs)
            self._models = {}
        return self._task[1]

    def _permuted_jobs(self) -> Iterator[Job]:
        sizes = self.results.sizes
        if not self._our_explainers:
            return
        for seed in range(sizes.n_seeds):
            for n_features in sizes.n_features:
                for permutation in range(sizes.n_permutations):
                    data = f"{data_name(n_features)}, seed {seed}, labels permuted, {permutation + 1}"
                    yield Job(OURS, data, partial(self._permute, n_features, seed, permutation))

    def _permute(self, n_features: int, seed: int, permutation: int) -> str:
        sizes = self.results.sizes
        whole = planted_task(n_features, seed, sizes.permuted_train, sizes.permuted_test, self.n_jobs)
        task = permuted_task(whole, permutation)
        model = self._fit(OURS, task)
        said = []
        for explainer in self._our_explainers:
            auc = permuted_auc(explainer, model, task)
            self.results.permuted.setdefault(explainer.name, []).append(auc)
            said.append(f"{explainer.name} {auc:.3f}")
        return f"AUC {', '.join(said)}"

    def _real_jobs(self) -> Iterator[Job]:
        if not self._our_explainers:
            return
        sets, skipped = load_sets(self.results.sizes.real_sets)
        self.results.skipped.update(skipped)
        for data in sets:
            for split in range(self.results.sizes.real_splits):
                yield Job(OURS, f"{data.name}, split {split + 1}", partial(self._delete, data, split))

    def _delete(self, data: DataSet, split: int) -> str:
        task = real_task(data, split, self.results.sizes.real_rows, self.n_jobs)
        model = self._fit(OURS, task)
        said = []
        for explainer in self._our_explainers:
            relevances = explainer.prepare(model, task)(task.queries)
            found = Deletion(*deletion(model, task.queries, relevances, task.X, task.seed))
            self.results.deletions.setdefault((explainer.name, data.name), {})[split] = found
            said.append(f"{explainer.name} {found.named:.3f}")
        return f"change {', '.join(said)}, by lot {found.by_lot:.3f}"

    def _cost_jobs(self) -> Iterator[Job]:
        if any(explainer.name == OURS for explainer in self._our_explainers):
            for n_features in self.results.sizes.timed_features:
                yield Job("cost of lann", data_name(n_features), partial(self._time, n_features))

    def _time(self, n_features: int) -> str:
        sizes = self.results.sizes
        task = planted_task(n_features, 0, sizes.n_train, sizes.timed_rows, self.n_jobs)
        with_shap = any(e.name == "kernel-shap-lann" for e in self.results.explainers)
        cost = measure_cost(
            self._makers[OURS](self.n_jobs, 0),
            task,
            sizes.timed_turns,
            sizes.kernel_rows,
            with_shap=with_shap,
        )
        self.results.costs[n_features] = cost
        return f"explaining takes {cost.ratio:.2f} times as long as predicting"

    @property
    def _our_explainers(self) -> list[Explainer]:
        """Readings of LANN itself: cheap enough for what needs many fits."""
        return [explainer for explainer in self.results.explainers if explainer.group == LANN]

    def _fit(self, model: str, task: Task) -> Any:
        return self._makers[model](task.n_jobs, task.seed).fit(task.X, task.y)
