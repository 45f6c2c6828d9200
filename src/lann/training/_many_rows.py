"""Training on many rows: the shared levels on a sample, then the point metrics in tiles, on threads."""

from __future__ import annotations

import math
import time
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._threads import iterate_in_order, map_blocks, single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann.metrics import Levels
from lann.search import Partition
from lann.training._initial_map import n_axes_of
from lann.training._initial_matrices import check_matrix_memory, matrix_dtype
from lann.training._procedure import TrainingResult, plan_epochs, train_distinct, with_levels
from lann.training._sampling import stratified_sample
from lann.training._settings import Settings
from lann.training._tiles import Tile, TileResult, n_tiles_of, plan_tiles, train_tile
from lann.training._trainer import Callback, Epoch

# With more rows than this, the shared levels are learned on a sample, and the point metrics in tiles.
MANY_ROWS = 50_000
# Number of rows of the sample.
SAMPLE_ROWS = 20_000
# Number of cells: this factor times the square root of the number of rows.
CELLS_FACTOR = 2.0
# Number of rows per cell from which k-means learns the centers.
ROWS_PER_CELL = 64
# Rows that a thread assigns to cells at a time.
ASSIGN_BLOCK = 16_384


class RowsByCell(NamedTuple):
    """Rows in the order of their cells.

    Attributes
    ----------
    order : (n_rows,)
        Rows, those of the first cell first.
    starts : (n_cells + 1,)
        Where each cell starts.
    """

    order: Indices
    starts: Indices

    @classmethod
    def of(cls, cells: NDArray[np.int32], n_cells: int) -> RowsByCell:
        """Return the rows in the order of their cells, given the cell of each row."""
        starts = np.concatenate([[0], np.cumsum(np.bincount(cells, minlength=n_cells))])
        return cls(np.argsort(cells, kind="stable"), starts)

    def rows_of(self, cells: Indices) -> Indices:
        """Return the rows of some cells, ascending."""
        parts = [self.order[self.starts[cell] : self.starts[cell + 1]] for cell in cells]
        return np.sort(np.concatenate(parts)) if parts else np.empty(0, np.int64)


def has_many_rows(n_rows: int, settings: Settings) -> bool:
    """Return whether so many rows are trained on a sample and in tiles."""
    return n_rows > MANY_ROWS and sum(plan_epochs(settings)) > 0


def n_epochs_of(settings: Settings, n_rows: int) -> int:
    """Return the number of epochs of a training, at most, and of tiles if there are many rows."""
    shared_epochs, point_epochs = plan_epochs(settings)
    n_tiles = n_tiles_of(n_rows) if has_many_rows(n_rows, settings) and point_epochs > 0 else 0
    return shared_epochs + point_epochs + n_tiles


def train_many(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train many rows, of which none is a copy of another: see `train`.

    A sample decides on the shared levels, on the levels that are dropped, and on the number of epochs of the
    point metrics. Tiles of rows then learn the point metrics, each with a generator of its own: the result
    does not depend on the number of threads, and the memory for it is that of the tiles in progress.
    """
    _check_matrix_memory(start, settings)
    sample_rng, partition_rng, tile_rng = rng.spawn(3)
    sample = stratified_sample(start.labels, SAMPLE_ROWS, sample_rng)
    result = train_distinct(
        start.subset(sample),
        settings,
        sample_rng,
        callback=with_levels(callback, lambda levels: with_shared_levels(start, levels)),
    )
    levels = with_shared_levels(start, result.levels)
    if "point" in result.dropped_levels:
        levels = levels.replace(
            point_log_weights=np.zeros_like(levels.point_log_weights), point_matrices=None
        )
    if result.n_point_epochs == 0 or result.stopped:
        return replace(result, levels=levels, index=None)
    partition = fit_partition(levels, partition_rng, n_jobs=settings.n_jobs)
    cells = assign_cells(partition, levels, n_jobs=settings.n_jobs)
    tiles = plan_tiles(partition.centers, np.bincount(cells, minlength=partition.n_cells))
    training = _TileTraining(levels, settings, result.n_point_epochs, RowsByCell.of(cells, partition.n_cells))
    trained, losses, stopped = training.run(tiles, tile_rng, callback)
    return replace(
        result,
        levels=trained,
        losses=[*result.losses, *losses],
        index=None,
        partition=partition,
        cells=cells,
        stopped=stopped,
    )


def _check_matrix_memory(start: Levels, settings: Settings) -> None:
    """Raise ValueError if a matrix per row would take too much memory, before anything is learned."""
    if settings.form != "diagonal" and plan_epochs(settings)[1] > 0:
        n_axes = n_axes_of(settings.form, settings.n_components, start.encoding.n_coordinates)
        check_matrix_memory(start.replace(class_log_weights=np.zeros((len(start.class_log_weights), n_axes))))


def with_shared_levels(start: Levels, trained: Levels) -> Levels:
    """Return the rows of `start` with the encoding, the linear map and the class weights of other levels.

    The point metrics are those of `start`, unless these are about other axes.
    """
    n_axes = trained.class_log_weights.shape[1]
    shared = start.replace(
        encoding=trained.encoding,
        components=trained.components,
        class_log_weights=trained.class_log_weights,
    )
    if start.point_log_weights.shape[1] == n_axes:
        return shared
    return shared.replace(point_log_weights=np.zeros((len(start.X), n_axes)), point_matrices=None)


def mean_class_weights(class_log_weights: Floats, labels: Labels) -> Floats:
    """Return the mean over rows of the weights of their classes: (n_axes,)."""
    counts = np.bincount(labels, minlength=len(class_log_weights))
    return counts @ np.exp(class_log_weights) / counts.sum()


def fit_partition(levels: Levels, rng: np.random.Generator, *, n_jobs: int | None = None) -> Partition:
    """Return a partition of rows on the axes, under the mean of the class metrics."""
    n_rows = len(levels.X)
    n_cells = math.ceil(CELLS_FACTOR * math.sqrt(n_rows))
    rows = np.sort(rng.choice(n_rows, min(n_rows, ROWS_PER_CELL * n_cells), replace=False))
    weights = mean_class_weights(levels.class_log_weights, levels.labels)
    return Partition.fit(levels.transform(levels.X[rows]), n_cells, rng, weights=weights, n_jobs=n_jobs)


def assign_cells(partition: Partition, levels: Levels, *, n_jobs: int | None = None) -> NDArray[np.int32]:
    """Return the cell of each row: (n_rows,)."""

    def assign(part: slice) -> NDArray[np.int32]:
        return partition.assign(levels.transform(levels.X[part]), n_jobs=1)

    return np.concatenate(map_blocks(assign, len(levels.X), ASSIGN_BLOCK, n_jobs=n_jobs))


class _TileTraining:
    """Training of the point metrics of all rows, tile by tile.

    Parameters
    ----------
    levels : Levels
        All rows, with the shared levels.
    settings : Settings
    n_epochs : int
        Of every tile.
    rows_by_cell : RowsByCell
    """

    def __init__(self, levels: Levels, settings: Settings, n_epochs: int, rows_by_cell: RowsByCell) -> None:
        self._start, self._settings, self._n_epochs = levels, settings, n_epochs
        self._rows_by_cell = rows_by_cell
        # Tiles start from `levels`, whatever other tiles have learned.
        self._log_weights = levels.point_log_weights.copy()
        self._matrices: NDArray | None = None
        if settings.form != "diagonal":
            n_rows, n_axes = levels.point_log_weights.shape
            self._matrices = np.empty((n_rows, n_axes, n_axes), matrix_dtype(n_rows, n_axes))
            self._matrices[:] = np.eye(n_axes) if levels.point_matrices is None else levels.point_matrices

    def run(
        self, tiles: list[Tile], rng: np.random.Generator, callback: Callback | None
    ) -> tuple[Levels, list[float], bool]:
        """Train all tiles; return the levels, the loss of each tile, and whether the callback has stopped."""
        generators = rng.spawn(len(tiles))
        losses: list[float] = []
        stopped = False
        started = time.perf_counter()
        results = iterate_in_order(
            lambda number: self._train(tiles[number], generators[number]),
            len(tiles),
            n_jobs=self._settings.n_jobs,
        )
        with single_threaded_blas():
            for rows, result in results:
                self._set(rows, result)
                losses.append(result.losses[-1])
                n_done = len(losses)
                seconds_left = (time.perf_counter() - started) * (len(tiles) - n_done) / n_done
                if callback is not None:
                    stopped = bool(callback(self._progress(n_done, len(tiles), losses[-1], seconds_left)))
                if stopped:
                    results.close()
                    break
        return self._levels(), losses, stopped

    def _train(self, tile: Tile, rng: np.random.Generator) -> tuple[Indices, TileResult]:
        """Return the own rows of a tile, and their point metrics."""
        own, rows = (self._rows_by_cell.rows_of(cells) for cells in (tile.own, tile.cells))
        positions = np.searchsorted(rows, own)
        return own, train_tile(self._start.subset(rows), positions, self._settings, self._n_epochs, rng)

    def _set(self, rows: Indices, result: TileResult) -> None:
        self._log_weights[rows] = result.point_log_weights
        if self._matrices is not None:
            self._matrices[rows] = result.point_matrices

    def _levels(self) -> Levels:
        return self._start.replace(point_log_weights=self._log_weights, point_matrices=self._matrices)

    def _progress(self, n_done: int, n_tiles: int, loss: float, seconds_left: float) -> Epoch:
        name = "point weights" if self._matrices is None else "point matrices"
        return Epoch(name, n_done, n_tiles, loss, None, self._levels, unit="tile", seconds_left=seconds_left)
