"""Small sizes, a task with one planted feature after the gate, a fast LANN, and made-up results."""

import numpy as np
import pytest

from benchmarks.common import methods
from benchmarks.common.methods import METHODS, Method
from benchmarks.common.published import PUBLISHED
from benchmarks.explanations.categories import CITIES_TABLE, PLANTED_TABLE
from benchmarks.explanations.cost import ratios
from benchmarks.explanations.curves import AREAS
from benchmarks.explanations.explainers import LANN, Explainer
from benchmarks.explanations.kinds import KINDS as KINDS_OF_DATA
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
    PERMUTED,
    PLANTED,
    REAL,
)
from benchmarks.explanations.tasks import FULL, Sizes, Task, data_name
from lann import LANNClassifier

TINY = Sizes(
    n_seeds=1, n_features=(8,), n_train=100, n_test=20,
    n_rows={"all": 20, "some": 4, "few": 2}, n_perturbed={"all": 5, "some": 2, "few": 1},
    n_permutations=2, permuted_train=60, permuted_test=10,
    real_sets=("iris",), real_splits=1, real_rows=10,
    timed_features=(8,), timed_sets=("iris",), timed_rows=20, timed_turns=1, kernel_rows=1,
    first_shapes=((60, 10),), fresh_features=8, checked_features=8, faithful_sets=("iris",), faithful_rows=3,
    answer_rows=10, curve_sets=("iris",), curve_rows=2, curve_splits=1, curve_batch=10,
)  # fmt: skip


@pytest.fixture
def tiny():
    return TINY


@pytest.fixture
def fast_lann(monkeypatch):
    """Let the method "lann" learn for two epochs only."""
    fast = Method(
        "lann",
        "LANN",
        lambda n_jobs, seed: LANNClassifier(max_iter=2, random_state=seed),
        "A test.",
        "tests",
    )
    others = [method for method in METHODS if method.name != "lann"]
    monkeypatch.setattr(methods, "METHODS", [fast, *others])


@pytest.fixture
def task():
    """Column 1 alone determines the label; column 0 is the gate."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(260, 5))
    y = (X[:, 1] > 0).astype(np.int64)
    planted = np.zeros((60, 5), bool)
    planted[:, 1] = True
    return Task(X[:200], y[:200], X[200:], y[200:], planted, seed=3, n_jobs=1)


@pytest.fixture
def explainer_of():
    """Make an explainer from a function of the queries."""

    def make(explain, name="fake", group="tests", **values):
        return Explainer(name, name, "knn", lambda model, task: explain, "A test.", group, **values)

    return make


@pytest.fixture
def made_up(results_of):
    """Results that pass every check, unless changed, with their explainers and sizes."""

    def agreement(auc, n_rows):
        scores = {"top_3": 0.9, "rank": 0.8, "mass": 0.7, "deletion": 0.3, "random_deletion": 0.1}
        return {
            "auc": auc, **scores, "stability": 0.95, "sparseness": 0.6, "seconds": 1e-4, "n_rows": n_rows,
            "aucs": [auc] * n_rows,
        }  # fmt: skip

    def curves(deletion, insertion, seconds):
        rows = {f"{area}_rows": [deletion if "deletion" in area else insertion] * 4 for area in AREAS}
        return {"deletion": deletion, "insertion": insertion, **rows, "seconds": seconds, "n_rows": 4}

    def make(
        aucs=None, accuracies=None, ratio=1.5, kernel=2.0, deleted=13, permuted=0.51, sizes=FULL, tables=None,
        own=None,
    ):  # fmt: skip
        of_own = {
            "joint": 0.99, "rank": 0.99, "wrong_signs": 0.001, "answered": 1.0, "deletion": 0.2,
            "insertion": 0.8, "seconds": 1e-4, "words": 0.01, "first": 0.9,
        } | (own or {})  # fmt: skip
        areas = {"lann": 0.99, "tree-shap": 0.85, "kernel-shap-lann": 0.9, "lime-lann": 0.7} | (aucs or {})
        explainers = [
            Explainer(name, name.upper(), "lann", lambda model, task: None, "A test.", LANN) for name in areas
        ]
        names = [data_name(n) for n in (8, 12, 20)]
        seconds = {
            "fit": 3.0, "first": 1.0, "explain": ratio * 0.5, "predict": 0.5, "n_rows": 10_000, "one": 0.01,
            "kernel": kernel, "ratio_std": 0.1, "details": 2.0, "details_ratio": 4.0,
            "details_ratio_std": 0.2, "one_in_words": of_own["words"],
        }  # fmt: skip
        cost = seconds | ratios(seconds)
        of_tables = {"auc": 0.98, "city": 0.5} | (tables or {})
        cells = {
            (CATEGORIES, "lann", PLANTED_TABLE): [
                {"auc": of_tables["auc"], "accuracy": 0.97, "n_rows": 50, "seconds": 1e-4}
            ],
            (CITIES, "lann", CITIES_TABLE): [
                {
                    "city": of_tables["city"],
                    "x": 0.5,
                    "replaced_city": 0.48,
                    "replaced_x": 0.49,
                    "accuracy": 1.0,
                }
            ],
            **{
                (PLANTED, method, name): [agreement(auc, 50 if method == "lann" else 20)] * 2
                for method, auc in areas.items()
                for name in names
            },
            **{
                (MODELS, model, name): [{"accuracy": accuracy, "seconds": 1.0}]
                for model, accuracy in ({"lann": 0.95, "forest": 0.9} | (accuracies or {})).items()
                for name in names
            },
            **{(COST, "lann", name): [cost] for name in names[:2]},
            **{
                (REAL, "lann", name): [{"deletion": 0.2 if i < deleted else 0.05, "random_deletion": 0.1}]
                for i, name in enumerate(PUBLISHED)
            },
            **{
                (KINDS, "lann", kind): [agreement(of_own["joint"] if kind == "joint only" else 0.99, 50)]
                for kind in KINDS_OF_DATA
            },
            (FAITHFULNESS, "lann", "wine"): [
                {
                    "rank": of_own["rank"],
                    "rank_std": 0.01,
                    "rank_min": 0.9,
                    "n_large": 40,
                    "sum_error": 0.0,
                    "wrong_signs": of_own["wrong_signs"],
                    "difference": 0.01,
                    "relevances": 0.5,
                    "n_rows": 20,
                }
            ],
            (ANSWERS, "lann", "wine"): [
                {
                    "support": 0.9,
                    "grouped_support": of_own["answered"],
                    "relevances": 0.95,
                    "grouped_relevances": 1.0,
                    "absolute": 0.6,
                    "supported": 1.0,
                    "n_rows": 100,
                }
            ],
            (CURVES, "lann-support", "wine"): [
                curves(of_own["deletion"], of_own["insertion"], of_own["seconds"])
            ],
            (CURVES, "kernel-shap-lann", "wine"): [curves(0.3, 0.7, 0.2)],
            (FIRST, "lann", "1000 rows, 60 features"): [
                {"fit": 2.0, "first": 2.0 * of_own["first"], "ratio": of_own["first"], "ratio_std": 0.1}
            ],
            (FRESH, "lann", names[0]): [
                {"import": 1.0, "load": 0.2, "explain": 0.3, "again": 0.01, "total": 1.5, "megabytes": 4.0}
            ],
            (PERMUTED, "lann", names[0]): [{"auc": permuted - 0.1}, {"auc": permuted + 0.1}],
        }
        return results_of(cells), explainers, sizes

    return make
