"""Measure explanation methods: on planted data, with permuted labels and on real data."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from benchmarks.common.methods import make_estimator
from benchmarks.common.scores import accuracy
from benchmarks.engine import Found, seconds_of
from benchmarks.explanations.agreement import deletion, permuted_auc, score_explanations
from benchmarks.explanations.cost import measure_cost
from benchmarks.explanations.explainers import OURS, Explainer
from benchmarks.explanations.kinds import KINDS, kind_task
from benchmarks.explanations.tasks import Sizes, Task, data_name, planted_task

__all__ = ["PlantedData", "measure_cost", "measure_deletion", "measure_permuted"]

MakeTask = Callable[[int, int, int, int], Task]
"""From a seed, the numbers of training and test rows and the number of threads to data."""


class PlantedData:
    """
    Data with planted features, and the models fitted on them.

    Only the models of one data set are held in memory.

    Parameters
    ----------
    sizes
        How much is measured.
    n_jobs
        Number of threads.
    """

    def __init__(self, sizes: Sizes, n_jobs: int) -> None:
        self.sizes, self.n_jobs = sizes, n_jobs
        self._makers: dict[str, MakeTask] = {
            **{data_name(n): partial(planted_task, n) for n in sizes.n_features},
            **{kind: partial(kind_task, kind) for kind in KINDS},
        }
        self._current: tuple[tuple[str, int], Task, dict[str, Any]] | None = None

    def fit(self, model: str, name: str, seed: int) -> Found:
        """Fit a model to data with this name, and measure its accuracy and the time of the fit."""
        task, fitted = self._load(name, seed)
        estimator = make_estimator(model, self.n_jobs, seed)
        seconds = seconds_of(partial(estimator.fit, task.X, task.y))
        fitted[model] = estimator
        return {
            model: {"accuracy": accuracy(task.y_test, estimator.predict(task.X_test)), "seconds": seconds}
        }

    def explain(self, explainer: Explainer, name: str, seed: int) -> Found:
        """Score the explanations of a method on data with this name."""
        task, fitted = self._load(name, seed)
        if explainer.model not in fitted:  # its fit was measured in an earlier run
            fitted[explainer.model] = make_estimator(explainer.model, self.n_jobs, seed).fit(task.X, task.y)
        n_rows, n_perturbed = self.sizes.n_rows[explainer.rows], self.sizes.n_perturbed[explainer.rows]
        model = fitted[explainer.model]
        return {explainer.name: score_explanations(explainer, model, task, n_rows, n_perturbed)}

    def _load(self, name: str, seed: int) -> tuple[Task, dict[str, Any]]:
        key, sizes = (name, seed), self.sizes
        if self._current is None or self._current[0] != key:
            task = self._makers[name](seed, sizes.n_train, sizes.n_test, self.n_jobs)
            self._current = key, task, {}
        return self._current[1:]


def measure_permuted(explainers: list[Explainer], task: Task) -> Found:
    """Fit LANN on permuted labels, and return the AUC of each of its explanations."""
    model = make_estimator(OURS, task.n_jobs, task.seed).fit(task.X, task.y)
    return {explainer.name: {"auc": permuted_auc(explainer, model, task)} for explainer in explainers}


def measure_deletion(explainers: list[Explainer], task: Task) -> Found:
    """Fit LANN, and return how replacing the most relevant features changes its probabilities."""
    model = make_estimator(OURS, task.n_jobs, task.seed).fit(task.X, task.y)
    found = {}
    for explainer in explainers:
        relevances = explainer.prepare(model, task)(task.X_test)
        change, random_change = deletion(model, task.X_test, relevances, task.X, task.seed)
        found[explainer.name] = {"deletion": change, "random_deletion": random_change}
    return found
