"""Positions of categories: where the categories of a feature are, on axes of their own.

At the start all categories are equally far apart, so that the squared distance of two rows is constant where
their categories differ and 0 where they are the same: the overlap distance. Training moves the categories.
"""

from __future__ import annotations

import numpy as np

from lann._support.types import Floats, Indices

# Number of axes of a feature, at most. More categories than axes are only nearly equally far apart.
MOST_AXES = 16
# Below this, the variance of the positions is rounding.
SMALLEST_VARIANCE = 1e-12
# Determines the initial directions of many categories.
SEED = 0


class CategoryPositions:
    """Positions of the categories of one feature.

    A gap is one more category, the last one, in a feature that has gaps in the training data.

    Parameters
    ----------
    positions : ndarray of shape (n_positions, n_axes)
        The position of each category, then that of a gap if there is one.
    shares : ndarray of shape (n_positions,)
        Share of the training rows in each category.
    n_categories : int

    Attributes
    ----------
    positions, shares, n_categories
        As given.
    """

    def __init__(self, positions: Floats, shares: Floats, n_categories: int) -> None:
        self.positions, self.shares, self.n_categories = positions, shares, n_categories

    @classmethod
    def from_values(
        cls, values: Floats, n_categories: int, row_weights: Floats | None = None
    ) -> CategoryPositions:
        """Return the initial positions: all categories are equally far apart.

        Parameters
        ----------
        values : ndarray of shape (n_rows,)
            The categories as codes, NaN for a gap.
        n_categories : int
        row_weights : ndarray of shape (n_rows,) or None, default=None
            How much each row counts; None is 1 for all.

        Returns
        -------
        positions : CategoryPositions
        """
        gaps = np.isnan(values)
        codes = np.where(gaps, n_categories, values).astype(np.int64)
        counts = np.bincount(codes, row_weights, n_categories + bool(gaps.any()))
        shares = counts / counts.sum()
        return cls(initial_positions(shares), shares, n_categories)

    @property
    def n_axes(self) -> int:
        """Number of axes."""
        return self.positions.shape[1]

    @property
    def has_gaps(self) -> bool:
        """Whether the training data have gaps in the feature."""
        return len(self.positions) > self.n_categories

    @property
    def mean(self) -> Floats:
        """The mean position of the training rows, which is that of an unseen category: (n_axes,)."""
        return self.shares @ self.positions

    @property
    def variances(self) -> Floats:
        """The variance of the positions of the training rows: (n_axes,)."""
        return self.shares @ np.square(self.positions - self.mean)

    @property
    def is_learned(self) -> bool:
        """Whether the positions differ from the initial ones."""
        return not np.array_equal(self.positions, initial_positions(self.shares))

    def main_direction(self) -> Floats:
        """Return the positions along the direction in which they vary most: (n_positions,).

        It is the first principal component of the training rows; its sign is that of the most extreme one.
        """
        centered = self.positions - self.mean
        _, directions = np.linalg.eigh((centered * self.shares[:, None]).T @ centered)
        along = centered @ directions[:, -1]
        return along if along[np.argmax(np.abs(along))] >= 0 else -along

    def locate(self, values: Floats) -> Indices:
        """Return the row of `positions` for each code, -1 for an unseen category or a gap without position.

        Parameters
        ----------
        values : ndarray of shape (n_rows,)
            Codes, NaN for a gap and -1 for an unseen category.

        Returns
        -------
        rows : ndarray of shape (n_rows,)
        """
        gap = self.n_categories if self.has_gaps else -1
        return np.where(np.isnan(values), gap, values).astype(np.int64)

    def transform(self, values: Floats) -> Floats:
        """Return the positions of categories given as codes: (n_rows, n_axes)."""
        return np.vstack([self.positions, self.mean])[self.locate(values)]

    def extended(self, n_categories: int) -> CategoryPositions:
        """Return the positions with more categories, the new ones at the mean of the others."""
        n_new = n_categories - self.n_categories
        if n_new == 0:
            return self
        positions = np.insert(self.positions, [self.n_categories] * n_new, self.mean, axis=0)
        shares = np.insert(self.shares, [self.n_categories] * n_new, 0.0)
        return CategoryPositions(positions, shares, n_categories)

    def with_learned(self, other: CategoryPositions) -> CategoryPositions:
        """Return the categories at the positions that others of the same feature have learned.

        A gap that only these have is at the mean. Another number of axes changes nothing.
        """
        if other.n_axes != self.n_axes:
            return self
        return self.with_positions(np.vstack([other.positions, other.mean])[: len(self.positions)])

    def with_positions(self, positions: Floats) -> CategoryPositions:
        """Return the same categories at other positions."""
        return CategoryPositions(positions, self.shares, self.n_categories)


def initial_positions(shares: Floats) -> Floats:
    """Return positions that are equally far apart, with the variance 1 per axis of a standardized number.

    Two positions share one axis. Up to `MOST_AXES`, each has an axis of its own, so that a weight of an axis
    is about one category; further ones have random directions, at distances that differ little.

    Parameters
    ----------
    shares : ndarray of shape (n_positions,)
        Share of the rows at each position.

    Returns
    -------
    positions : ndarray of shape (n_positions, n_axes)
        With mean 0 over the rows; the variance is 1 on average over the axes.
    """
    n = len(shares)
    if n == 1:
        return np.zeros((1, 1))
    if n == 2:
        positions = np.array([[-0.5], [0.5]])
    elif n <= MOST_AXES:
        positions = np.eye(n)
    else:
        positions = np.random.default_rng(SEED).normal(size=(n, MOST_AXES))
        positions /= np.linalg.norm(positions, axis=1, keepdims=True)
    positions = positions - shares @ positions
    variance = shares @ np.square(positions).mean(axis=1)
    # Rows of one category alone have no variance; the others still have a distance from it.
    return positions / np.sqrt(variance if variance > SMALLEST_VARIANCE else np.square(positions).mean())
