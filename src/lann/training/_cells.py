"""Rows in the cells of an encoding: coordinates and gradients while curves and positions change.

A cell is a set of values of a feature on which its coordinate is linear: a range of numbers without an edge
or a threshold of the curve inside, or one category, or a gap.
"""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from lann import _native
from lann._support.types import Floats, Indices
from lann.metric import GAP_HEIGHT, Encoding, FeatureCurves, initial_positions


def compact_batch(rows: Indices, candidates: Indices, position: Indices) -> tuple[Indices, Indices, Indices]:
    """Return the points that a batch uses, and its queries and candidates as positions among these.

    Parameters
    ----------
    rows, candidates
        Of a `Batch`.
    position : (n_points,)
        All -1, before and after.

    Returns
    -------
    used : (n_used,)
        The queries and their candidates, in order of appearance.
    rows : (n_queries,)
    candidates : (n_queries, n_candidates)
    """
    used = np.empty(rows.size + candidates.size, np.int64)
    new_rows, new_candidates = np.empty_like(rows), np.empty_like(candidates)
    n_used = _native.compact_batch(rows, candidates, position, used, new_rows, new_candidates)
    return used[:n_used], new_rows, new_candidates


class Cells:
    """The cells in which rows are: sets of values on which a coordinate is linear.

    For numbers, these are the ranges without an edge or a threshold of the curve inside, so that a jump costs
    no more time than a slope; a gap is in the cell of the value predicted from the row's other numbers. A
    category is a cell of its own, with a position on each of the coordinates of its feature, and so is a gap
    on its second coordinate. All positions together are a vector: see `Positions`.

    Parameters
    ----------
    encoding : Encoding
        Its edges, thresholds and categories; slopes, jumps and positions are not used.
    X : (n_rows, n_features)
    """

    def __init__(self, encoding: Encoding, X: Floats) -> None:
        curves = encoding.curves
        limits = np.hstack([curves.edges, curves.thresholds])
        is_edge = np.arange(limits.shape[1]) < curves.edges.shape[1]
        ordered = is_edge[np.argsort(limits, axis=1, kind="stable")]
        shape = (curves.n_features, limits.shape[1] + 1)
        features = np.arange(shape[0])[:, None]
        # The bin of each cell, and the number of thresholds to its left: flat indices in tables by feature.
        self._bins, self._counts = np.zeros(shape, np.int64), np.zeros(shape, np.int64)
        np.cumsum(ordered, axis=1, out=self._bins[:, 1:])
        np.cumsum(~ordered, axis=1, out=self._counts[:, 1:])
        self._bins += curves.n_bins * features
        self._counts += (curves.n_steps + 1) * features
        numbers = encoding.gaps.filled(encoding.numbers_of(X))
        bins, offsets = curves.locate(numbers)
        located, self.n_positions = locate_positions(encoding, X)
        located += math.prod(shape)
        coordinates = encoding.first_coordinates[encoding.number_features]
        located[:, coordinates] = features.T * shape[1] + bins + curves.count_thresholds(numbers)
        self._offsets = np.zeros(located.shape)
        self._offsets[:, coordinates] = offsets
        self._cells = located.astype(np.uint32)

    def values(self, curves: FeatureCurves, positions: Floats, used: Indices) -> Floats:
        """Return the coordinates of some of the rows: (n_used, n_coordinates)."""
        starts = np.take(curves.starts, self._bins) + np.take(curves.heights, self._counts)
        starts = np.append(starts, positions)
        slopes = np.append(np.take(curves.slopes, self._bins), np.zeros(len(positions)))
        out = np.empty((len(used), self._cells.shape[1]))
        _native.cell_values(self._cells, self._offsets, used, starts, slopes, out)
        return out

    def gradients(
        self, curves: FeatureCurves, used: Indices, by_value: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """Return the gradients with respect to the slopes and the jumps of the curves, and to the positions.

        Parameters
        ----------
        curves : FeatureCurves
        used : (n_used,)
            Rows, distinct.
        by_value : (n_used, n_coordinates)
            Gradient with respect to their coordinates.

        Returns
        -------
        by_slope : (n_numbers, n_bins)
        by_jump : (n_numbers, n_steps)
        by_position : (n_positions,)
        """
        n_cells = self._bins.size
        sums, moments = np.zeros(n_cells + self.n_positions), np.zeros(n_cells + self.n_positions)
        _native.add_by_cell(self._cells, self._offsets, used, by_value, sums, moments)
        by_bin = (_sum_by(self._bins, part[:n_cells], curves.slopes.shape) for part in (sums, moments))
        by_count = _sum_by(self._counts, sums[:n_cells], (curves.n_features, curves.n_steps + 1))
        return curves.slope_gradient(*by_bin), curves.jump_gradient(by_count), sums[n_cells:]


def _sum_by(positions: Indices, values: Floats, shape: tuple[int, ...]) -> Floats:
    """Return a table of this shape with the sums of the values at the same flat position."""
    sums = np.bincount(positions.ravel(), values.ravel(), math.prod(shape))
    return sums.astype(np.float64, copy=False).reshape(shape)


def locate_positions(encoding: Encoding, X: Floats) -> tuple[Indices, int]:
    """Return the entry of the vector of positions for each coordinate of each row, and the number of entries.

    The entries are: a constant 0; for each number with gaps, where a gap is on the second coordinate; for
    each category feature, the rows of its positions, one after another.

    Parameters
    ----------
    encoding : Encoding
    X : (n_rows, n_features)

    Returns
    -------
    entries : (n_rows, n_coordinates)
        0 where the coordinate is not a position.
    n_entries : int
    """
    entries, n_entries = np.zeros((len(X), encoding.n_coordinates), np.int64), 1
    for feature in encoding.number_features[encoding.gaps.present]:
        entries[np.isnan(X[:, feature]), encoding.first_coordinates[feature] + 1] = n_entries
        n_entries += 1
    for feature, positions in zip(encoding.category_features, encoding.positions, strict=True):
        first, n_axes = encoding.first_coordinates[feature], positions.n_axes
        rows = positions.locate(X[:, feature])
        entries[:, first : first + n_axes] = n_entries + n_axes * rows[:, None] + np.arange(n_axes)
        n_entries += positions.positions.size
    return entries, n_entries


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
        gaps, numbers = encoding.gaps, np.flatnonzero(encoding.gaps.present)
        self._gap_numbers = numbers
        features = [np.zeros(1, np.int64), encoding.number_features[numbers]]
        start, now = [np.zeros(1), np.full(len(numbers), GAP_HEIGHT)], [np.zeros(1), gaps.heights[numbers]]
        shares = [np.ones(1), gaps.shares[numbers]]
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
