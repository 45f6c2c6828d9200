"""A partition of points into cells: every point belongs to the nearest of some centers."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._compile import njit
from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import overflow_is_far

# Rounds of k-means, and the number of points per center that it uses at most.
N_ROUNDS = 8
POINTS_PER_CENTER = 64
# The largest coordinate of a center, with some room for rounding: the points are scaled to at most 1. Points
# that are farther away than FARTHEST are treated as if they were not, so that all distances are finite.
LARGEST_CENTER, FARTHEST = 2.0, 1e100
# Points with a larger coordinate are far from all centers.
FAR = 10.0
# Numbers in one block of distances to the centers, and in one of a caller that has own blocks, at most.
BLOCK_SIZE, LARGEST_BLOCK = 2_000_000, 16_000_000


@dataclass(frozen=True)
class Partition:
    """Cells of points on the axes: a point belongs to the nearest center under one shared metric.

    Attributes
    ----------
    centers : (n_cells, n_axes)
        In scaled coordinates.
    offset, scale : (n_axes,)
        Scaled coordinates are (point − offset) · scale.
    """

    centers: Floats
    offset: Floats
    scale: Floats

    @classmethod
    def fit(
        cls,
        points: Floats,
        n_cells: int,
        rng: np.random.Generator,
        *,
        weights: Floats | None = None,
        n_jobs: int | None = None,
    ) -> Partition:
        """Return a partition whose centers are those of k-means on a sample of points.

        Parameters
        ----------
        points : (n_points, n_axes)
        n_cells : int
            Fewer where there are fewer distinct points.
        rng : Generator
        weights : (n_axes,) or None
            Of the shared metric; None is 1 for all.
        n_jobs : int or None
            Number of threads; the result does not depend on it.
        """
        n_sampled = min(len(points), POINTS_PER_CENTER * n_cells)
        rows = np.sort(rng.choice(len(points), n_sampled, replace=False))
        sample = points[rows].astype(np.float64, copy=False)
        offset = sample.mean(axis=0)
        scale = np.ones(points.shape[1]) if weights is None else np.sqrt(weights)
        reach = np.abs((sample - offset) * scale).max(initial=0.0)
        scale = scale / (reach or 1.0)  # within the range of float32 in any units
        coordinates = ((sample - offset) * scale).astype(np.float32)
        starts = np.sort(rng.choice(n_sampled, min(n_cells, n_sampled), replace=False))
        centers = np.unique(coordinates[starts], axis=0)
        for _ in range(N_ROUNDS):
            nearest = _nearest_centers(coordinates, centers, n_jobs)
            sums, counts = np.zeros(centers.shape), np.zeros(len(centers), np.int64)
            sum_by_cell(coordinates, nearest, sums, counts)
            used = counts > 0
            centers = (sums[used] / counts[used, None]).astype(np.float32)
        return cls(centers.astype(np.float64), offset, scale)

    @property
    def n_cells(self) -> int:
        return len(self.centers)

    def assign(self, points: Floats, *, n_jobs: int | None = None) -> NDArray[np.int32]:
        """Return the cell of each point: (n_points,)."""

        def assign(part: slice) -> NDArray[np.int32]:
            return self._distances(points[part]).argmin(axis=1).astype(np.int32)

        block = max(BLOCK_SIZE // self.n_cells, 1)
        found = map_blocks(assign, len(points), block, n_jobs=n_jobs)
        return np.concatenate(found) if found else np.empty(0, np.int32)

    def nearest(self, points: Floats, n: int) -> NDArray[np.int32]:
        """Return the cells nearest to each point, nearest first: (n_points, n), or all cells."""
        n = min(n, self.n_cells)
        block = max(LARGEST_BLOCK // self.n_cells, 1)
        found = [
            smallest_positions(self._distances(points[start : start + block]), n)
            for start in range(0, len(points), block)
        ]
        return np.concatenate(found) if found else np.empty((0, n), np.int32)

    def is_far(self, points: Floats) -> NDArray[np.bool_]:
        """Return which points are so far from all centers that the nearest of these say little: (n_points,).

        They are 10 times as far from the mean as any point of the sample, on some axis.
        """
        far: NDArray[np.bool_] = np.any(np.abs(self._scaled(points)) > FAR, axis=1)
        return far

    def _distances(self, points: Floats) -> Floats:
        """Return the squared distances to the centers, up to a constant of each point; all are finite."""
        coordinates = self._scaled(points)
        norms = np.einsum("ca,ca->c", self.centers, self.centers)
        distances = coordinates @ (-2.0 * self.centers.T)
        distances += norms
        return distances

    @overflow_is_far
    def _scaled(self, points: Floats) -> Floats:
        coordinates = (points - self.offset) * self.scale
        np.nan_to_num(coordinates, copy=False)
        return np.clip(coordinates, -FARTHEST, FARTHEST, out=coordinates)


def _nearest_centers(
    coordinates: NDArray[np.float32], centers: NDArray[np.float32], n_jobs: int | None
) -> Indices:
    norms = np.einsum("ca,ca->c", centers, centers)
    factors = -2.0 * centers.T

    def nearest(part: slice) -> Indices:
        distances = coordinates[part] @ factors
        distances += norms
        return distances.argmin(axis=1)

    block = max(BLOCK_SIZE // len(centers), 1)
    return np.concatenate(map_blocks(nearest, len(coordinates), block, n_jobs=n_jobs))


@njit(nogil=True, cache=True)
def sum_by_cell(coordinates, cells, sums, counts):
    """Add the coordinates of the points of each cell to (n_cells, n_axes), and their number to (n_cells,)."""
    for row in range(coordinates.shape[0]):
        cell = cells[row]
        counts[cell] += 1
        for axis in range(coordinates.shape[1]):
            sums[cell, axis] += coordinates[row, axis]


@njit(nogil=True, cache=True)
def smallest_positions(values, n):
    """Return the positions of the n smallest values of each row, in order: (n_rows, n) int32.

    Equal values are ordered by position. A heap keeps the n smallest so far, the largest on top.
    """
    n_rows, width = values.shape
    out = np.empty((n_rows, n), np.int32)
    heap, positions = np.empty(n), np.empty(n, np.int32)
    for row in range(n_rows):
        for position in range(n):
            heap[position], positions[position] = np.inf, width
        for position in range(width):
            value = values[row, position]
            if value < heap[0]:
                _replace_top(heap, positions, value, position, n)
        for last in range(n - 1, -1, -1):
            out[row, last] = positions[0]
            value, position = heap[last], positions[last]
            _replace_top(heap, positions, value, position, last)
    return out


@njit(nogil=True, cache=True)
def _replace_top(heap, positions, value, position, size):
    """Replace the top of a heap of this size by another entry."""
    slot = 0
    while True:
        child = 2 * slot + 1
        if child >= size:
            break
        other = child + 1
        if other < size and _after(heap[other], positions[other], heap[child], positions[child]):
            child = other
        if not _after(heap[child], positions[child], value, position):
            break
        heap[slot], positions[slot] = heap[child], positions[child]
        slot = child
    if size > 0:
        heap[slot], positions[slot] = value, position


@njit(nogil=True, cache=True)
def _after(value, position, other_value, other_position):
    return value > other_value or (value == other_value and position > other_position)
