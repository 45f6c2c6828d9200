"""Rows in the cells of an encoding: fast coordinates while curves and positions change."""

from __future__ import annotations

import math

import numpy as np

from lann._types import Floats, Indices
from lann.encoding import Encoding, FeatureCurves
from lann.training._cell_kernels import add_by_cell, cell_values


class Cells:
    """The cells in which rows are: sets of values on which a coordinate is linear.

    For numbers, these are the ranges without an edge or a threshold of the curve inside, so that a jump costs
    no more time than a slope; a gap is in that of the expected number. A category is a cell of its own, with
    a position on each of the coordinates of its feature, and so is a gap on its second coordinate. All
    positions together are a vector: see `Positions`.

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
        if encoding.is_numeric:
            bins, self._offsets = curves.locate(X)
            cells = bins + curves.count_thresholds(X)
            self._cells = (features.T * shape[1] + cells).astype(np.uint32)
            self.n_positions = 0
            return
        numbers = encoding.numbers_of(X)
        numbers = encoding.gaps.filled(numbers)
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
        starts, slopes = starts.ravel(), np.take(curves.slopes, self._bins).ravel()
        if self.n_positions > 0:
            starts = np.concatenate([starts, positions])
            slopes = np.concatenate([slopes, np.zeros(len(positions))])
        return cell_values(self._cells, self._offsets, used, starts, slopes)

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
        add_by_cell(self._cells, self._offsets, used, by_value, sums, moments)
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
        if len(rows) and not 0 <= rows.min() <= rows.max() < len(positions.positions):
            raise ValueError(f"Feature {feature} has values without a position.")
        entries[:, first : first + n_axes] = n_entries + n_axes * rows[:, None] + np.arange(n_axes)
        n_entries += positions.positions.size
    return entries, n_entries
