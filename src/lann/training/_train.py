"""Training of any number of rows: in stages, or on a sample and in tiles; copies are merged."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from contextlib import closing
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.rows import spread_rows
from lann._support.threads import iterate_in_order, map_blocks, single_threaded_blas
from lann._support.types import MANY_ROWS, Floats, Indices, Labels
from lann.metric import Levels, find_copies
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
from lann.training._candidates import NO_ROWS, draw_selection_rows, draw_validation_rows, stratified_sample
from lann.training._initial import (
    Standardization,
    check_matrix_memory,
    find_thresholds,
    matrix_dtype,
    n_axes_of,
    with_initial_map,
    with_initial_slopes,
)
from lann.training._loss import Settings
from lann.training._point_stage import PointStage
from lann.training._procedure import Callback, Epoch, Trainer, with_levels
from lann.training._shared_stage import SharedStage
from lann.training._votes import (
    FEWEST_ROWS,
    MOST_ROWS,
    choose_value_rule,
    choose_vote,
    find_held_out,
    mean_weight_of,
)
from lann.vote import ValueRule, VoteChoice

SHARED_EPOCHS, POINT_EPOCHS = 12, 2


@dataclass(frozen=True)
class TrainingResult:
    """The result of a training.

    Attributes
    ----------
    levels : Levels
    vote : VoteChoice
    losses : list of float
        Mean training loss of every epoch.
    validation_losses : list of float
        Mean loss of the validation rows after every epoch, with early stopping.
    dropped_levels : list of str
        Names of the levels that were dropped because they do not help.
    index : CellIndex or None
        The cells of the rows under the class metric of `levels`, if training has determined them.
    n_point_epochs : int
        Number of epochs after which the point metrics were best; 0 where none are learned.
    stopped : bool
        Whether the callback has stopped the training.
    value_rule : ValueRule or None
        How the values of neighbors become a prediction; None for classes.
    """

    levels: Levels
    vote: VoteChoice
    losses: list[float]
    validation_losses: list[float]
    dropped_levels: list[str]
    index: CellIndex | None
    n_point_epochs: int = 0
    stopped: bool = False
    value_rule: ValueRule | None = None


def plan_epochs(settings: Settings) -> tuple[int, int]:
    """Return the number of epochs for the shared levels, and for the point metrics."""
    shared = SHARED_EPOCHS if settings.shared_levels else 0
    points = POINT_EPOCHS if settings.point_metrics else 0
    n_epochs = settings.max_iter
    if n_epochs is None or shared + points == 0:
        return shared, points
    for_shared = math.ceil(n_epochs * shared / (shared + points))
    if points > 0 and shared > 0 and n_epochs > 1:
        for_shared = min(for_shared, n_epochs - 1)  # at least one for each
    return for_shared, n_epochs - for_shared


# Up to this many rows, the vote is chosen by two further trainings of a share of the epochs, in which each
# half of the rows is held out; from more rows, a share is held out from the training itself, and not more
# than a number.
MOST_CROSS_FITTED, EPOCHS_OF_HALVES = 4_000, 0.4
HELD_OUT_FRACTION, MOST_HELD_OUT = 0.1, 2_000


def train_distinct(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train rows of which none is a copy of another, in stages, and choose the vote: see `train`."""
    start = start.in_double()
    n_rows, epochs = len(start.X), plan_epochs(settings)
    if sum(epochs) == 0:
        rows = spread_rows(n_rows, MOST_ROWS)
        held_out = [find_held_out(start, rows, settings)] if n_rows >= FEWEST_ROWS else []
        vote = choose_vote(start, held_out, settings)
        rule = choose_value_rule(start, held_out, settings, vote)
        return TrainingResult(start, vote, [], [], [], None, value_rule=rule)
    fraction, is_cross_fitted = settings.validation_fraction, n_rows <= MOST_CROSS_FITTED
    if fraction is None and not is_cross_fitted:
        fraction = min(HELD_OUT_FRACTION, MOST_HELD_OUT / n_rows)
    validation_rows = draw_validation_rows(n_rows, fraction, rng)
    other_rows = np.setdiff1d(np.arange(n_rows), validation_rows)
    selection_rows = _draw_selection_rows(other_rows, settings, epochs, rng)
    other_rows = np.setdiff1d(other_rows, selection_rows)
    levels, restore = _standardize(start, settings, epochs[0], other_rows, rng)
    settings = settings.for_rows(n_rows)
    trainer, held_out = Trainer(sum(epochs), with_levels(callback, restore)), []
    # The same bits for any number of BLAS threads, and none of them competes with ours.
    with single_threaded_blas():
        # Where few axes replace many features, they start when the features are on their curves.
        at_once = settings.linear_map and not settings.curves
        n_coordinates = levels.encoding.n_coordinates
        n_axes = n_axes_of(settings.form, settings.n_components, n_coordinates, linear_map=at_once)
        levels = with_initial_map(levels, n_axes)
        if settings.form != "diagonal" and epochs[1] > 0:
            check_matrix_memory(n_rows, levels.class_log_weights.shape[1])
        halves_rng = rng.spawn(1)[0]
        trained, index = _run_stages(levels, settings, trainer, epochs, validation_rows, selection_rows, rng)
        if trainer.stopped or n_rows < FEWEST_ROWS:
            held_out = []
        elif is_cross_fitted:
            n_epochs = math.ceil(EPOCHS_OF_HALVES * sum(epochs))
            shorter = settings.replace(validation_fraction=None, max_iter=n_epochs)
            for half in _halves(levels.labels, halves_rng):
                others = np.setdiff1d(np.arange(n_rows), half)
                chosen = _draw_selection_rows(others, settings, epochs, halves_rng)
                of_half, _ = _run_stages(
                    levels, shorter, Trainer(n_epochs), plan_epochs(shorter), half, chosen, halves_rng
                )
                held_out.append(find_held_out(restore(of_half), half, settings))
    trained = restore(trained)
    if not is_cross_fitted and not trainer.stopped:
        rows = validation_rows[spread_rows(len(validation_rows), MOST_HELD_OUT)]
        held_out = [find_held_out(trained, rows, settings)]
    vote = choose_vote(start, held_out, settings)
    return TrainingResult(
        trained,
        vote,
        trainer.losses,
        trainer.validation_losses,
        trainer.dropped_levels,
        index,
        trainer.n_best if epochs[1] > 0 else 0,
        trainer.stopped,
        choose_value_rule(start, held_out, settings, vote),
    )


def _draw_selection_rows(
    rows: Indices, settings: Settings, epochs: tuple[int, int], rng: np.random.Generator
) -> Indices:
    """Return the rows, of those given, that decide on the level of the point metrics."""
    return draw_selection_rows(rows, rng) if settings.drop_levels and epochs[1] > 0 else NO_ROWS


def _halves(labels: Labels, rng: np.random.Generator) -> list[Indices]:
    """Return two halves of the rows, with half of the rows of each class, ascending."""
    shuffled = rng.permutation(len(labels))
    by_class = shuffled[np.argsort(labels[shuffled], kind="stable")]
    return [np.sort(by_class[first::2]) for first in (0, 1)]


def _run_stages(
    levels: Levels,
    settings: Settings,
    trainer: Trainer,
    epochs: tuple[int, int],
    validation_rows: Indices,
    selection_rows: Indices,
    rng: np.random.Generator,
) -> tuple[Levels, CellIndex | None]:
    """Train the shared levels, then the point metrics; return the cells of the rows, too."""
    index = None
    if epochs[0] > 0:
        levels = trainer.run(SharedStage(levels, settings, epochs[0], validation_rows, selection_rows, rng))
    if epochs[1] > 0 and not trainer.stopped:
        stage = PointStage(levels, settings, epochs[1], validation_rows, selection_rows, rng)
        levels, index = trainer.run(stage), stage.index
    return levels, index


def _standardize(
    start: Levels, settings: Settings, shared_epochs: int, rows: Indices, rng: np.random.Generator
) -> tuple[Levels, Callable[[Levels], Levels]]:
    """Return the levels of standardized rows, if curves are learned, and the way back to the user's units.

    New curves can jump at thresholds that are found in the given rows.
    """
    if not settings.curves or shared_epochs == 0:
        return start, lambda levels: levels
    standardization = Standardization(start.X, start.row_weights, encoding=start.encoding)
    levels = standardization.apply(start, settings.n_bins)
    if start.curves.is_identity:
        # A generator of its own: the rest of the training draws the same numbers with thresholds as without.
        thresholds = find_thresholds(levels, rows, settings, rng.spawn(1)[0])
        levels = levels.with_curves(levels.curves.with_thresholds(thresholds))
        levels = with_initial_slopes(levels, rows)
    return levels, standardization.undo


# Rows that a thread processes at a time.
ASSIGN_BLOCK, SEARCH_BLOCK = 8_192, 32_768


def build_index(levels: Levels, rng: np.random.Generator, *, n_jobs: int | None = None) -> CellIndex:
    """Return the cells of the rows of levels: those of `CellIndex.build`, but for the sample of rows."""
    n_rows = len(levels.X)
    rows = draw_partition_rows(n_rows, rng)
    counts = np.bincount(levels.labels, minlength=len(levels.class_log_weights))
    weights = mean_class_weights(levels.class_log_weights, counts)
    points = points_of(levels, rows)
    partition = Partition.fit(points, n_cells_of(n_rows), rng, weights=weights, n_jobs=n_jobs)
    cells = assign_cells(partition, levels, n_jobs=n_jobs)
    rows = draw_calibration_rows(n_rows, rng)
    neighbors = _nearest_rows(levels, rows, n_jobs)
    order = partition.nearest(points_of(levels, rows), partition.n_cells)
    return CellIndex(partition, cells, calibrate(order, cells[neighbors]), n_rows)


def draw_partition_rows(n_rows: int, rng: np.random.Generator) -> Indices:
    """Return the rows from which the centers of the cells are learned, ascending."""
    size = min(n_rows, POINTS_PER_CENTER * n_cells_of(n_rows))
    return np.sort(rng.choice(n_rows, size, replace=False))


def draw_calibration_rows(n_rows: int, rng: np.random.Generator) -> Indices:
    """Return the rows whose neighbors determine how many cells a search includes, ascending."""
    return np.sort(rng.choice(n_rows, min(N_CALIBRATED, n_rows), replace=False))


def mean_class_weights(class_log_weights: Floats, counts: Indices) -> Floats:
    """Return the mean over rows of the weights of their classes, given the rows of each class: (n_axes,)."""
    return counts @ np.exp(class_log_weights) / counts.sum()


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


# Number of own rows of a tile, about.
TILE_ROWS = 20_000
# Number of cells that the border of a tile reaches from each of its own, where matrices are learned: the rows
# of the border take as much memory as those of the tile.
N_REACHED_BY_MATRICES = 3


class Tile(NamedTuple):
    """A group of neighboring cells, and the cells around it.

    Attributes
    ----------
    own : (n_own,)
        Cells whose rows are trained, ascending.
    border : (n_border,)
        Other cells, whose rows take part in the training, ascending.
    """

    own: Indices
    border: Indices

    @property
    def cells(self) -> Indices:
        """All cells, ascending."""
        return np.union1d(self.own, self.border)


def n_reached_of(n_probed: int, settings: Settings) -> int:
    """Return the number of cells that the border of a tile reaches from each of its own.

    These are as many as a search for candidates includes, so that nearly all candidates are in the tile.
    """
    return n_probed if settings.form == "diagonal" else min(n_probed, N_REACHED_BY_MATRICES)


def plan_tiles(centers: Floats, counts: Indices, *, n_reached: int) -> list[Tile]:
    """Divide the cells of a partition into tiles of about the same number of rows.

    Parameters
    ----------
    centers : (n_cells, n_axes)
        In coordinates in which distances are Euclidean.
    counts : (n_cells,)
        Number of rows of each cell.
    n_reached : int
        The border of a tile has the cells that are among this many nearest ones of an own cell.

    Returns
    -------
    tiles : list of Tile
        Every cell with rows is a cell of one tile.
    """
    used = np.flatnonzero(counts > 0)
    n_tiles = min(math.ceil(counts.sum() / TILE_ROWS), len(used))
    centers, n_reached = centers[used], min(n_reached, len(used))
    norms = np.einsum("ca,ca->c", centers, centers)
    # The nearest cells of each cell, which are itself first, in blocks of bounded size.
    reached = np.empty((len(used), n_reached), np.int64)
    block = max(4_000_000 // len(used), 1)
    for start in range(0, len(used), block):
        distances = norms - 2.0 * centers[start : start + block] @ centers.T
        reached[start : start + block] = np.argsort(distances, axis=1, kind="stable")[:, :n_reached]
    tiles = []
    for group in _bisect(np.arange(len(used)), centers, counts[used], n_tiles):
        border = np.setdiff1d(reached[group], group)
        tiles.append(Tile(used[np.sort(group)], used[border]))
    return tiles


def _bisect(cells: Indices, centers: Floats, counts: Indices, n_groups: int) -> list[Indices]:
    """Divide cells into groups of about the same number of rows, across their axis of largest variance."""
    if n_groups == 1:
        return [cells]
    own, weights = centers[cells], counts[cells].astype(np.float64)
    centered = own - np.average(own, axis=0, weights=weights)
    _, axes = np.linalg.eigh((centered * weights[:, None]).T @ centered)
    order = np.argsort(centered @ axes[:, -1], kind="stable")
    n_first = n_groups // 2
    total = np.cumsum(weights[order])
    cut = int(np.searchsorted(total, total[-1] * n_first / n_groups)) + 1
    cut = min(max(cut, n_first), len(cells) - (n_groups - n_first))  # at least a cell for each group
    return [
        *_bisect(cells[order[:cut]], centers, counts, n_first),
        *_bisect(cells[order[cut:]], centers, counts, n_groups - n_first),
    ]


def train_tile(
    levels: Levels,
    own: Indices,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    *,
    index: CellIndex | None = None,
) -> tuple[Levels, list[float]]:
    """Train the point metrics of the rows of a tile.

    The rows of the border are candidates of the others. They measure with the weights of their classes; only
    if matrices are learned, they learn, too.

    Parameters
    ----------
    levels : Levels
        The rows of the tile and of its border, with the shared levels, which stay as they are, and the
        initial values of the point metrics.
    own : (n_own,)
        Which of the rows are those of the tile, ascending.
    settings : Settings
        One thread is used; `n_jobs` is ignored.
    n_epochs : int
    rng : Generator
        Of this tile only.
    index : CellIndex or None
        The cells of the rows, in which candidates are searched; None searches all rows.

    Returns
    -------
    levels : Levels
        Of the rows of the tile.
    losses : list of float
        Mean training loss of every epoch.
    """
    levels, settings = levels.in_double(), settings.replace(n_jobs=1).for_rows(len(levels.X))
    trainer = Trainer(n_epochs)
    with single_threaded_blas():
        stage = PointStage(levels, settings, n_epochs, NO_ROWS, NO_ROWS, rng, own=own, index=index)
        return trainer.run(stage).subset(own), trainer.losses


# Number of rows of the sample.
SAMPLE_ROWS = 40_000


def has_many_rows(n_rows: int, settings: Settings) -> bool:
    """Return whether `n_rows` rows are trained on a sample and in tiles."""
    return n_rows > MANY_ROWS and sum(plan_epochs(settings)) > 0


def n_epochs_of(settings: Settings, n_rows: int) -> int:
    """Return the number of epochs of a training, at most, and of tiles if there are many rows."""
    shared_epochs, point_epochs = plan_epochs(settings)
    in_tiles = has_many_rows(n_rows, settings) and point_epochs > 0
    return shared_epochs + point_epochs + (math.ceil(n_rows / TILE_ROWS) if in_tiles else 0)


def train_many(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train many rows, of which none is a copy of another: see `train`.

    A sample decides on the shared levels, on the levels that are dropped, and on the number of epochs of the
    point metrics. Tiles of rows then learn the point metrics, each with a generator of its own: the result
    does not depend on the number of threads, and the memory for it is that of the tiles in progress.
    """
    if settings.form != "diagonal" and plan_epochs(settings)[1] > 0:  # before anything is learned
        n_axes = n_axes_of(settings.form, settings.n_components, start.encoding.n_coordinates)
        check_matrix_memory(len(start.X), n_axes)
    sample_rng, index_rng, tile_rng = rng.spawn(3)
    sample = stratified_sample(start.labels, SAMPLE_ROWS, sample_rng)
    result = train_distinct(
        start.subset(sample),
        settings.replace(n_shared_rows=len(sample)),
        sample_rng,
        callback=with_levels(callback, start.with_shared),
    )
    levels = start.with_shared(result.levels)
    if "point" in result.dropped_levels:
        without = np.zeros_like(levels.point_log_weights)
        levels = levels.replace(point_log_weights=without, point_matrices=None)
    if result.n_point_epochs == 0 or result.stopped:
        return replace(result, levels=levels, index=None)
    with single_threaded_blas():
        index = build_index(levels, index_rng, n_jobs=settings.n_jobs)
        trained, losses, stopped = _train_tiles(
            levels, index, settings, result.n_point_epochs, tile_rng, callback
        )
    return replace(result, levels=trained, losses=[*result.losses, *losses], index=index, stopped=stopped)


def _train_tiles(
    start: Levels,
    index: CellIndex,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    callback: Callback | None,
) -> tuple[Levels, list[float], bool]:
    """Train the point metrics of all rows, tile by tile.

    Parameters
    ----------
    start : Levels
        All rows, with the shared levels. Every tile starts from these.
    index : CellIndex
        Their cells.
    settings : Settings
    n_epochs : int
        Of every tile.
    rng : Generator
    callback : callable or None

    Returns
    -------
    levels : Levels
    losses : list of float
        Of each tile.
    stopped : bool
        Whether the callback has stopped the training.
    """
    n_cells, n_reached = index.partition.n_cells, n_reached_of(index.n_probed, settings)
    counts = np.bincount(index.cells, minlength=n_cells)
    tiles = plan_tiles(index.partition.centers, counts, n_reached=n_reached)
    generators = rng.spawn(len(tiles))
    # What tiles learn is not as precise as float32, which takes half the memory.
    log_weights = start.point_log_weights.astype(np.float32)
    n_rows, n_axes = log_weights.shape
    matrices: NDArray | None = None
    if settings.form != "diagonal":
        matrices = np.empty((n_rows, n_axes, n_axes), matrix_dtype(n_rows, n_axes))
        matrices[:] = np.eye(n_axes) if start.point_matrices is None else start.point_matrices
    losses: list[float] = []
    stopped, started = False, time.perf_counter()

    def train_one(number: int) -> tuple[Indices, Levels, float]:
        own, rows = (
            np.flatnonzero(np.isin(index.cells, c)) for c in (tiles[number].own, tiles[number].cells)
        )
        levels, position = start.subset(rows), np.searchsorted(rows, own)
        cells = replace(index, cells=index.cells[rows])
        trained, losses = train_tile(levels, position, settings, n_epochs, generators[number], index=cells)
        return own, trained, losses[-1]

    def levels_now() -> Levels:
        copies = None if matrices is None else matrices.copy()
        return start.replace(point_log_weights=log_weights.copy(), point_matrices=copies)

    stage = "point weights" if matrices is None else "point matrices"
    with closing(iterate_in_order(train_one, len(tiles), n_jobs=settings.n_jobs)) as results:
        for rows, trained, loss in results:
            log_weights[rows] = trained.point_log_weights
            if matrices is not None:
                matrices[rows] = trained.point_matrices
            losses.append(loss)
            if callback is not None:
                n = len(losses)
                left = (time.perf_counter() - started) * (len(tiles) - n) / n
                stopped = callback(Epoch(stage, n, len(tiles), loss, None, levels_now, "tile", left))
            if stopped:
                break
    return start.replace(point_log_weights=log_weights, point_matrices=matrices), losses, bool(stopped)


def train(
    start: Levels, settings: Settings, rng: np.random.Generator, *, callback: Callback | None = None
) -> TrainingResult:
    """Train the levels that are switched on, in stages; many rows in tiles.

    Rows that are copies of each other are trained as one row, with the sum of their weights: a row of weight
    2 is the same as two rows.

    Parameters
    ----------
    start : Levels
        Rows in the user's units, and initial values of their levels.
    settings : Settings
    rng : Generator
        Determines the order of the rows, and dropout.
    callback : callable or None
        Called with an `Epoch` after every epoch, and after every tile; training stops if it returns True.

    Raises
    ------
    ValueError
        If the matrices are too large for the memory.
    """
    copies = find_copies(start)
    merged = start if copies is None else copies.merge(start)
    settings = settings.replace(mean_weight=mean_weight_of(copies, start))
    train_rows = train_many if has_many_rows(len(merged.X), settings) else train_distinct
    if copies is None:
        return train_rows(start, settings, rng, callback=callback)

    def expand(levels: Levels) -> Levels:
        return copies.expand(levels, start)

    result = train_rows(merged, settings, rng, callback=with_levels(callback, expand))
    index = result.index
    if index is not None:
        index = replace(index, cells=index.cells[copies.group], n_seen=len(start.X))
    return replace(result, levels=expand(result.levels), index=index)
