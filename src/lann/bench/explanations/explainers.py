"""The methods that `lann bench explanations` measures: a model, and a way to read relevances from it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib.util import find_spec
from typing import Any

import numpy as np

from lann.bench.explanations.model_agnostic import (
    N_BACKGROUND,
    N_REPEATS,
    Read,
    kernel_shap,
    lime,
    permutation_importance,
    tree_shap,
)
from lann.bench.explanations.task import ALL, FEW, SOME, Task
from lann.bench.methods import all_methods

OURS = "lann"
LANN, LOCAL, AGNOSTIC, GLOBAL = "LANN", "other local metrics", "read from outside", "one ranking for all"

# Methods of `lann bench paper` that explain themselves: each has a row as soon as it is registered there.
LOCAL_METHODS = ("lgmlvq", "lgrlvq", "plml", "glml", "dann", "lmnn-per-class")


@dataclass(frozen=True)
class Explainer:
    """
    A row of the tables.

    Parameters
    ----------
    name, label
        What it is called after ``--method``, and in documents.
    model
        The method of `lann bench paper` that is explained.
    prepare
        From the fitted model and the task to what explains queries: relevances, not negative.
    description
        One sentence.
    group
        The heading under which the row stands.
    rows
        Whether all test rows are explained, some or few.
    needs
        A package that is not among the library's own requirements.
    """

    name: str
    label: str
    model: str
    prepare: Callable[[Any, Task], Read]
    description: str
    group: str
    rows: str = ALL
    needs: str | None = None

    @property
    def missing(self) -> str | None:
        """Why it cannot be measured here, or None if it can."""
        if self.needs is None or find_spec(self.needs) is not None:
            return None
        return f"needs {self.needs}, which is not installed: pip install 'lann[bench]'."


def _relevances(model: Any, task: Task) -> Read:
    return lambda queries: model.explain(queries).relevances


def _neighbor_relevances(model: Any, task: Task) -> Read:
    return lambda queries: model.explain(queries).feature_weights


def _support(model: Any, task: Task) -> Read:
    return lambda queries: np.abs(model.explain(queries).support)


def all_explainers() -> list[Explainer]:
    """Every method there is, in the order of the tables."""
    registered = {method.name: method for method in all_methods()}
    kernel = f"KernelSHAP, shap's defaults, {N_BACKGROUND} k-means centers as background,"
    return [
        Explainer(
            OURS, "LANN", "lann", _relevances,
            "The share of the vote that changes with a feature: `explain(X).relevances`.", LANN,
        ),
        Explainer(
            "lann-neighbors", "LANN, neighbors' weights", "lann", _neighbor_relevances,
            "The paper's reading: `explain(X).feature_weights`.", LANN,
        ),
        Explainer(
            "lann-support", "LANN, support", "lann", _support,
            "What speaks for or against the prediction: the absolute values of `explain(X).support`.", LANN,
        ),
        *(
            Explainer(
                name, registered[name].label, name, _relevances, registered[name].description, LOCAL
            )
            for name in LOCAL_METHODS if name in registered
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


def choose_explainers(names: list[str] | None) -> list[Explainer]:
    """The methods of these names, or all, in the order of the tables."""
    known = all_explainers()
    for name in names or ():
        if name not in {explainer.name for explainer in known}:
            raise ValueError(
                f"There is no method {name!r}; the methods are "
                f"{', '.join(explainer.name for explainer in known)}."
            )
    return [explainer for explainer in known if not names or explainer.name in names]
