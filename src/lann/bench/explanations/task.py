"""Data of which is known which features decide where, and how much of it is measured."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._types import Floats, Labels
from lann.bench.paper import QUICK_SETS
from lann.bench.published import PUBLISHED
from lann.datasets import make_local_relevance

# How many test rows a method explains: the slower, the fewer. Always the first ones.
ALL, SOME, FEW = "all", "some", "few"


@dataclass(frozen=True)
class Sizes:
    """How much is measured.

    Parameters
    ----------
    n_seeds
        Data sets are made with the seeds 0 … n_seeds − 1.
    n_features
        Numbers of features that data sets are made with.
    n_train, n_test
        Their points.
    rows, nudged_rows
        Test rows that are explained, and those that are explained again from beside them, by kind of method.
    n_permutations
        How often the labels of a data set are permuted.
    permuted_train, permuted_test
        Points of those data sets.
    real_sets, real_splits, real_rows
        Real data: which, how many splits, how many test rows of each.
    timed_features, timed_rows, timed_turns, kernel_rows
        Cost: for which numbers of features, rows explained at once, turns, rows that KernelSHAP explains.
    """

    n_seeds: int = 10
    n_features: tuple[int, ...] = (8, 12, 20)
    n_train: int = 2000
    n_test: int = 500
    rows: tuple[tuple[str, int], ...] = ((ALL, 500), (SOME, 100), (FEW, 20))
    nudged_rows: tuple[tuple[str, int], ...] = ((ALL, 100), (SOME, 20), (FEW, 5))
    n_permutations: int = 4
    permuted_train: int = 500
    permuted_test: int = 200
    real_sets: tuple[str, ...] = tuple(PUBLISHED)
    real_splits: int = 3
    real_rows: int = 300
    timed_features: tuple[int, ...] = (8, 12, 20)
    timed_rows: int = 10_000
    timed_turns: int = 5
    kernel_rows: int = 3


FULL = Sizes()
QUICK = Sizes(
    n_seeds=2,
    n_features=(12,),
    n_test=200,
    rows=((ALL, 200), (SOME, 20), (FEW, 3)),
    nudged_rows=((ALL, 50), (SOME, 5), (FEW, 1)),
    real_sets=tuple(name for name in QUICK_SETS if name in PUBLISHED),
    real_splits=1,
    real_rows=100,
    timed_features=(12,),
    timed_turns=3,
    kernel_rows=2,
)


@dataclass(frozen=True)
class Task:
    """A data set in two parts.

    Parameters
    ----------
    X, y : what models learn from, (n_train, n_features) and (n_train,)
    queries, answers : what they are asked, (n_test, n_features), and the labels, (n_test,)
    planted : (n_test, n_features) True where a feature decides
    seed
        Of the data and of the methods.
    n_jobs
        Threads.
    """

    X: Floats
    y: Labels
    queries: Floats
    answers: Labels
    planted: NDArray[np.bool_]
    seed: int
    n_jobs: int


def planted_task(n_features: int, seed: int, n_train: int, n_test: int, n_jobs: int) -> Task:
    """The generator's defaults. All its features have mean 0 and deviation 1: nothing is left to scale."""
    X, y, mask = make_local_relevance(n_train + n_test, n_features, random_state=seed)
    return Task(X[:n_train], y[:n_train], X[n_train:], y[n_train:], mask[n_train:], seed, n_jobs)


def data_name(n_features: int) -> str:
    return f"planted, {n_features} features"
