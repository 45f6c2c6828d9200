"""The encoding of rows: from the features of a table to coordinates in which differences are measured.

A number becomes a coordinate, its value on the curve of the feature. A gap is at the value predicted from the
row's other numbers, and differs from all numbers in a second coordinate, which the feature has if the
training data have gaps in it. A category becomes its position, on a few coordinates. The coordinates of a
feature are next to each other, in the order of the features.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.metric._curves import FeatureCurves
from lann.metric._positions import CategoryPositions, NumberGaps

# Rows that are encoded at once.
CHUNK = 16_384


@dataclass(frozen=True)
class Encoding:
    """How the features of a table become coordinates.

    Rows are given as numbers: a category as its code 0, 1, …, or -1 if it is unseen, a gap as NaN.

    Attributes
    ----------
    curves : FeatureCurves
        The curves of the numbers, in the order of these features.
    gaps : NumberGaps
        The gaps of the numbers.
    category_features : tuple of int
        Which features are categories, ascending.
    positions : tuple of CategoryPositions
        Their positions.
    left_out : tuple of int
        Features that are not measured: their coordinates are 0 for all rows.
    """

    curves: FeatureCurves
    gaps: NumberGaps
    category_features: tuple[int, ...] = ()
    positions: tuple[CategoryPositions, ...] = ()
    left_out: tuple[int, ...] = ()

    @classmethod
    def identity(cls, n_features: int) -> Encoding:
        """Return the encoding of numbers that leaves them unchanged.

        Parameters
        ----------
        n_features : int

        Returns
        -------
        encoding : Encoding
        """
        return cls(FeatureCurves.identity(n_features), NumberGaps.none(n_features))

    @classmethod
    def plain(cls, X: Floats, n_categories: Sequence[int], row_weights: Floats | None = None) -> Encoding:
        """Return the encoding with which nothing is learned yet.

        Numbers are unchanged; a gap is half a standard deviation beside its expected value. Categories are
        equally far apart.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        n_categories : sequence of int
            Number of categories of each feature, 0 for a number.
        row_weights : ndarray of shape (n_rows,) or None, default=None
            Sample weights; None is 1 for all.

        Returns
        -------
        encoding : Encoding
        """
        categories = tuple(int(f) for f in np.flatnonzero(n_categories))
        numbers = np.delete(X, categories, axis=1) if categories else X
        gaps = NumberGaps.from_values(numbers, row_weights)
        positions = tuple(
            CategoryPositions.from_values(X[:, f], n_categories[f], row_weights) for f in categories
        )
        return cls(FeatureCurves.identity(numbers.shape[1]), gaps, categories, positions)

    def extended(self, n_categories: Sequence[int]) -> Encoding:
        """Return the encoding with more categories, the new ones at the mean of the others.

        Parameters
        ----------
        n_categories : sequence of int
            Number of categories of each feature, 0 for a number.

        Returns
        -------
        encoding : Encoding
        """
        positions = tuple(
            own.extended(n_categories[feature])
            for feature, own in zip(self.category_features, self.positions, strict=True)
        )
        return self.replace(positions=positions)

    def with_learned(self, other: Encoding) -> Encoding:
        """Return the encoding with what another one has learned about the same features.

        Parameters
        ----------
        other : Encoding
            With the same categories.

        Returns
        -------
        encoding : Encoding
            Positions of a feature with another number of coordinates stay as they are.
        """
        both = self.gaps.present & other.gaps.present
        gaps = replace(self.gaps, heights=np.where(both, other.gaps.heights, self.gaps.heights))
        positions = tuple(
            own.with_learned(theirs) for own, theirs in zip(self.positions, other.positions, strict=True)
        )
        return self.replace(curves=other.curves, gaps=gaps, positions=positions)

    def __getstate__(self) -> dict[str, Any]:
        """Return the attributes without what is computed from them."""
        return {f.name: getattr(self, f.name) for f in fields(self)}

    def replace(self, **changes: Any) -> Encoding:
        """Return the encoding with some attributes replaced.

        Parameters
        ----------
        **changes : object
            New values of attributes.

        Returns
        -------
        encoding : Encoding
        """
        return replace(self, **changes)

    @property
    def n_features(self) -> int:
        """Number of features."""
        return self.curves.n_features + len(self.positions)

    @cached_property
    def number_features(self) -> Indices:
        """Which features are numbers, ascending."""
        return np.setdiff1d(np.arange(self.n_features), self.category_features)

    def numbers_of(self, X: Floats) -> Floats:
        """Return the columns of rows that are numbers.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        numbers : ndarray of shape (n_rows, n_numbers)
        """
        return np.ascontiguousarray(X[:, self.number_features]) if self.positions else X

    @cached_property
    def n_axes_of_features(self) -> Indices:
        """Number of coordinates of each feature: (n_features,)."""
        widths = np.ones(self.n_features, np.int64)
        widths[self.number_features] += self.gaps.present
        for feature, positions in zip(self.category_features, self.positions, strict=True):
            widths[feature] = positions.n_axes
        return widths

    @cached_property
    def first_coordinates(self) -> Indices:
        """The first coordinate of each feature: (n_features,)."""
        return np.cumsum(self.n_axes_of_features) - self.n_axes_of_features

    @property
    def n_coordinates(self) -> int:
        """Number of coordinates."""
        return int(self.n_axes_of_features.sum())

    @cached_property
    def is_numeric(self) -> bool:
        """Whether every feature is a number without gaps, so that the coordinates are the features."""
        return not self.positions and not self.gaps.present.any()

    @cached_property
    def has_gaps(self) -> NDArray[np.bool_]:
        """Whether a gap has a position in each feature, as the training data have gaps there."""
        gaps = np.zeros(self.n_features, bool)
        gaps[self.number_features] = self.gaps.present
        for feature, positions in zip(self.category_features, self.positions, strict=True):
            gaps[feature] = positions.has_gaps
        return gaps

    @property
    def is_identity(self) -> bool:
        """Whether the coordinates of training rows are their numbers, unchanged."""
        return self.is_numeric and not self.left_out and self.curves.is_identity

    @property
    def is_learned(self) -> bool:
        """Whether curves or positions differ from those with which nothing is learned."""
        return not self.curves.is_identity or any(p.is_learned for p in self.positions)

    def transform(self, X: Floats) -> Floats:
        """Return the coordinates of rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)

        Returns
        -------
        coordinates : ndarray of shape (n_rows, n_coordinates)
        """
        X = np.asarray(X, dtype=np.float64)
        if self.is_numeric and not self.left_out and not np.isnan(X).any():
            return self.curves.transform(X)
        out = np.empty((len(X), self.n_coordinates))
        for first in range(0, len(X), CHUNK):
            part = slice(first, first + CHUNK)
            self._transform_numbers(X[part], out[part])
            for feature, positions in zip(self.category_features, self.positions, strict=True):
                coordinate = self.first_coordinates[feature]
                out[part, coordinate : coordinate + positions.n_axes] = positions.transform(X[part, feature])
        for feature in self.left_out:
            coordinate = self.first_coordinates[feature]
            out[:, coordinate : coordinate + self.n_axes_of_features[feature]] = 0.0
        return out

    def _transform_numbers(self, X: Floats, out: Floats) -> None:
        numbers = self.numbers_of(X)
        missing = np.isnan(numbers)
        coordinates = self.first_coordinates[self.number_features]
        out[:, coordinates] = self.curves.transform(self.gaps.filled(numbers))
        present = self.gaps.present
        out[:, coordinates[present] + 1] = missing[:, present] * self.gaps.heights[present]

    def squared_spreads(self, X: Floats, scale: Floats) -> Floats:
        """Return the squared difference in each coordinate that counts as one step from given rows.

        For a number it is that of one `scale`, (φ'(x) scale)², with the mean slope of the bin. For a category
        and for a gap it is half the mean squared difference from the positions of all training rows.

        Parameters
        ----------
        X : ndarray of shape (n_rows, n_features)
        scale : ndarray of shape (n_numbers,)

        Returns
        -------
        spreads : ndarray of shape (n_rows, n_coordinates)
        """
        spreads = np.zeros((len(X), self.n_coordinates))
        numbers = self.numbers_of(X)
        missing = np.isnan(numbers)
        slopes = self.curves.mean_slopes_at(self.gaps.filled(numbers))
        coordinates = self.first_coordinates[self.number_features]
        spreads[:, coordinates] = np.square(slopes * scale)
        present = self.gaps.present
        spreads[:, coordinates[present] + 1] = 0.5 * missing[:, present] * self.gaps.heights[present] ** 2
        for feature, positions in zip(self.category_features, self.positions, strict=True):
            first = self.first_coordinates[feature]
            values = positions.transform(X[:, feature])
            squares = np.square(values - positions.mean) + positions.variances
            spreads[:, first : first + positions.n_axes] = 0.5 * squares
        return spreads

    def sum_by_feature(self, values: Floats) -> Floats:
        """Add up values of the coordinates of each feature.

        Parameters
        ----------
        values : ndarray of shape (..., n_coordinates)

        Returns
        -------
        sums : ndarray of shape (..., n_features)
        """
        if self.n_coordinates == self.n_features:
            return values
        return np.add.reduceat(values, self.first_coordinates, axis=-1)

    def rescaled(self, center: Floats, scale: Floats) -> Encoding:
        """Return the same encoding for numbers in other units: as `FeatureCurves.rescaled`.

        Parameters
        ----------
        center, scale : ndarray of shape (n_numbers,)

        Returns
        -------
        encoding : Encoding
        """
        return self.replace(
            curves=self.curves.rescaled(center, scale), gaps=self.gaps.rescaled(center, scale)
        )
