"""Rows unlike the training rows: of another data set, or with values that do not belong together."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from benchmarks.common.arrays import Floats

MOST_ROWS = 300
"""Rows of each kind, at most."""

N_DEVIATIONS = 3.0
"""By how many standard deviations values are outside the range."""


class OtherSet(NamedTuple):
    """Another data set: X (n_samples, n_features), in its own units."""

    name: str
    X: Floats


def other_rows(other: OtherSet, n_features: int, rng: np.random.Generator, *, matched: bool) -> Floats:
    """
    Return rows of another data set with as many columns.

    Parameters
    ----------
    other
        The other data set.
    n_features
        Columns are drawn without repetition; if there are too few, some are repeated.
    rng
        Generator of random numbers.
    matched
        Whether each column is standardized by its own mean and deviation, so that it cannot be told from the
        training rows by its values alone; otherwise the values are as they are.

    Returns
    -------
    X : (n_rows, n_features)
    """
    X = other.X[rng.choice(len(other.X), min(MOST_ROWS, len(other.X)), replace=False)]
    if matched:
        deviations = other.X.std(axis=0)
        X = (X - other.X.mean(axis=0)) / np.where(deviations > 0, deviations, 1.0)
    columns = rng.permutation(X.shape[1])
    more = rng.integers(X.shape[1], size=max(n_features - X.shape[1], 0))
    return X[:, np.concatenate([columns, more])[:n_features]]


def permuted(X: Floats, rng: np.random.Generator) -> Floats:
    """Return rows in which every feature is permuted by itself: each value occurs, but not together."""
    return np.column_stack([rng.permutation(column) for column in X.T])[:MOST_ROWS]


def all_outside(X: Floats, X_train: Floats, rng: np.random.Generator) -> Floats:
    """Return rows with every value outside the range of the training rows, on a random side."""
    low, high, deviations = _range(X_train)
    rows = X[:MOST_ROWS]
    is_high = rng.random(rows.shape) < 0.5
    return np.where(is_high, high + N_DEVIATIONS * deviations, low - N_DEVIATIONS * deviations)


def one_outside(X: Floats, X_train: Floats, rng: np.random.Generator) -> Floats:
    """Return rows with one value outside the range of the training rows, on a random side."""
    rows = X[:MOST_ROWS].copy()
    outside = all_outside(X, X_train, rng)
    chosen = rng.integers(X.shape[1], size=len(rows))
    rows[np.arange(len(rows)), chosen] = outside[np.arange(len(rows)), chosen]
    return rows


def _range(X: Floats) -> tuple[Floats, Floats, Floats]:
    deviations = X.std(axis=0)
    return X.min(axis=0), X.max(axis=0), np.where(deviations > 0, deviations, 1.0)
