"""Cells of points: a partition by k-means, and how many cells a query has to search."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.threads import map_blocks, single_threaded_blas
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, overflow_is_far, row_hashes
from lann.search._exact import ExactSearch

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
            counts = np.bincount(nearest, minlength=len(centers))
            sums = np.stack([np.bincount(nearest, axis, len(centers)) for axis in coordinates.T], axis=1)
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
        nearest = np.empty((len(points), n), np.int32)
        for start in range(0, len(points), block):
            part = slice(start, start + block)
            _native.smallest_positions(self._distances(points[part]), nearest[part])
        return nearest

    def is_far(self, points: Floats) -> NDArray[np.bool_]:
        """Return which points are so far from all centers that the nearest of these say little: (n_points,).

        They are 10 times as far from the mean as any point of the sample, on some axis.
        """
        far: NDArray[np.bool_] = np.any(np.abs(self._scaled(points)) > FAR, axis=1)
        return far

    def _distances(self, points: Floats) -> Floats:
        """Return the squared distances to the centers, up to a constant of each point; all are finite."""
        return _center_distances(self._scaled(points), self.centers)

    @overflow_is_far
    def _scaled(self, points: Floats) -> Floats:
        coordinates = (points - self.offset) * self.scale
        np.nan_to_num(coordinates, copy=False)
        return np.clip(coordinates, -FARTHEST, FARTHEST, out=coordinates)


def _center_distances(coordinates: NDArray[Any], centers: NDArray[Any]) -> NDArray[Any]:
    distances: NDArray[Any] = coordinates @ (-2.0 * centers.T)
    distances += np.einsum("ca,ca->c", centers, centers)
    return distances


def _nearest_centers(
    coordinates: NDArray[np.float32], centers: NDArray[np.float32], n_jobs: int | None
) -> Indices:
    def nearest(part: slice) -> Indices:
        return _center_distances(coordinates[part], centers).argmin(axis=1)

    block = max(BLOCK_SIZE // len(centers), 1)
    return np.concatenate(map_blocks(nearest, len(coordinates), block, n_jobs=n_jobs))


# The number of cells is this times the square root of the number of points. At 100k to 1M points of 50 axes,
# half and twice as many cells take longer for the same recall.
CELLS_PER_ROOT = 2.0
# Points whose neighbors determine the number of cells to search, and the number of these neighbors.
N_CALIBRATED = 400
N_NEIGHBORS = 50
# Share of the neighbors that are found.
RECALL = 0.99


@dataclass(frozen=True)
class CellIndex:
    """The cell of each point, and the number of cells that a search includes.

    Attributes
    ----------
    partition : Partition
    cells : (n_points,) int32
        The cell of each point.
    n_probed : int
        Number of cells nearest to a query that have .99 of its 50 nearest points.
    n_seen : int
        Number of points that had arrived when the cells were determined, those that are gone included.
    """

    partition: Partition
    cells: NDArray[np.int32]
    n_probed: int
    n_seen: int = 0

    @classmethod
    def build(cls, metric: DiagonalMetric, *, n_jobs: int | None = None) -> CellIndex:
        """Return the index of the points of a metric.

        The cells are those under the mean over the points of their weights. The number of cells to search is
        calibrated with the neighbors of some points, by an exact search in which copies of a point count
        once. The result depends on the points only.
        """
        rng = np.random.default_rng(0)
        n_points = metric.n_points
        distinct = distinct_points(metric.points)
        n_cells, weights = n_cells_of(n_points), metric.mean_weights
        with single_threaded_blas():
            partition = Partition.fit(metric.points, n_cells, rng, weights=weights, n_jobs=n_jobs)
            cells = partition.assign(metric.points, n_jobs=n_jobs)
            if len(distinct) < 2:
                return cls(partition, cells, 1, n_points)
            among = metric if len(distinct) == n_points else metric.subset(distinct)
            rows = np.sort(rng.choice(len(distinct), min(N_CALIBRATED, len(distinct)), replace=False))
            k = min(N_NEIGHBORS, len(distinct) - 1)
            neighbors, _ = ExactSearch(among).query(among.points[rows], k, exclude=rows, n_jobs=n_jobs)
            order = partition.nearest(among.points[rows], partition.n_cells)
        return cls(partition, cells, calibrate(order, cells[distinct[neighbors]]), n_points)

    def n_probed_for(self, k: int) -> int:
        """Return how many cells a search for k neighbors includes: more than usual for more than 100."""
        usual = 2 * N_NEIGHBORS
        return min(-(-self.n_probed * max(k, usual) // usual), self.partition.n_cells)

    def probed_mask(self, queries: Floats, k: int) -> NDArray[np.bool_]:
        """Return the cells that a search for k neighbors of each query includes: (n_queries, n_cells).

        These are all cells for a query that is far from all points.
        """
        mask = np.zeros((len(queries), self.partition.n_cells), np.bool_)
        np.put_along_axis(
            mask, self.partition.nearest(queries, self.n_probed_for(k)).astype(np.int64), True, 1
        )
        mask[self.partition.is_far(queries)] = True
        return mask


def distinct_points(points: Floats) -> Indices:
    """Return one of each set of points with the same coordinates, ascending."""
    _, first = np.unique(row_hashes(points, np.zeros(len(points), np.int64)), return_index=True)
    return np.sort(first)


def n_cells_of(n_points: int) -> int:
    """Return the number of cells for `n_points` points."""
    return max(round(CELLS_PER_ROOT * math.sqrt(n_points)), 1)


def calibrate(order: NDArray[np.int32], found: NDArray[np.int32]) -> int:
    """Return the number of nearest cells that have nearly all neighbors of some points.

    Parameters
    ----------
    order : (n_points, n_cells)
        All cells, nearest first.
    found : (n_points, k)
        The cells of the neighbors.
    """
    ranks = np.argsort(order, axis=1)
    needed = np.sort(np.take_along_axis(ranks, found.astype(np.int64), axis=1), axis=None)
    return int(needed[math.ceil(RECALL * len(needed)) - 1]) + 1
