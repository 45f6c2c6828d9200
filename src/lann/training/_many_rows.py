"""Training on many rows: the shared levels on a sample, then the point metrics in tiles, on threads."""

from __future__ import annotations

import time
from contextlib import closing
from dataclasses import replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._storage import MANY_ROWS
from lann._threads import iterate_in_order, single_threaded_blas
from lann._types import Indices
from lann.metrics import Levels
from lann.search import CellIndex
from lann.training._initial_map import n_axes_of
from lann.training._initial_matrices import check_matrix_memory, matrix_dtype
from lann.training._procedure import TrainingResult, plan_epochs, train_distinct, with_levels
from lann.training._row_cells import build_index
from lann.training._sampling import stratified_sample
from lann.training._settings import Settings
from lann.training._tiles import Tile, TileResult, n_reached_of, n_tiles_of, plan_tiles, train_tile
from lann.training._trainer import Callback, Epoch

# Number of rows of the sample.
SAMPLE_ROWS = 40_000


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
    sample_rng, index_rng, tile_rng = rng.spawn(3)
    sample = stratified_sample(start.labels, SAMPLE_ROWS, sample_rng)
    result = train_sample(
        start.subset(sample),
        settings,
        sample_rng,
        callback=with_levels(callback, lambda levels: with_shared_levels(start, levels)),
    )
    levels = with_shared_levels(start, result.levels)
    if "point" in result.dropped_levels:
        without = np.zeros_like(levels.point_log_weights)
        levels = levels.replace(point_log_weights=without, point_matrices=None)
    if result.n_point_epochs == 0 or result.stopped:
        return replace(result, levels=levels, index=None)
    with single_threaded_blas():
        index = build_index(levels, index_rng, n_jobs=settings.n_jobs)
        training = _TileTraining(levels, index, settings, result.n_point_epochs)
        trained, losses, stopped = training.run(tile_rng, callback)
    return replace(result, levels=trained, losses=[*result.losses, *losses], index=index, stopped=stopped)


def train_sample(
    sample: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train a sample of many rows: as few rows, but the shared levels are learned from all of the sample."""
    return train_distinct(sample, settings.replace(n_shared_rows=len(sample.X)), rng, callback=callback)


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


class _TileTraining:
    """Training of the point metrics of all rows, tile by tile.

    Parameters
    ----------
    levels : Levels
        All rows, with the shared levels.
    index : CellIndex
        Their cells.
    settings : Settings
    n_epochs : int
        Of every tile.
    """

    def __init__(self, levels: Levels, index: CellIndex, settings: Settings, n_epochs: int) -> None:
        self._start, self._index, self._settings, self._n_epochs = levels, index, settings, n_epochs
        n_cells = index.partition.n_cells
        self._rows_by_cell = RowsByCell.of(index.cells, n_cells)
        self._tiles = plan_tiles(
            index.partition.centers,
            np.bincount(index.cells, minlength=n_cells),
            n_reached=n_reached_of(index.n_probed, settings),
        )
        # Tiles start from `levels`, whatever other tiles have learned. What they learn is not as precise as
        # float32, which takes half the memory.
        n_rows, n_axes = levels.point_log_weights.shape
        self._log_weights = np.zeros((n_rows, n_axes), np.float32)
        if levels.point_log_weights.any():
            self._log_weights[:] = levels.point_log_weights
        self._matrices: NDArray | None = None
        if settings.form != "diagonal":
            self._matrices = np.empty((n_rows, n_axes, n_axes), matrix_dtype(n_rows, n_axes))
            self._matrices[:] = np.eye(n_axes) if levels.point_matrices is None else levels.point_matrices

    def run(self, rng: np.random.Generator, callback: Callback | None) -> tuple[Levels, list[float], bool]:
        """Train all tiles; return the levels, the loss of each tile, and whether the callback has stopped."""
        n_tiles = len(self._tiles)
        generators = rng.spawn(n_tiles)
        losses: list[float] = []
        stopped = False
        started = time.perf_counter()

        def train(number: int) -> tuple[Indices, TileResult]:
            return self._train(self._tiles[number], generators[number])

        with closing(iterate_in_order(train, n_tiles, n_jobs=self._settings.n_jobs)) as results:
            for rows, result in results:
                self._set(rows, result)
                losses.append(result.losses[-1])
                if callback is not None:
                    seconds_left = (time.perf_counter() - started) * (n_tiles - len(losses)) / len(losses)
                    stopped = bool(callback(self._progress(losses, seconds_left)))
                if stopped:
                    break
        return self._levels(), losses, stopped

    def _train(self, tile: Tile, rng: np.random.Generator) -> tuple[Indices, TileResult]:
        """Return the own rows of a tile, and their point metrics."""
        own, rows = (self._rows_by_cell.rows_of(cells) for cells in (tile.own, tile.cells))
        levels = self._start.subset(rows)
        index = replace(self._index, cells=self._index.cells[rows])
        positions = np.searchsorted(rows, own)
        return own, train_tile(levels, positions, self._settings, self._n_epochs, rng, index=index)

    def _set(self, rows: Indices, result: TileResult) -> None:
        self._log_weights[rows] = result.point_log_weights
        if self._matrices is not None:
            self._matrices[rows] = result.point_matrices

    def _levels(self, *, copy: bool = False) -> Levels:
        """Return the levels now; without a copy, they change with the tiles that follow."""
        weights, matrices = self._log_weights, self._matrices
        if copy:
            weights, matrices = weights.copy(), None if matrices is None else matrices.copy()
        return self._start.replace(point_log_weights=weights, point_matrices=matrices)

    def _progress(self, losses: list[float], seconds_left: float) -> Epoch:
        return Epoch(
            "point weights" if self._matrices is None else "point matrices",
            len(losses),
            len(self._tiles),
            losses[-1],
            None,
            lambda: self._levels(copy=True),
            unit="tile",
            seconds_left=seconds_left,
        )
