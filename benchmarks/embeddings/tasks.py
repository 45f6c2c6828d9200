"""The data that are embedded, and how much of it is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from benchmarks.common.arrays import Floats, Indices, Labels
from benchmarks.common.datasets import load_set, load_sets
from lann import LANNClassifier
from lann.datasets import make_licorice

ALIGNED, ANY, SEGMENTATION, COST = PARTS = ("licorice", "licorice-any", "segmentation", "cost")
SEGMENTATION_SET = "image-segmentation"
# Class indices in image segmentation.
FOLIAGE, WINDOW = 2, 6
HELD_OUT = 0.3
N_CYLINDERS = 5

# A cylinder changes its class only across its axis: each point has to learn a single direction.
CYLINDERS: dict[str, Any] = {
    "metric": "full",
    "levels": ("point",),
    "feature_dropout": 0.0,
    "candidate_dropout": 0.85,
    "n_candidates": 400,
    "max_iter": 20,
    "smoothing": 0.3,
}


@dataclass(frozen=True)
class Sizes:
    """
    How much is measured.

    Parameters
    ----------
    n_seeds
        Data are generated and split with the seeds 0 … n_seeds − 1. (Seeds from 1000 on are for tuning.)
    n_licorice
        Rows of a Licorice data set.
    n_segmentation
        Rows of image segmentation, the first of a random order; None for all.
    timed_rows, timed_features
        Rows and features of the generated data on which the cost is measured.
    timed_turns
        Turns of each side there, and on image segmentation.
    large_rows
        Rows of larger generated data, on which each side runs once.
    """

    n_seeds: int = 5
    n_licorice: int = 3000
    n_segmentation: int | None = None
    timed_rows: int = 10_000
    timed_features: int = 20
    timed_turns: int = 5
    large_rows: int = 50_000


FULL = Sizes()
QUICK = Sizes(n_seeds=1, n_licorice=1000, n_segmentation=1000)


@dataclass(frozen=True)
class Task:
    """
    A data set in two parts.

    Parameters
    ----------
    part
        One of `PARTS`.
    X, y : rows that are embedded, (n_train, n_features) and (n_train,)
    X_test, y_test : held-out rows, which are transformed, (n_test, n_features) and (n_test,)
    classifier
        The classifier of LANN's embedding, not fitted.
    seed
        Seed of the data and of the methods.
    others
        Further classifiers of LANN, by the name of their row.
    prototypes_per_class
        Parameter of GMLVQ and LGMLVQ.
    cylinders, cylinders_test : (n_train,) and (n_test,) the cylinder of each row; None unless Licorice
    """

    part: str
    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels
    classifier: LANNClassifier
    seed: int
    others: dict[str, LANNClassifier] = field(default_factory=dict)
    prototypes_per_class: int = 1
    cylinders: Indices | None = None
    cylinders_test: Indices | None = None


def make_task(part: str, seed: int, sizes: Sizes, n_jobs: int) -> Task:
    """Return the data of a part, with 30 % of each class held out."""
    if part == SEGMENTATION:
        return _segmentation(seed, sizes, n_jobs)
    return _licorice(seed, sizes, n_jobs, aligned=part == ALIGNED)


def missing(part: str) -> str | None:
    """Return the reason why the data of a part cannot be loaded; None if they can."""
    return load_sets([SEGMENTATION_SET])[1].get(SEGMENTATION_SET) if part == SEGMENTATION else None


def _licorice(seed: int, sizes: Sizes, n_jobs: int, *, aligned: bool) -> Task:
    X, y, axes = make_licorice(
        sizes.n_licorice, n_cylinders=N_CYLINDERS, axis_aligned=aligned, random_state=seed, return_axes=True
    )
    train, test = _split(y, seed)
    weights = LANNClassifier(feature_dropout=0.0, n_jobs=n_jobs, random_state=seed)
    return Task(
        ALIGNED if aligned else ANY, X[train], y[train], X[test], y[test],
        LANNClassifier(**CYLINDERS, n_jobs=n_jobs, random_state=seed), seed,
        # Feature weights can describe cylinders along the axes, but no others.
        others={"LANN diagonal": weights} if aligned else {},
        # Each cylinder can have its own metric, inside and outside.
        prototypes_per_class=N_CYLINDERS,
        cylinders=axes.membership[train], cylinders_test=axes.membership[test],
    )  # fmt: skip


def _segmentation(seed: int, sizes: Sizes, n_jobs: int) -> Task:
    data = load_set(SEGMENTATION_SET)
    X, y = data.X, data.y
    if sizes.n_segmentation is not None:
        chosen = np.random.default_rng(seed).permutation(len(X))[: sizes.n_segmentation]
        X, y = X[chosen], y[chosen]
    train, test = _split(y, seed)
    classifier = LANNClassifier(n_jobs=n_jobs, random_state=seed)
    return Task(SEGMENTATION, X[train], y[train], X[test], y[test], classifier, seed)


def _split(y: Labels, seed: int) -> tuple[Indices, Indices]:
    train, test = train_test_split(np.arange(len(y)), test_size=HELD_OUT, stratify=y, random_state=seed)
    return train, test
