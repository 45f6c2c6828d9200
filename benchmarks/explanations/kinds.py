"""Further kinds of data with known relevant features: regions, copies, products, and rows deep in a class."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from benchmarks.common.arrays import Floats
from benchmarks.explanations.tasks import Task

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
