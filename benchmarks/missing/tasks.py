"""
Rows with missing values: cells emptied at random, and gaps that depend on the class.

What measurements depend on is here, and neither how data sets are loaded nor which there are: other code of
`lann` can change without new measurements of other methods.
"""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Floats, Labels
from benchmarks.common.measure import Task
from benchmarks.common.protocols import PROTOCOLS, scale
from benchmarks.mixed.data import MixedSet

SHARE = 0.2
"""The share of the cells that are emptied at random."""

MOST_TRAINING_ROWS, MOST_TEST_ROWS = 1000, 2000

N_PLANTED = 1000
SHIFT = 1.0
GAPS_BY_CLASS = (0.1, 0.7)
"""Planted gaps: the probability that a cell is empty, by class."""
ZEROS = 0.8
"""The probability that a cell of that feature is 0 if it is not empty."""


def random_task(X: Floats, y: Labels, seed: int, number: int, *, gaps: bool) -> Task:
    """
    Return a split of the paper's protocol, of larger sets at most 1000 training rows and 2000 test rows.

    Parameters
    ----------
    X : (n_samples, n_features)
        Without missing values.
    y : (n_samples,)
    seed, number
        Seed and number of the split; they also determine which cells are emptied.
    gaps
        Whether a fifth of all cells, of training and of test rows, is emptied. The rows are the same.
    """
    train, test = PROTOCOLS["paper"].splits(X, y, seed, number + 1)[number]
    train, test = train[:MOST_TRAINING_ROWS], test[:MOST_TEST_ROWS]
    cells = empty_cells(X, np.random.default_rng([seed, number])) if gaps else X
    X_train, X_test = scale(cells, (train, test))  # missing values do not count, and stay
    return Task(X_train, y[train], X_test, y[test])


def empty_cells(X: Floats, rng: np.random.Generator) -> Floats:
    """Return the rows with a fifth of all cells replaced by NaN, completely at random."""
    return np.where(rng.random(X.shape) < SHARE, np.nan, X)


def table_task(data: MixedSet, seed: int, number: int) -> Task:
    """Return a split of a table, with the gaps that it has."""
    return data.task(data.splits(seed, number + 1)[number])


def planted_task(seed: int, number: int) -> Task:
    """Return 1000 training rows and 1000 test rows of `make_informative_gaps`."""
    X, y = make_informative_gaps(2 * N_PLANTED, np.random.default_rng([seed, number]))
    return Task(X[:N_PLANTED], y[:N_PLANTED], X[N_PLANTED:], y[N_PLANTED:])


def make_informative_gaps(n_samples: int, rng: np.random.Generator) -> tuple[Floats, Labels]:
    """
    Generate data in which a value is missing more often in one class than in the other.

    There are two equally frequent classes and five features:

    - 0: Gaussian; its mean differs between the classes by one standard deviation.
    - 1: a count, 0 in four fifths of the rows and otherwise from 1 to 4, whatever the class. It is missing in
      a tenth of the rows of class 0 and in seven tenths of those of class 1. Imputed by the median, 0, the
      gaps are hidden among equal values.
    - 2: Gaussian noise, missing in three tenths of the rows whatever the class.
    - 3, 4: Gaussian noise.

    Parameters
    ----------
    n_samples
        Number of rows.
    rng
        Generator of random numbers.

    Returns
    -------
    X : (n_samples, 5)
    y : (n_samples,)
        0 or 1.
    """
    y = rng.integers(2, size=n_samples)
    X = rng.standard_normal((n_samples, 5))
    X[:, 0] += SHIFT * y
    X[:, 1] = np.where(rng.random(n_samples) < ZEROS, 0, rng.integers(1, 5, size=n_samples))
    X[rng.random(n_samples) < np.array(GAPS_BY_CLASS)[y], 1] = np.nan
    X[rng.random(n_samples) < 0.3, 2] = np.nan
    return X, y.astype(np.int64)


def best_accuracy(*, imputed: bool = False) -> float:
    """
    Return the accuracy of the best classifier of `make_informative_gaps`.

    Parameters
    ----------
    imputed
        Whether missing values are replaced by the median, so that it does not know which are missing.
    """
    from scipy.stats import norm

    # Feature 1 tells only whether it is missing or, if it is imputed, whether it is 0.
    found = [gap + (1 - gap) * ZEROS if imputed else gap for gap in GAPS_BY_CLASS]
    correct = 0.0
    for p0, p1 in (found, [1 - p for p in found]):
        # Class 1 above the value of feature 0 at which both classes are equally probable.
        threshold = SHIFT / 2 - np.log(p1 / p0) / SHIFT
        correct += (p0 * norm.cdf(threshold) + p1 * norm.sf(threshold - SHIFT)) / 2
    return float(correct)
