"""Measure all embeddings of one data set, and the time of the comparison."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from sklearn.frozen import FrozenEstimator
from sklearn.metrics import roc_auc_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.common.arrays import Floats, Indices, Labels
from benchmarks.embeddings.tasks import FOLIAGE, SEGMENTATION, WINDOW, Task
from benchmarks.engine import Found, Values
from lann import LANNEmbedding
from lann.embedding import Panel, compare_embeddings, make_panel, pair_error, paper_embeddings

OURS = "LANN"
# Rules that make distances symmetric.
RULES = ("min", "mean", "max")
METHODS = ("PCA", "LDA", "GMLVQ", "LMNN", "UMAP", "LGMLVQ", OURS)
VARIANTS = ("LANN diagonal", *(f"LANN {rule}" for rule in RULES))
COMPARISON = "all methods"
QUALITY = (
    "accuracy",
    "held_out_accuracy",
    "trustworthiness",
    "continuity",
    "neighborhood_preservation",
)


def measure_task(task: Task, n_jobs: int) -> Found:
    """
    Compare the methods of the paper, and variants of LANN.

    Returns
    -------
    found
        By method: the scores of `QUALITY`, see `lann.embedding.EmbeddingQuality`; ``around`` and
        ``least_around``, for Licorice, from `outside_around`, mean and least over the cylinders;
        ``pair_error``, for image segmentation: the share of held-out foliage and windows that are confused
        with each other; ``seconds`` to fit and to transform all rows. "all methods" has the ``seconds`` of
        the comparison of the paper's methods.
    """
    embeddings = paper_embeddings(
        classifier=task.classifier,
        prototypes_per_class=task.prototypes_per_class,
        random_state=task.seed,
        n_jobs=n_jobs,
    )
    start = time.perf_counter()
    comparison = compare_embeddings(task.X, task.y, task.X_test, task.y_test, embeddings=embeddings)
    seconds = time.perf_counter() - start
    panels = [*comparison, *_variants(task, comparison[OURS].estimator[-1].classifier_, n_jobs)]
    return {
        COMPARISON: {"seconds": seconds},
        **{panel.name: _values(panel, task) for panel in panels},
    }


def _variants(task: Task, fitted: Any, n_jobs: int) -> list[Panel]:
    """Embed with other rules that make distances symmetric, under the same metrics, and other classifiers."""
    common = {"random_state": task.seed, "n_jobs": n_jobs}
    embeddings = {
        **{name: LANNEmbedding(other, **common) for name, other in task.others.items()},
        **{f"LANN {rule}": LANNEmbedding(FrozenEstimator(fitted), symmetry=rule, **common) for rule in RULES},
    }
    return [
        make_panel(
            name,
            make_pipeline(StandardScaler(), embedding),
            (task.X, task.y),
            (task.X_test, task.y_test),
            classifier=fitted,
        )
        for name, embedding in embeddings.items()
    ]


def _values(panel: Any, task: Task) -> Values:
    values: Values = {name: getattr(panel.quality, name) for name in QUALITY}
    values |= {"around": None, "least_around": None, "pair_error": None, "seconds": panel.seconds}
    if task.cylinders is not None and task.cylinders_test is not None:
        around = outside_around(
            (panel.coordinates, task.y, task.cylinders),
            (panel.held_out_coordinates, task.y_test, task.cylinders_test),
        )
        values |= {"around": float(around.mean()), "least_around": float(around.min())}
    if task.part == SEGMENTATION:
        values["pair_error"] = pair_error(panel.held_out_labels, panel.held_out_predictions, FOLIAGE, WINDOW)
    return values


Embedded = tuple[Floats, Labels, Indices]
"""Coordinates (n_rows, 2), 1 for inside and 0 for outside (n_rows,), cylinders (n_rows,)."""


def outside_around(train: Embedded, held_out: Embedded) -> Floats:
    """
    Measure whether the outside of each cylinder surrounds its inside in the embedding.

    The center of a cylinder is the median of its inside training rows. The score is the share of pairs of
    held-out rows of which the outside row is farther from the center than the inside row: an area under the
    curve, .5 by chance.

    Returns
    -------
    scores : (n_cylinders,)
    """
    positions, inside, cylinders = train
    positions_test, inside_test, cylinders_test = held_out
    scores = []
    for cylinder in np.unique(cylinders):
        center = np.median(positions[(cylinders == cylinder) & (inside == 1)], axis=0)
        own = cylinders_test == cylinder
        distances = np.linalg.norm(positions_test[own] - center, axis=1)
        scores.append(roc_auc_score(inside_test[own] == 0, distances))
    return np.array(scores)
