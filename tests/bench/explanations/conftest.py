"""Small sizes, a task where the first features after the gate decide, and made-up results."""

import numpy as np
import pytest

from lann.bench.explanations.agreement import Agreement
from lann.bench.explanations.cost import Cost
from lann.bench.explanations.explainers import LANN, Explainer
from lann.bench.explanations.results import Deletion, Fitted, Results
from lann.bench.explanations.run import PARTS
from lann.bench.explanations.task import FULL, Sizes, Task
from lann.bench.published import PUBLISHED

TINY = Sizes(
    n_seeds=2, n_features=(8,), n_train=120, n_test=30,
    rows=(("all", 30), ("some", 6), ("few", 2)), nudged_rows=(("all", 10), ("some", 2), ("few", 1)),
    n_permutations=2, permuted_train=60, permuted_test=20,
    real_sets=("iris", "wine"), real_splits=1, real_rows=20,
    timed_features=(8,), timed_rows=50, timed_turns=2, kernel_rows=1,
)  # fmt: skip


@pytest.fixture
def tiny():
    return TINY


@pytest.fixture
def task():
    """Column 1 decides alone, wherever it is; column 0 is the gate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 5))
    y = (X[:, 1] > 0).astype(np.int64)
    planted = np.zeros((60, 5), bool)
    planted[:, 1] = True
    return Task(X[:200], y[:200], X[200:], y[200:], planted, seed=3, n_jobs=1)


@pytest.fixture
def explainer_of():
    """An explainer from a function of the queries."""

    def make(read, name="fake", group="tests", **values):
        return Explainer(name, name, "knn", lambda model, task: read, "A test.", group, **values)

    return make


@pytest.fixture
def made_up():
    """Results that pass every check; areas by method, and whatever else is to be changed."""

    def agreement(auc, n_rows):
        return Agreement(np.full(n_rows, auc), auc, 0.9, 0.8, 0.7, 0.3, 0.1, 0.95, 0.6, 1e-4)

    def make(aucs=None, accuracies=None, ratio=1.5, kernel=2.0, deleted=13, permuted=0.51, sizes=FULL):
        areas = {"lann": 0.98, "tree-shap": 0.85, "kernel-shap-lann": 0.9, "lime-lann": 0.7} | (aucs or {})
        explainers = [
            Explainer(name, name.upper(), "lann", lambda model, task: None, "A test.", LANN) for name in areas
        ]
        results = Results(explainers, sizes, PARTS)
        for name, auc in areas.items():
            for n_features in (8, 12, 20):
                n_rows = 50 if name == "lann" else 20
                results.agreements[name, n_features] = {seed: agreement(auc, n_rows) for seed in range(2)}
        for name, right in ({"lann": 0.95, "forest": 0.9} | (accuracies or {})).items():
            for n_features in (8, 12, 20):
                results.models[name, n_features] = {0: Fitted(right, 1.0)}
        for n_features in (8, 12):
            results.costs[n_features] = Cost(3.0, 1.0, ratio * 0.5, 0.5, 10_000, 0.01, kernel, 0.1)
        for place, name in enumerate(PUBLISHED):
            results.deletions["lann", name] = {0: Deletion(0.2 if place < deleted else 0.05, 0.1)}
        results.permuted["lann"] = [permuted - 0.1, permuted + 0.1]
        return results

    return make
