"""Planted tables with few rows and thousands of features, as of gene expression."""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Floats, Labels

N_INFORMATIVE, BLOCK_SIZE = 20, 20
CORRELATION = 0.5
SHIFT = 1.0


def make_wide_rows(
    n_rows: int, n_test: int, n_features: int, seed: int
) -> tuple[Floats, Labels, Floats, Labels]:
    """
    Return X and y of training rows and of test rows, of two classes that are equally frequent.

    Blocks of 20 features are correlated (.5). The means of 20 features, each in a block of its own where
    there are so many, differ between the classes by one standard deviation, up or down.
    """
    rng = np.random.default_rng([seed, n_rows, n_features])
    n = n_rows + n_test
    y = np.arange(n) % 2
    n_blocks = -(-n_features // BLOCK_SIZE)
    shared = rng.normal(size=(n, n_blocks)).repeat(BLOCK_SIZE, axis=1)[:, :n_features]
    X = np.sqrt(CORRELATION) * shared + np.sqrt(1 - CORRELATION) * rng.normal(size=(n, n_features))
    step = max(n_features // N_INFORMATIVE, 1)
    informative = np.arange(0, n_features, step)[:N_INFORMATIVE]
    X[:, informative] += SHIFT * (y[:, None] - 0.5) * rng.choice([-1.0, 1.0], len(informative))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]
