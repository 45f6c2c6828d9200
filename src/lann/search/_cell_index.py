"""Cells of points, and how many of them a query has to search."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices
from lann.metrics import DiagonalMetric, row_hashes
from lann.search._exact import ExactSearch
from lann.search._partition import Partition

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
    """Return the number of cells for so many points."""
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
