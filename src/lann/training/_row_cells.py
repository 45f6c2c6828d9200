"""The cells of many training rows, found without all of them on the axes at once."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lann._threads import map_blocks
from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.search import (
    N_CALIBRATED,
    N_NEIGHBORS,
    POINTS_PER_CENTER,
    CellIndex,
    ExactSearch,
    Partition,
    calibrate,
    n_cells_of,
    smallest,
)

# Rows that a thread processes at a time.
ASSIGN_BLOCK, SEARCH_BLOCK = 8_192, 32_768


def build_index(levels: Levels, rng: np.random.Generator, *, n_jobs: int | None = None) -> CellIndex:
    """Return the cells of the rows of levels: those of `CellIndex.build`, but for the sample of rows."""
    n_rows = len(levels.X)
    rows = draw_partition_rows(n_rows, rng)
    counts = np.bincount(levels.labels, minlength=len(levels.class_log_weights))
    weights = mean_class_weights(levels.class_log_weights, counts)
    partition = fit_partition(points_of(levels, rows), n_rows, weights, rng, n_jobs=n_jobs)
    cells = assign_cells(partition, levels, n_jobs=n_jobs)
    rows = draw_calibration_rows(n_rows, rng)
    neighbors = _nearest_rows(levels, rows, n_jobs)
    order = partition.nearest(points_of(levels, rows), partition.n_cells)
    return CellIndex(partition, cells, calibrate(order, cells[neighbors]), n_rows)


def draw_partition_rows(n_rows: int, rng: np.random.Generator) -> Indices:
    """Return the rows from which the centers of the cells of so many rows are learned, ascending."""
    size = min(n_rows, POINTS_PER_CENTER * n_cells_of(n_rows))
    return np.sort(rng.choice(n_rows, size, replace=False))


def draw_calibration_rows(n_rows: int, rng: np.random.Generator) -> Indices:
    """Return the rows whose neighbors determine how many cells a search includes, ascending."""
    return np.sort(rng.choice(n_rows, min(N_CALIBRATED, n_rows), replace=False))


def mean_class_weights(class_log_weights: Floats, counts: Indices) -> Floats:
    """Return the mean over rows of the weights of their classes, given the rows of each class: (n_axes,)."""
    return counts @ np.exp(class_log_weights) / counts.sum()


def fit_partition(
    points: Floats, n_rows: int, weights: Floats, rng: np.random.Generator, *, n_jobs: int | None = None
) -> Partition:
    """Return a partition for many rows, learned from those of `draw_partition_rows`.

    Parameters
    ----------
    points : (n_drawn, n_axes)
        The rows that were drawn, on the axes.
    n_rows : int
        Number of all rows.
    weights : (n_axes,)
        As of `mean_class_weights`.
    rng : Generator
    n_jobs : int or None
        Number of threads.
    """
    return Partition.fit(points, n_cells_of(n_rows), rng, weights=weights, n_jobs=n_jobs)


def assign_cells(partition: Partition, levels: Levels, *, n_jobs: int | None = None) -> NDArray[np.int32]:
    """Return the cell of each row: (n_rows,)."""

    def assign(part: slice) -> NDArray[np.int32]:
        return partition.assign(points_of(levels, part), n_jobs=1)

    return np.concatenate(map_blocks(assign, len(levels.X), ASSIGN_BLOCK, n_jobs=n_jobs))


def points_of(levels: Levels, rows: Indices | slice) -> Floats:
    """Return some of the rows on the axes: (n, n_axes)."""
    return levels.transform(levels.X[rows].astype(np.float64, copy=False))


def _nearest_rows(levels: Levels, rows: Indices, n_jobs: int | None) -> Indices:
    """Return the nearest other rows of some rows under the class metrics: (n, N_NEIGHBORS)."""
    queries, k = points_of(levels, rows), min(N_NEIGHBORS, len(levels.X) - 1)

    def search(part: slice) -> tuple[Indices, Floats]:
        points, labels = points_of(levels, part), levels.labels[part]
        metric = Levels.metric_of_classes(points, labels, levels.class_log_weights)
        found, distances = ExactSearch(metric).query(queries, min(k + 1, len(points)), n_jobs=1)
        own = found + part.start == rows[:, None]
        return np.where(own, -1, found + part.start), np.where(own, np.inf, distances)

    found = map_blocks(search, len(levels.X), SEARCH_BLOCK, n_jobs=n_jobs)
    nearest, _ = smallest(np.hstack([f[1] for f in found]), np.hstack([f[0] for f in found]), k)
    return nearest
