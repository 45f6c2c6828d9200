"""The explanation methods that are compared: a model, and a way to compute relevances from it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from benchmarks.common import methods
from benchmarks.engine import choose
from benchmarks.explanations.model_agnostic import (
    N_BACKGROUND,
    N_REPEATS,
    Explain,
    kernel_shap,
    lime,
    permutation_importance,
    tree_shap,
)
from benchmarks.explanations.tasks import ALL, FEW, SOME, Task

OURS = "lann"
LANN, LOCAL, AGNOSTIC, GLOBAL = "LANN", "other local metrics", "model-agnostic", "one ranking for all rows"

# Methods of `benchmarks.common.methods` that explain themselves.
LOCAL_METHODS = ("lgmlvq", "lgrlvq", "plml", "glml", "dann", "lmnn-per-class")


@dataclass(frozen=True)
class Explainer:
    """
    An explanation method: a row of the tables.

    Parameters
    ----------
    name, label
        Its name after ``--method``, and in documents.
    model
        The method of `benchmarks.common.methods` that is explained.
    prepare
        From the fitted model and the task to the function that explains queries.
    description
        One sentence.
    group
        Heading of the section to which the row belongs.
    rows
        Whether all test rows are explained, some or few.
    needs
        A package that is needed beside the requirements of `lann`.
    """

    name: str
    label: str
    model: str
    prepare: Callable[[Any, Task], Explain]
    description: str
    group: str
    rows: str = ALL
    needs: str | None = None

    @property
    def missing(self) -> str | None:
        """Why it cannot be measured here; None if it can."""
        if self.needs is None or find_spec(self.needs) is not None:
            return None
        return f"needs {self.needs}, which is not installed: pip install 'lann[benchmarks]'."


def _relevances(model: Any, task: Task) -> Explain:
    return lambda queries: model.explain(queries).relevances


def _feature_weights(model: Any, task: Task) -> Explain:
    return lambda queries: model.explain(queries).feature_weights


def _support(model: Any, task: Task) -> Explain:
    return lambda queries: np.abs(model.explain(queries).support)


def all_explainers() -> list[Explainer]:
    """Return all explanation methods, in the order of the tables."""
    local = [method for name in LOCAL_METHODS for method in methods.METHODS if method.name == name]
    kernel = f"KernelSHAP, shap's defaults, {N_BACKGROUND} k-means centers as background,"
    return [
        Explainer(
            OURS, "LANN", "lann", _relevances,
            "The share of the vote that changes with a feature: `explain(X).relevances`.", LANN,
        ),
        Explainer(
            "lann-neighbors", "LANN, neighbors' weights", "lann", _feature_weights,
            "The explanation of the paper: `explain(X).feature_weights`.", LANN,
        ),
        Explainer(
            "lann-support", "LANN, support", "lann", _support,
            "What a feature changes in the vote on the way to rows of other classes: the absolute values of "
            "`explain(X).support`.",
            LANN,
        ),
        *(
            Explainer(method.name, method.label, method.name, _feature_weights, method.description, LOCAL)
            for method in local
        ),
        Explainer(
            "tree-shap", "TreeSHAP, forest", "forest", tree_shap, "TreeSHAP on a forest of 300 trees.",
            AGNOSTIC, SOME, "shap",
        ),
        *(
            Explainer(
                f"kernel-shap-{model}", f"KernelSHAP, {label}", model, kernel_shap, f"{kernel} on {label}.",
                AGNOSTIC, FEW, "shap",
            )
            for model, label in (("lann", "LANN"), ("knn", "kNN"))
        ),
        *(
            Explainer(
                f"lime-{model}", f"LIME, {label}", model, lime, f"LIME, its defaults, on {label}.",
                AGNOSTIC, FEW, "lime",
            )
            for model, label in (("lann", "LANN"), ("knn", "kNN"))
        ),
        *(
            Explainer(
                f"permutation-{model}", f"permutation, {label}", model, permutation_importance,
                f"Permutation importance on the test rows, {N_REPEATS} repeats, on {label}.", GLOBAL,
            )
            for model, label in (("lann", "LANN"), ("forest", "forest"))
        ),
    ]  # fmt: skip


def choose_explainers(names: Iterable[str] = ()) -> list[Explainer]:
    """Return the explanation methods with these names, or all, in the order of the tables."""
    known = all_explainers()
    chosen = choose(names, [explainer.name for explainer in known], "method")
    return [explainer for explainer in known if explainer.name in chosen]
