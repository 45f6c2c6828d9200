"""The data that are embedded, and how much of it is measured."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from lann._types import Floats, Indices, Labels
from lann.bench.paper import load_sets
from lann.classifier import LANNClassifier
from lann.datasets import make_licorice

ALIGNED, ANY, SEGMENTATION, COST = PARTS = ("licorice", "licorice-any", "segmentation", "cost")
SEGMENTATION_SET = "image-segmentation"
# Which classes of image segmentation these are, in the order of their names.
FOLIAGE, WINDOW = 2, 6
HELD_OUT = 0.3
N_CYLINDERS = 5

# Only across its axis does a stick change its class: each point has to learn a direction, and nothing else.
STICKS: dict[str, Any] = {
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
    """How much is measured.

    Parameters
    ----------
    n_seeds
        Data are made and split with the seeds 0 … n_seeds − 1. (Seeds from 1000 on were for tuning.)
    n_licorice
        Points of a Licorice data set.
    n_segmentation
        Points of image segmentation, the first of a random order; None is all.
    timed_rows, timed_features
        Points and features of the made data set by which cost is measured.
    timed_turns
        How often each side is timed there, and on image segmentation.
    large_rows
        Points of a larger one, on which each side runs once.
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
    """A data set in two parts.

    Parameters
    ----------
    part
        One of `PARTS`.
    X, y : what is embedded, (n_train, n_features) and (n_train,)
    held_out, answers : what is placed among it, (n_test, n_features), and the labels, (n_test,)
    classifier
        LANN's, not fitted.
    seed
        Of the data and of the methods.
    others
        Further classifiers of LANN, by the name of their row.
    prototypes_per_class
        Of GMLVQ and LGMLVQ.
    cylinders, held_out_cylinders : (n_train,) and (n_test,) the stick of each point; None unless Licorice
    """

    part: str
    X: Floats
    y: Labels
    held_out: Floats
    answers: Labels
    classifier: LANNClassifier
    seed: int
    others: dict[str, LANNClassifier] = field(default_factory=dict)
    prototypes_per_class: int = 1
    cylinders: Indices | None = None
    held_out_cylinders: Indices | None = None


def make_task(part: str, seed: int, sizes: Sizes, n_jobs: int) -> Task:
    """The data of a part, 30 % of each class held out."""
    if part == SEGMENTATION:
        return _segmentation(seed, sizes, n_jobs)
    return _licorice(seed, sizes, n_jobs, aligned=part == ALIGNED)


def missing(part: str) -> str | None:
    """Why a part's data are not there; None if they are."""
    return load_sets([SEGMENTATION_SET])[1].get(SEGMENTATION_SET) if part == SEGMENTATION else None


def _licorice(seed: int, sizes: Sizes, n_jobs: int, *, aligned: bool) -> Task:
    X, y, sticks = make_licorice(
        sizes.n_licorice, n_cylinders=N_CYLINDERS, axis_aligned=aligned, random_state=seed, return_axes=True
    )
    train, test = _split(y, seed)
    weights = LANNClassifier(feature_dropout=0.0, n_jobs=n_jobs, random_state=seed)
    return Task(
        ALIGNED if aligned else ANY, X[train], y[train], X[test], y[test],
        LANNClassifier(**STICKS, n_jobs=n_jobs, random_state=seed), seed,
        # Along the axes a weight per feature can be right; elsewhere it cannot.
        others={"LANN diagonal": weights} if aligned else {},
        # Each stick may have its own metric, inside and outside.
        prototypes_per_class=N_CYLINDERS,
        cylinders=sticks.membership[train], held_out_cylinders=sticks.membership[test],
    )  # fmt: skip


def _segmentation(seed: int, sizes: Sizes, n_jobs: int) -> Task:
    found, skipped = load_sets([SEGMENTATION_SET])
    if not found:
        raise ValueError(skipped[SEGMENTATION_SET])
    X, y = found[0].X, found[0].y
    if sizes.n_segmentation is not None:
        chosen = np.random.default_rng(seed).permutation(len(X))[: sizes.n_segmentation]
        X, y = X[chosen], y[chosen]
    train, test = _split(y, seed)
    classifier = LANNClassifier(n_jobs=n_jobs, random_state=seed)
    return Task(SEGMENTATION, X[train], y[train], X[test], y[test], classifier, seed)


def _split(y: Labels, seed: int) -> tuple[Indices, Indices]:
    train, test = train_test_split(np.arange(len(y)), test_size=HELD_OUT, stratify=y, random_state=seed)
    return train, test
