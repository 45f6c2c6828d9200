"""The rows of LANN: the default, the published method, and what each level of the metric adds."""

from __future__ import annotations

from functools import partial
from typing import Any

from lann.bench.methods import Method, register
from lann.classifier import LANNClassifier

LANN = "LANN"

register(
    Method(
        "lann",
        "LANN",
        lambda n_jobs, seed: LANNClassifier(n_jobs=n_jobs, random_state=seed),
        "Defaults.",
        LANN,
        published="LANN",
    )
)
register(
    Method(
        "lann-published",
        "LANN, as published",
        lambda n_jobs, seed: LANNClassifier.as_published(n_jobs=n_jobs, random_state=seed),
        "The paper's algorithm, to the letter, with the default β and learning rate.",
        LANN,
        published="LANN",
    )
)


def _lann(parameters: dict[str, Any], n_jobs: int, seed: int) -> LANNClassifier:
    return LANNClassifier(n_jobs=n_jobs, random_state=seed, **parameters)


for name, label, parameters, description in (
    (
        "lann-no-point", "LANN without points", {"levels": ("curves", "map", "class")},
        "Feature curves, map and class weights; no weights of the points.",
    ),
    (
        "lann-point-only", "LANN, points only", {"levels": ("point",)},
        "Weights of the points alone; no curves, no map, no class weights.",
    ),
    (
        "lann-no-map", "LANN without map", {"levels": ("curves", "class", "point")},
        "Every feature is measured by itself.",
    ),
    (
        "lann-no-curves", "LANN without curves", {"levels": ("map", "class", "point")},
        "Straight features; map, class weights and weights of the points.",
    ),
    ("lann-low-rank", "LANN, low rank", {"metric": "low_rank"}, "Every point owns a matrix over few axes."),
    ("lann-full", "LANN, full", {"metric": "full"}, "Every point owns a matrix over all features."),
):  # fmt: skip
    quick = name in ("lann-no-point", "lann-point-only")
    register(Method(name, label, partial(_lann, parameters), description, LANN, quick=quick))
