"""The data on which explanations are compared."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.explanations.actions import CHANGED_TABLES, SUSPECT_TABLES
from benchmarks.tabular import PUBLISHED, QUICK_SETS, DataSet, scale
from lann._support.types import Floats, Labels
from lann.datasets import make_local_relevance

# How many test rows a method explains: the slower it is, the fewer. These are always the first rows.
ALL, SOME, FEW = "all", "some", "few"
# The gate selects the relevant features, in all regions alike: it is neither right nor wrong to name it.
GATE = 0


@dataclass(frozen=True)
class Sizes:
    """
    How much is measured.

    Parameters
    ----------
    n_seeds
        Data sets are generated with the seeds 0 … n_seeds − 1.
    n_features
        Numbers of features of the generated data sets.
    n_train, n_test
        Their rows.
    n_rows, n_perturbed
        Test rows that are explained, and those that are explained again with a small perturbation, by the
        kind of method.
    n_permutations
        How often the labels of a data set are permuted.
    permuted_train, permuted_test
        Rows of those data sets.
    real_sets, real_splits, real_rows
        Real data: names, number of splits, test rows of each.
    timed_features, timed_sets, timed_rows, timed_turns, kernel_rows
        Cost: numbers of features, real data, rows explained at once, turns, rows that KernelSHAP explains.
    first_shapes
        Cost of the first call: numbers of training rows and of features.
    fresh_features
        Number of features of the saved model that a new process loads.
    checked_features
        Number of features of the generated data that are among the data sets of the following parts.
    faithful_sets, faithful_rows
        Faithfulness: real data, test rows of each.
    answer_rows
        Answers: test rows of each of `real_sets`.
    stability_sets, stability_splits, stability_train, stability_rows
        Stability: tables, number of splits, most training rows and test rows of each.
    error_rows, error_plans
        Standard errors: test rows of each of these tables, and sets of walks of which each is compared with
        many more.
    curve_sets, curve_rows, curve_splits, curve_batch
        Curves: real data, test rows and splits of each, and rows that LANN explains at once.
    action_splits
        Splits of the tables of the following two parts.
    changed_tables, changed_train, changed_rows
        Counterfactuals: tables, training rows and changed rows of each.
    suspect_tables, suspect_rows
        Suspects: tables, and rows of each.
    """

    n_seeds: int = 10
    n_features: tuple[int, ...] = (8, 12, 20)
    n_train: int = 2000
    n_test: int = 500
    n_rows: dict[str, int] = field(default_factory=lambda: {ALL: 500, SOME: 100, FEW: 20})
    n_perturbed: dict[str, int] = field(default_factory=lambda: {ALL: 100, SOME: 20, FEW: 5})
    n_permutations: int = 4
    permuted_train: int = 500
    permuted_test: int = 200
    real_sets: tuple[str, ...] = tuple(PUBLISHED)
    real_splits: int = 3
    real_rows: int = 300
    timed_features: tuple[int, ...] = (8, 12, 20, 30)
    timed_sets: tuple[str, ...] = ("breast-cancer",)
    timed_rows: int = 10_000
    timed_turns: int = 5
    kernel_rows: int = 3
    first_shapes: tuple[tuple[int, int], ...] = ((2000, 30), (1000, 60), (60, 1000))
    fresh_features: int = 100
    checked_features: int = 12
    faithful_sets: tuple[str, ...] = (
        "breast-cancer", "wine", "digits", "ionosphere", "image-segmentation", "robot-navigation",
    )  # fmt: skip
    faithful_rows: int = 60
    answer_rows: int = 300
    curve_sets: tuple[str, ...] = ("breast-cancer", "wine", "ionosphere", "image-segmentation")
    curve_rows: int = 20
    curve_splits: int = 3
    curve_batch: int = 200
    stability_sets: tuple[str, ...] = (
        "adult", "titanic", "heart-disease", "crx", "bank-marketing", "breast-cancer",
    )  # fmt: skip
    stability_splits: int = 1
    stability_train: int = 2000
    stability_rows: int = 100
    error_rows: int = 10
    error_plans: int = 5
    action_splits: int = 2
    changed_tables: tuple[str, ...] = tuple(CHANGED_TABLES)
    changed_train: int = 1000
    changed_rows: int = 20
    suspect_tables: tuple[str, ...] = tuple(SUSPECT_TABLES)
    suspect_rows: int = 2000


FULL = Sizes()
QUICK = Sizes(
    n_seeds=2,
    n_features=(12,),
    n_test=200,
    n_rows={ALL: 200, SOME: 20, FEW: 3},
    n_perturbed={ALL: 50, SOME: 5, FEW: 1},
    real_sets=tuple(name for name in QUICK_SETS if name in PUBLISHED),
    real_splits=1,
    real_rows=100,
    timed_features=(12, 30),
    timed_turns=3,
    kernel_rows=2,
    first_shapes=((1000, 60), (60, 200)),
    faithful_sets=("breast-cancer", "wine"),
    faithful_rows=20,
    answer_rows=100,
    curve_sets=("wine",),
    curve_rows=5,
    curve_splits=1,
    stability_sets=("heart-disease", "breast-cancer"),
    stability_rows=20,
    error_rows=2,
    error_plans=2,
    action_splits=1,
    changed_tables=("heart-disease", "crx"),
    changed_rows=5,
    suspect_tables=("crx", "heart-disease", "ionosphere"),
)


@dataclass(frozen=True)
class Task:
    """
    A data set in two parts.

    Parameters
    ----------
    X, y : training rows, (n_train, n_features) and (n_train,)
    X_test, y_test : test rows, (n_test, n_features) and (n_test,)
    planted : (n_test, n_features) True for the features that determine the label of the row
    seed
        Seed of the data and of the methods.
    n_jobs
        Number of threads.
    ignored
        Columns that agreement with the planted features leaves out.
    """

    X: Floats
    y: Labels
    X_test: Floats
    y_test: Labels
    planted: NDArray[np.bool_]
    seed: int
    n_jobs: int
    ignored: tuple[int, ...] = (GATE,)


def planted_task(n_features: int, seed: int, n_train: int, n_test: int, n_jobs: int) -> Task:
    """Generate data with planted features. They have mean 0 and deviation 1: there is nothing to scale."""
    X, y, mask = make_local_relevance(n_train + n_test, n_features, random_state=seed)
    return Task(X[:n_train], y[:n_train], X[n_train:], y[n_train:], mask[n_train:], seed, n_jobs)


def permuted_task(task: Task, permutation: int) -> Task:
    """Return the same data with permuted labels of the training rows."""
    rng = np.random.default_rng([task.seed, permutation])
    return replace(task, y=rng.permutation(task.y))


def real_task(data: DataSet, number: int, n_rows: int, n_jobs: int) -> Task:
    """Return a split of the paper's protocol, scaled by its training rows. No feature is planted."""
    train, test = data.split(number)
    test = test[:n_rows]
    X, X_test = scale(data.X, train, test)
    planted = np.zeros(X_test.shape, bool)
    return Task(X, data.y[train], X_test, data.y[test], planted, number, n_jobs)


def repeated_task(task: Task, n_rows: int) -> Task:
    """Return a task with `n_rows` test rows, drawn with replacement."""
    drawn = np.random.default_rng(task.seed).integers(len(task.X_test), size=n_rows)
    return replace(task, X_test=task.X_test[drawn], y_test=task.y_test[drawn], planted=task.planted[drawn])


def data_name(n_features: int) -> str:
    """Return the name of the generated data with `n_features` features."""
    return f"planted, {n_features} features"


def shape_name(n_rows: int, n_features: int) -> str:
    """Return the name of the generated data of this shape."""
    return f"{n_rows} rows, {n_features} features"


N_FEATURES = 10
# Of the rows of the kind "deep rows", the share that is farthest from the boundary.
DEEP_SHARE = 0.3
DECOY_CORRELATION = 0.8


class Planted(NamedTuple):
    """
    Generated rows.

    Attributes
    ----------
    X : (n_rows, n_features)
    score : (n_rows,) the label is whether it is positive
    planted : (n_rows, n_features) True for the features that determine the label of the row
    ignored
        Columns that are neither right nor wrong to name.
    """

    X: Floats
    score: Floats
    planted: NDArray[np.bool_]
    ignored: tuple[int, ...] = ()


def _quadrants(rng: np.random.Generator, n_rows: int) -> Planted:
    """The signs of the first two features choose which of four others decides."""
    X = rng.uniform(-1.0, 1.0, (n_rows, N_FEATURES))
    deciding = 2 + 2 * (X[:, 0] > 0) + (X[:, 1] > 0)
    planted = np.arange(N_FEATURES) == deciding[:, None]
    return Planted(X, X[planted], planted, ignored=(0, 1))


def _redundant_pair(rng: np.random.Generator, n_rows: int) -> Planted:
    """Two noisy copies of one signal decide by their sum."""
    X = _with_copies(rng, n_rows, noise=0.3)
    return Planted(X, X[:, 0] + X[:, 1], _same_for_all(n_rows, 2))


def _redundant_pair_and_third(rng: np.random.Generator, n_rows: int) -> Planted:
    """Two copies that are almost the same decide together with a third feature."""
    X = _with_copies(rng, n_rows, noise=0.05)
    return Planted(X, X[:, :3].sum(axis=1), _same_for_all(n_rows, 3))


def _joint_only(rng: np.random.Generator, n_rows: int) -> Planted:
    """The sign of a product decides: no feature says anything alone."""
    X = rng.standard_normal((n_rows, N_FEATURES))
    return Planted(X, X[:, 0] * X[:, 1], _same_for_all(n_rows, 2))


def _deep_rows(rng: np.random.Generator, n_rows: int) -> Planted:
    """Two copies and a third feature decide; `kind_task` explains the rows far from the boundary."""
    X = _with_copies(rng, n_rows, noise=0.2)
    return Planted(X, X[:, 0] + X[:, 1] + 0.7 * X[:, 2], _same_for_all(n_rows, 3))


def _correlated_noise(rng: np.random.Generator, n_rows: int) -> Planted:
    """Two features decide; each of two others is correlated with one of them, and decides nothing."""
    X = rng.standard_normal((n_rows, N_FEATURES))
    X[:, 2:4] = DECOY_CORRELATION * X[:, :2] + np.sqrt(1 - DECOY_CORRELATION**2) * X[:, 2:4]
    return Planted(X, X[:, 0] + X[:, 1], _same_for_all(n_rows, 2))


def _with_copies(rng: np.random.Generator, n_rows: int, noise: float) -> Floats:
    """Return normal features, of which the first two are noisy copies of one signal."""
    X = rng.standard_normal((n_rows, N_FEATURES))
    X[:, :2] = rng.standard_normal((n_rows, 1)) + noise * X[:, :2]
    return X


def _same_for_all(n_rows: int, n_planted: int) -> NDArray[np.bool_]:
    return np.tile(np.arange(N_FEATURES) < n_planted, (n_rows, 1))


QUADRANTS, PAIR, PAIR_AND_THIRD, JOINT, DEEP, CORRELATED = (
    "quadrants", "redundant pair", "redundant pair and third", "joint only", "deep rows", "correlated noise",
)  # fmt: skip

KINDS: dict[str, Callable[[np.random.Generator, int], Planted]] = {
    QUADRANTS: _quadrants,
    PAIR: _redundant_pair,
    PAIR_AND_THIRD: _redundant_pair_and_third,
    JOINT: _joint_only,
    DEEP: _deep_rows,
    CORRELATED: _correlated_noise,
}
"""By name: from a random generator and a number of rows to the rows."""


def kind_task(kind: str, seed: int, n_train: int, n_test: int, n_jobs: int) -> Task:
    """Generate data of one kind in two parts; of deep rows, only those far from the boundary are tested."""
    rng = np.random.default_rng([seed, list(KINDS).index(kind)])
    n_drawn = int(np.ceil(n_test / DEEP_SHARE)) if kind == DEEP else n_test
    made = KINDS[kind](rng, n_train + n_drawn)
    y = (made.score > 0).astype(np.int64)
    farthest = np.argsort(-np.abs(made.score[n_train:]), kind="stable")[:n_test]
    test = n_train + (np.sort(farthest) if kind == DEEP else np.arange(n_test))
    return Task(
        made.X[:n_train], y[:n_train], made.X[test], y[test], made.planted[test], seed, n_jobs, made.ignored
    )
