"""Hostile numbers: changes of an honest matrix."""

from __future__ import annotations

import numpy as np

from tests.fuzz.inputs.source import Source

SCALES = (-1074, -1000, -600, -540, -340, -170, -100, -20, 20, 100, 166, 332, 450, 498, 510, 600, 1000)
CELLS = (
    0.0, -0.0, 5e-324, 1e-310, 1e-300, 1e-160, 1e-30, 255.0, 1e9, 1e20, 1e39, 1e59, 1e61, 1e77, 1e100,
    1e150, 1e154, 1e200, 1e300, 1.7e308, np.nan, np.inf,
)  # fmt: skip
COLUMNS = (
    [1e-300, 1, 1, 1], [1e-170, 1, 1e170, 1], [1e-100, 1, 1e100, 1], [5e-324, 1, 1, 1], [0, 1, 1, 1],
    [0, 0, 0, 0], [1, 1, 1, 1e12], [1e-12, 1, 1, 1],
)  # fmt: skip


def as_they_are(X: np.ndarray, source: Source) -> np.ndarray:
    return X


def one_cell(X: np.ndarray, source: Source) -> np.ndarray:
    """Replace a cell."""
    X[source.integer(len(X)), source.integer(X.shape[1])] = source.choose((1, -1)) * source.choose(CELLS)
    return X


def two_cells(X: np.ndarray, source: Source) -> np.ndarray:
    return one_cell(one_cell(X, source), source)


def one_row(X: np.ndarray, source: Source) -> np.ndarray:
    """Replace a row by one number."""
    X[source.integer(len(X))] = source.choose((1, -1)) * source.choose(CELLS)
    return X


def one_column(X: np.ndarray, source: Source) -> np.ndarray:
    """Make a feature constant."""
    X[:, source.integer(X.shape[1])] = source.choose((1, -1)) * source.choose(CELLS)
    return X


def scaled(X: np.ndarray, source: Source) -> np.ndarray:
    """Multiply everything by a power of two."""
    with np.errstate(over="ignore", under="ignore"):
        return np.ldexp(X, source.choose(SCALES))


def scaled_columns(X: np.ndarray, source: Source) -> np.ndarray:
    """Multiply features by numbers of their own."""
    with np.errstate(over="ignore", under="ignore"):
        return X * np.resize(source.choose(COLUMNS), X.shape[1])


def shifted(X: np.ndarray, source: Source) -> np.ndarray:
    """Add a large number, in which the differences nearly vanish."""
    return X + source.choose((1e6, 1e15, 1e17, -1e100))


def repeated(X: np.ndarray, source: Source) -> np.ndarray:
    """Use few different rows, which then have several labels."""
    return X[np.arange(len(X)) % source.choose((1, 2, 7))]


def whole(X: np.ndarray, source: Source) -> np.ndarray:
    """Round, so that many distances are equal."""
    return np.round(X * source.choose((1, 3)))


def noise(X: np.ndarray, source: Source) -> np.ndarray:
    """Draw other numbers, of a distribution with heavy tails."""
    return np.random.default_rng(source.integer(1000)).standard_cauchy(X.shape)


def gaps(X: np.ndarray, source: Source) -> np.ndarray:
    """Leave cells, or a feature, without a value."""
    if source.chance(20):
        X[:, source.integer(X.shape[1])] = np.nan
        return X
    X[np.random.default_rng(source.integer(1000)).random(X.shape) < source.choose((0.1, 0.9, 1.0))] = np.nan
    return X


def other_shape(X: np.ndarray, source: Source) -> np.ndarray:
    """Take fewer rows or columns, or more."""
    n_rows, n_columns = source.choose((0, 1, 2, 3, 6, len(X))), source.choose((0, 1, 2, 3, 4, 5, 40))
    return np.resize(X, (n_rows, n_columns)) if n_rows * n_columns else np.zeros((n_rows, n_columns))


def other_dimensions(X: np.ndarray, source: Source) -> np.ndarray:
    """Make an array of another number of dimensions."""
    return source.choose((X.ravel(), X[0], X[:, :, None], X[None], X[0, 0], X.reshape(-1, 1, X.shape[1])))


VALUES = (
    as_they_are, one_cell, two_cells, one_row, one_column, scaled, scaled_columns, shifted, repeated, whole,
    noise, gaps, other_shape, other_dimensions,
)  # fmt: skip
# After these, the numbers are ordinary, and must not be rejected.
ORDINARY = (as_they_are, whole, noise)
