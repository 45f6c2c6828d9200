"""Positions of gaps and of categories.

A gap in a number is at the value predicted from the row's other numbers, and has a second coordinate, which
separates it from all numbers. The prediction is that of a normal distribution with the means and covariances
of the training data: linear in the numbers that a row has. It uses what features have in common, so that a
row with gaps stays near the rows that it resembles.

Categories have positions on axes of their own. At the start all are equally far apart, so that the squared
distance of two rows is constant where their categories differ and 0 where they are the same: the overlap
distance. Training moves the categories.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from lann._support.inputs import weighted_means, weighted_moments
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric._matrix import multiply_rows

# The initial distance of a gap from the numbers, in standard deviations of the feature.
GAP_HEIGHT = 0.5
# How much of the identity is added to the correlations before they are inverted.
RIDGE = 0.1
# The variance is 1; that of few rows in common can be as large as the number of all rows, and larger if these
# few have hardly any weight.
LARGEST_VARIANCE = 1e5
# With more numbers than this, the expectation of each is its mean: the inverse would take too long.
MOST_NUMBERS = 1_000


@dataclass(frozen=True)
class NumberGaps:
    """Where the gaps of number features are.

    Attributes
    ----------
    shares : ndarray of shape (n_numbers,)
        Share of the training rows that have a gap in each feature.
    heights : ndarray of shape (n_numbers,)
        How far a gap is from the numbers, on a coordinate of its own.
    centers, scales : ndarray of shape (n_numbers,)
        Mean and standard deviation of the numbers, in the user's units.
    precision : ndarray of shape (n_numbers, n_numbers) or None
        The inverse of the correlations of the numbers, from which expected values follow; None where these
        are the means.
    """

    shares: Floats
    heights: Floats
    centers: Floats
    scales: Floats
    precision: Floats | None = None

    @classmethod
    def none(cls, n_numbers: int) -> NumberGaps:
        """Return gaps of features that have none."""
        return cls(np.zeros(n_numbers), np.zeros(n_numbers), np.zeros(n_numbers), np.ones(n_numbers))

    @classmethod
    def from_values(cls, values: Floats, row_weights: Floats | None = None) -> NumberGaps:
        """Return the gaps of training rows, with nothing learned.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_numbers)
        row_weights : ndarray of shape (n_rows,) or None, default=None
            Sample weights; None is 1 for all.

        Returns
        -------
        gaps : NumberGaps
        """
        centers, variances = gap_moments(values, row_weights)
        missing = np.isnan(values)
        shares = weighted_means(missing.astype(np.float64), row_weights)
        # A gap in a row of hardly any weight is a gap, too.
        shares = np.where(missing.any(axis=0), np.clip(shares, np.finfo(np.float64).tiny, 1.0), 0.0)
        scales = np.sqrt(variances)
        scales = np.where((scales > 0) & np.isfinite(scales), scales, 1.0)
        heights = np.where(shares > 0, GAP_HEIGHT * scales, 0.0)
        precision = None
        if missing.any() and 1 < values.shape[1] <= MOST_NUMBERS:
            precision = _precision(np.where(missing, 0.0, (values - centers) / scales), missing, row_weights)
        return cls(shares, heights, centers, scales, precision)

    @cached_property
    def present(self) -> NDArray[np.bool_]:
        """Whether the training data have gaps in each of the features: (n_numbers,)."""
        return self.shares > 0

    def rescaled(self, center: Floats, scale: Floats) -> NumberGaps:
        """Return the same gaps for numbers in other units: x · scale + center."""
        return replace(self, centers=self.centers * scale + center, scales=self.scales * scale)

    def filled(self, values: Floats) -> Floats:
        """Return rows with the expected value in place of each gap.

        The result of a row does not depend on the other rows.

        Parameters
        ----------
        values : ndarray of shape (n_rows, n_numbers)

        Returns
        -------
        filled : ndarray of shape (n_rows, n_numbers)
        """
        missing = np.isnan(values)
        rows = np.flatnonzero(missing.any(axis=1))
        if len(rows) == 0:
            return values
        filled = np.where(missing, self.centers, values)
        if self.precision is None:
            return filled
        standardized = (filled[rows] - self.centers) / self.scales
        _, first, group = np.unique(
            np.packbits(missing[rows], axis=1), axis=0, return_index=True, return_inverse=True
        )
        group = group.ravel()
        order = np.argsort(group, kind="stable")
        bounds = np.searchsorted(group[order], np.arange(len(first) + 1))
        with single_threaded_blas():  # the same bits for any number of BLAS threads
            for number, row in enumerate(first):
                gaps = np.flatnonzero(missing[rows[row]])
                if len(gaps) == values.shape[1]:
                    continue
                members = order[bounds[number] : bounds[number + 1]]
                inverse = np.linalg.inv(self.precision[np.ix_(gaps, gaps)])
                # Gaps are 0 here, so that all columns can be in the sum.
                expected = multiply_rows(standardized[members], self.precision[gaps].T @ -inverse.T)
                filled[np.ix_(rows[members], gaps)] = self.centers[gaps] + expected * self.scales[gaps]
        return filled


def _precision(standardized: Floats, missing: NDArray[np.bool_], row_weights: Floats | None) -> Floats:
    """Return the inverse of the correlations, each from the rows that have both numbers.

    Parameters
    ----------
    standardized : (n_rows, n_numbers)
        0 where missing.
    missing : (n_rows, n_numbers)
    row_weights : (n_rows,) or None
    """
    present = (~missing).astype(np.float64)
    weights = np.ones((len(missing), 1)) if row_weights is None else row_weights[:, None]
    with single_threaded_blas():
        totals = (weights * present).T @ present
        correlations = (weights * standardized).T @ standardized / np.maximum(totals, 1e-300)
        # Pairs without a common row are uncorrelated; different rows for different pairs can give matrices
        # that are not positive.
        correlations = np.where(totals > 0, correlations, 0.0).clip(-LARGEST_VARIANCE, LARGEST_VARIANCE)
        values, vectors = np.linalg.eigh(correlations)
        values = values.clip(0.0, LARGEST_VARIANCE) + RIDGE
        precision = (vectors / values) @ vectors.T
        return 0.5 * (precision + precision.T)


def gap_moments(values: Floats, row_weights: Floats | None) -> tuple[Floats, Floats]:
    """Return the mean and the variance of the numbers of each column, without gaps: (n_columns,) each."""
    missing = np.isnan(values)
    if not missing.any():
        with np.errstate(over="ignore", invalid="ignore"):
            return weighted_moments(values, row_weights)
    values = values.astype(np.float64, copy=False)
    weights = np.where(missing, 0.0, 1.0 if row_weights is None else row_weights[:, None])
    totals = weights.sum(axis=0)
    totals = np.where(totals > 0, totals, 1.0)
    first = np.take_along_axis(values, np.argmin(missing, axis=0)[None], axis=0)  # a number of each column
    first = np.where(np.isnan(first), 0.0, first)
    with np.errstate(over="ignore", invalid="ignore"):  # values that are too large are reported elsewhere
        relative = np.where(missing, 0.0, values - first)
        means = first[0] + (weights * relative).sum(axis=0) / totals
        deviations = np.where(missing, 0.0, values - means)
        return means, (weights * np.square(deviations)).sum(axis=0) / totals


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
            Sample weights; None is 1 for all.

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
