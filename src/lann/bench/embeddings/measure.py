"""All methods on one data set: how good each embedding is, and how long the comparison takes."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lann._types import Floats, Indices, Labels
from lann.bench.embeddings.task import FOLIAGE, SEGMENTATION, WINDOW, Task
from lann.embedding import (
    LANNEmbedding,
    NeighborEmbedding,
    Panel,
    compare_embeddings,
    pair_error,
    paper_embeddings,
)
from lann.embedding.comparison import classifier_of, embed
from lann.embedding.graph import RULES

OURS = "LANN"
METHODS = ("PCA", "LDA", "GMLVQ", "LMNN", "UMAP", "LGMLVQ", OURS)
VARIANTS = ("LANN diagonal", *(f"LANN {rule}" for rule in RULES))


@dataclass(frozen=True)
class Measured:
    """An embedding of one data set.

    Parameters
    ----------
    accuracy, held_out_accuracy, trustworthiness, continuity, neighborhood_preservation
        See `lann.embedding.EmbeddingQuality`.
    around, least_around
        Licorice: how surely outside points lie farther from the middle of a stick's inside points than the
        inside points do, mean over the sticks, and for the worst of them.
    pair_error
        Image segmentation: of held-out foliage and windows, the share taken for the other.
    seconds
        To fit and to place all points.
    """

    accuracy: float
    held_out_accuracy: float
    trustworthiness: float
    continuity: float
    neighborhood_preservation: float
    around: float | None
    least_around: float | None
    pair_error: float | None
    seconds: float


@dataclass(frozen=True)
class Outcome:
    """Every method on one data set, and how long the comparison of the paper's methods took."""

    methods: dict[str, Measured]
    seconds: float


def warm_up() -> None:
    """Let UMAP compile itself, so that no timing includes it."""
    NeighborEmbedding(n_epochs=11, random_state=0).fit(np.random.default_rng(0).normal(size=(60, 3)))


def measure_task(task: Task, n_jobs: int) -> Outcome:
    """Compare the methods of the paper, then further ways to measure for LANN."""
    embeddings = paper_embeddings(
        classifier=task.classifier, prototypes_per_class=task.prototypes_per_class, random_state=task.seed,
        n_jobs=n_jobs,
    )  # fmt: skip
    start = time.perf_counter()
    comparison = compare_embeddings(task.X, task.y, task.held_out, task.answers, embeddings=embeddings)
    seconds = time.perf_counter() - start
    panels = [*comparison, *_variants(task, classifier_of(comparison[OURS].estimator), n_jobs)]
    return Outcome({panel.name: _measured(panel, task) for panel in panels}, seconds)


def _variants(task: Task, fitted: Any, n_jobs: int) -> list[Panel]:
    """LANN with the rules that make distances symmetric, on the same metrics; and other classifiers."""
    common = {"random_state": task.seed, "n_jobs": n_jobs}
    layouts = {
        **{name: LANNEmbedding(other, **common) for name, other in task.others.items()},
        **{f"LANN {rule}": LANNEmbedding(fitted, prefit=True, symmetry=rule, **common) for rule in RULES},
    }
    return [
        embed(
            name, make_pipeline(StandardScaler(), layout), task.X, task.y, task.held_out, task.answers,
            classifier=fitted,
        )
        for name, layout in layouts.items()
    ]  # fmt: skip


def _measured(panel: Any, task: Any) -> Measured:
    """Of a panel that has held-out points, as all here have."""
    quality, around, confused = panel.quality, None, None
    if task.cylinders is not None:
        around = outside_around(
            panel.places, task.y, task.cylinders,
            panel.held_out_places, task.answers, task.held_out_cylinders,
        )  # fmt: skip
    if task.part == SEGMENTATION:
        confused = pair_error(panel.held_out_labels, panel.held_out_predictions, FOLIAGE, WINDOW)
    return Measured(
        accuracy=quality.accuracy,
        held_out_accuracy=quality.held_out_accuracy,
        trustworthiness=quality.trustworthiness,
        continuity=quality.continuity,
        neighborhood_preservation=quality.neighborhood_preservation,
        around=None if around is None else float(around.mean()),
        least_around=None if around is None else float(around.min()),
        pair_error=confused,
        seconds=panel.seconds,
    )


def outside_around(
    places: Floats,
    inside: Labels,
    cylinders: Indices,
    held_out_places: Floats,
    held_out_inside: Labels,
    held_out_cylinders: Indices,
) -> Floats:
    """Whether a stick's outside points lie around its inside points: (n_cylinders,).

    The middle of a stick is the median of its inside points of the fit. Of its held-out points, this is the
    share of pairs of which the outside point is farther from there than the inside point (an area under the
    curve: .5 is by chance). Inside points that are scattered have no middle to be near to.

    places, inside, cylinders : (n_train, 2), (n_train,) 1 inside and 0 outside, (n_train,)
    """
    shares = []
    for cylinder in np.unique(cylinders):
        middle = np.median(places[(cylinders == cylinder) & (inside == 1)], axis=0)
        own = held_out_cylinders == cylinder
        distances = np.linalg.norm(held_out_places[own] - middle, axis=1)
        shares.append(roc_auc_score(held_out_inside[own] == 0, distances))
    return np.array(shares)
