"""The positions of categories and gaps as one vector, as training changes them."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from lann._types import Floats, Indices
from lann.encoding import GAP_HEIGHT, Encoding, initial_positions

# A category with this many rows is pulled to its start twice as much as one with many rows.
FEW_ROWS = 3.0


class Positions:
    """The positions of all categories and gaps of an encoding, in the order of `locate_positions`.

        position = exp(slope of the feature) · (start + displacement)

    Parameters
    ----------
    encoding : Encoding
    feature_slopes : (n_features,)
    n_rows : int
        Number of training rows.

    Attributes
    ----------
    features : (n_positions,)
        The feature of each entry.
    start : (n_positions,)
    displacements : (n_positions,)
    restraint : (n_positions,)
        How much each entry is pulled to its start, relative to one of a frequent category.
    """

    def __init__(self, encoding: Encoding, feature_slopes: Floats, n_rows: int) -> None:
        features, start, now, shares = [np.zeros(1, np.int64)], [np.zeros(1)], [np.zeros(1)], [np.ones(1)]
        self._gap_numbers: Indices = np.flatnonzero(encoding.gaps.present)
        gaps = encoding.gaps
        for number in self._gap_numbers:
            features.append(encoding.number_features[[number]])
            start.append(np.array([GAP_HEIGHT]))
            now.append(gaps.heights[[number]])
            shares.append(gaps.shares[[number]])
        for feature, own in zip(encoding.category_features, encoding.positions, strict=True):
            features.append(np.full(own.positions.size, feature))
            start.append(initial_positions(own.shares).ravel())
            now.append(own.positions.ravel())
            shares.append(np.repeat(own.shares, own.n_axes))
        self.features = np.concatenate(features)
        self.start = np.concatenate(start)
        self.displacements = np.concatenate(now) / np.exp(feature_slopes[self.features]) - self.start
        self.restraint = 1.0 + FEW_ROWS / np.maximum(n_rows * np.concatenate(shares), 1.0)

    def __len__(self) -> int:
        return len(self.start)

    @property
    def penalized(self) -> Floats:
        """The displacements, those of rare categories larger, of which the penalty is the square."""
        return self.restraint * self.displacements

    def values(self, feature_slopes: Floats) -> Floats:
        """Return the positions: (n_positions,)."""
        return np.exp(feature_slopes[self.features]) * (self.start + self.displacements)

    def gradients(self, by_position: Floats, feature_slopes: Floats) -> tuple[Floats, Floats]:
        """Return the gradients with respect to the displacements, and to the feature slopes.

        Parameters
        ----------
        by_position : (n_positions,)
        feature_slopes : (n_features,)

        Returns
        -------
        by_displacement : (n_positions,)
        by_slope : (n_features,)
        """
        by_position = by_position.copy()
        by_position[0] = 0.0  # the constant is not learned
        by_displacement = by_position * np.exp(feature_slopes[self.features])
        terms = by_position * self.values(feature_slopes)
        by_slope = np.bincount(self.features, terms, len(feature_slopes))
        return by_displacement, by_slope.astype(np.float64, copy=False)

    def put_into(self, encoding: Encoding, feature_slopes: Floats) -> Encoding:
        """Return the encoding with these positions."""
        values, n_gaps = self.values(feature_slopes), len(self._gap_numbers)
        heights = encoding.gaps.heights.copy()
        heights[self._gap_numbers] = values[1 : 1 + n_gaps]
        positions, first = [], 1 + n_gaps
        for own in encoding.positions:
            moved = values[first : first + own.positions.size].reshape(own.positions.shape)
            positions.append(own.with_positions(moved))
            first += own.positions.size
        gaps = replace(encoding.gaps, heights=heights)
        return encoding.replace(gaps=gaps, positions=tuple(positions))
