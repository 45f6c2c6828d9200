"""The rows of LANN: the default, the published method, and what each level of the metric adds."""

from __future__ import annotations

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
register(
    Method(
        "lann-no-point",
        "LANN, shared levels",
        lambda n_jobs, seed: LANNClassifier(levels=("curves", "class"), n_jobs=n_jobs, random_state=seed),
        "Feature curves and class weights; no weights of the points.",
        LANN,
    )
)
register(
    Method(
        "lann-point-only",
        "LANN, point level",
        lambda n_jobs, seed: LANNClassifier(levels=("point",), n_jobs=n_jobs, random_state=seed),
        "Weights of the points alone; no curves, no class weights.",
        LANN,
    )
)
