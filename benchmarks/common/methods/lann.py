"""LANN: the defaults, the published algorithm, and variants without a level of the metric."""

from __future__ import annotations

from functools import partial
from typing import Any

from benchmarks.common.methods.method import Method
from lann import LANNClassifier
from lann.baselines import PublishedLANN

GROUP = "LANN"


def _published(n_jobs: int, seed: int) -> Any:
    return PublishedLANN(n_jobs=n_jobs, random_state=seed)


def _variant(parameters: dict[str, Any], n_jobs: int, seed: int) -> Any:
    return LANNClassifier(n_jobs=n_jobs, random_state=seed, **parameters)


METHODS = [
    Method("lann", "LANN", partial(_variant, {}), "Defaults.", GROUP, published="LANN"),
    Method(
        "lann-published",
        "LANN, as published",
        _published,
        "The algorithm of the paper, with the default β and learning rate.",
        GROUP,
        published="LANN",
    ),
    *(
        Method(name, label, partial(_variant, parameters), description, GROUP, quick=quick)
        for name, label, parameters, description, quick in (
            (
                "lann-no-point", "LANN without points", {"levels": ("curves", "map", "class")},
                "Feature curves, map and class weights; no weights of the points.", True,
            ),
            (
                "lann-point-only", "LANN, points only", {"levels": ("point",)},
                "Weights of the points alone; no curves, no map, no class weights.", True,
            ),
            (
                "lann-no-map", "LANN without map", {"levels": ("curves", "class", "point")},
                "No map: every feature is an axis.", False,
            ),
            (
                "lann-no-curves", "LANN without curves", {"levels": ("map", "class", "point")},
                "No feature curves; map, class weights and weights of the points.", False,
            ),
            (
                "lann-low-rank", "LANN, low rank", {"metric": "low_rank"},
                "Every point owns a matrix of low rank.", False,
            ),
            (
                "lann-full", "LANN, full", {"metric": "full"},
                "Every point owns a matrix over all features.", False,
            ),
        )
    ),
]  # fmt: skip
