"""The steps of a fit on a cluster: labels, a sample, shared levels, cells, tiles and shards."""

from __future__ import annotations

from itertools import pairwise
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray
from sklearn.utils.multiclass import check_classification_targets

from lann._support.types import Floats, Indices
from lann.distributed._rows import (
    Reader,
    Rows,
    assign_rows,
    count_cells,
    count_labels,
    join_rows,
    nearest_rows,
    rows_of_cells,
    split_rows,
    take_rows,
)
from lann.distributed._search import ShardedModel
from lann.distributed._shard import SearchPlan, make_shard, train_rows
from lann.distributed._tasks import Blocks, TaskGraph, check_same, compute, constant, map_tasks, persist
from lann.metric import Levels
from lann.model import NEIGHBORS_FOR_SCALE
from lann.search import N_NEIGHBORS, Partition, calibrate
from lann.training import Settings, Tile
from lann.vote import zero_distance_guard

# The position of the losses in `TileRows`.
LOSSES = 3


class TrainingBlocks(NamedTuple):
    """The training data on the workers, and what this process knows of them.

    Attributes
    ----------
    rows, labels : tuple of Delayed
        Blocks of rows, and of their labels.
    bounds : (n_blocks + 1,)
        Number of the first row of each block, and the number of all rows.
    classes : (n_classes,)
    codes : (n_rows,)
        Class index of each row, in as few bytes as possible.
    """

    rows: tuple[Delayed, ...]
    labels: tuple[Delayed, ...]
    bounds: Indices
    classes: NDArray[Any]
    codes: NDArray[Any]

    @property
    def n_rows(self) -> int:
        return int(self.bounds[-1])

    @property
    def class_counts(self) -> Indices:
        """Number of rows of each class: (n_classes,)."""
        return np.bincount(self.codes, minlength=len(self.classes))


def read_labels(rows: Blocks, labels: tuple[Delayed, ...]) -> TrainingBlocks:
    """Read the labels of all blocks.

    Raises
    ------
    ValueError
        If the labels are not those of classes, or blocks of rows and labels differ in length.
    """
    counts = compute(map_tasks(count_labels, labels))
    lengths = [len(codes) for _, codes in counts]
    if rows.lengths is not None:
        check_same(rows.lengths, lengths)
    in_blocks = [labels for labels, _ in counts if len(labels)]
    if not in_blocks:
        raise ValueError("X has no rows; a classifier needs rows of at least two classes.")
    classes = np.unique(np.concatenate(in_blocks))
    check_classification_targets(classes)
    dtype = np.min_scalar_type(len(classes) - 1)
    codes = [
        np.searchsorted(classes, own.astype(classes.dtype)).astype(dtype)[positions]
        for own, positions in counts
    ]
    return TrainingBlocks(rows.parts, labels, np.cumsum([0, *lengths]), classes, np.concatenate(codes))


def fetch_rows(blocks: TrainingBlocks, reader: Reader, *drawn: Indices) -> list[Floats]:
    """Return some training rows for each array of their numbers, (n,) ascending: (n, n_features)."""
    graph, read_by, keys = TaskGraph(), constant(reader), []
    numbers = np.unique(np.concatenate(drawn))
    firsts = np.searchsorted(numbers, blocks.bounds)
    for block, (first, last) in enumerate(pairwise(firsts)):
        if first < last:
            positions = constant(numbers[first:last] - blocks.bounds[block])
            n_labels = int(blocks.bounds[block + 1] - blocks.bounds[block])
            keys.append(graph.add(take_rows, blocks.rows[block], positions, read_by, n_labels=n_labels))
    rows = np.concatenate(compute(graph.results(keys)))
    return [rows[np.searchsorted(numbers, wanted)] for wanted in drawn]


def divide_tiles(tiles: list[Tile], counts: Indices, rows_per_shard: int) -> Indices:
    """Divide tiles, which are neighbors one after another, into shards of about the same number of rows.

    Parameters
    ----------
    tiles : list of Tile
    counts : (n_cells,)
        Number of rows of each cell.
    rows_per_shard : int
        At least one tile is in a shard, whatever the number of its rows.

    Returns
    -------
    shard_of_cell : (n_cells,)
        -1 for a cell without rows.
    """
    sizes = np.array([counts[tile.own].sum() for tile in tiles])
    n_shards = max(round(sizes.sum() / rows_per_shard), 1)
    middles = np.cumsum(sizes) - sizes / 2
    shard_of_tile = np.minimum((middles * n_shards / sizes.sum()).astype(np.int64), n_shards - 1)
    shard_of_tile = np.unique(shard_of_tile, return_inverse=True)[1]  # without shards that have no tile
    shard_of_cell = np.full(len(counts), -1)
    for tile, shard in zip(tiles, shard_of_tile, strict=True):
        shard_of_cell[tile.own] = shard
    return shard_of_cell


def assign_cells(
    blocks: TrainingBlocks, reader: Reader, shared: Levels, partition: Partition
) -> tuple[list[Delayed], Indices]:
    """Read all rows as numbers, and find their cells; they stay on the workers.

    Returns
    -------
    rows : list of Delayed
        `Rows` of each block.
    counts : (n_cells,)
        Number of rows of each cell.
    """
    graph = TaskGraph()
    common = (constant(reader), constant(blocks.classes), constant(shared), constant(partition))
    keys = [
        graph.add(assign_rows, X, y, *common, first=int(first))
        for X, y, first in zip(blocks.rows, blocks.labels, blocks.bounds[:-1], strict=True)
    ]
    assigned = persist(graph.results(keys))
    counts = compute(map_tasks(count_cells, assigned, n_cells=partition.n_cells))
    return assigned, np.sum(counts, axis=0)


def train_shards(
    rows: list[Delayed],
    plan: SearchPlan,
    tiles: list[Tile],
    shared: Levels,
    settings: Settings,
    n_epochs: int,
    weights_type: np.dtype[Any],
    rng: np.random.Generator,
) -> tuple[list[Delayed], list[list[float]]]:
    """Regroup the rows into shards and train their point metrics, tile by tile.

    Parameters
    ----------
    rows : list of Delayed
        `Rows` of each block.
    plan : SearchPlan
    tiles : list of Tile
        In the order of the shards.
    shared : Levels
        The shared levels.
    settings : Settings
    n_epochs : int
        Number of epochs of a tile; 0 trains none.
    weights_type : dtype
        In which point weights are kept.
    rng : Generator

    Returns
    -------
    shards : list of Delayed
        They stay on the workers.
    losses : list of list of float
        Mean training loss of every epoch of each tile.
    """
    graph = TaskGraph()
    common = constant(shared), constant(plan.index), constant(settings)
    cells = constant(plan.shard_of_cell)
    split = [graph.add(split_rows, block, cells, n_shards=plan.n_shards) for block in rows]
    regrouped = [
        graph.add(join_rows, [graph.add(getitem, block, shard) for block in split])
        for shard in range(plan.n_shards)
    ]
    trained: list[list[Any]] = [[] for _ in range(plan.n_shards)]
    for tile, own_rng in zip(tiles, rng.spawn(len(tiles)), strict=True) if n_epochs else ():
        sources = np.unique(plan.shard_of_cell[tile.cells])
        around: list[Any] = [graph.add(rows_of_cells, regrouped[s], cells=tile.cells) for s in sources]
        key = graph.add(train_rows, around, *common, tile=tile, n_epochs=n_epochs, rng=own_rng)
        trained[plan.shard_of_cell[tile.own[0]]].append(key)
    shards = [
        graph.add(make_shard, own, parts, common[0], weights_type=weights_type)
        for own, parts in zip(regrouped, trained, strict=True)
    ]
    losses = [graph.add(getitem, tile, LOSSES) for shard in trained for tile in shard]
    results = persist(graph.results([*shards, *losses]))
    return results[: len(shards)], compute(results[len(shards) :])


def calibrate_cells(rows: list[Delayed], numbers: Indices, shared: Levels, partition: Partition) -> int:
    """Return how many cells are searched for a query, so that nearly all of its neighbors are found.

    Copies of a row count once.

    Parameters
    ----------
    rows : list of Delayed
        `Rows` of each block.
    numbers : (n_queries,)
        Numbers of the rows whose neighbors are searched, ascending.
    shared : Levels
    partition : Partition
    """
    queries = join_rows(compute(map_tasks(Rows.take_numbers, rows, constant(numbers))))
    common = constant(queries), constant(shared)
    in_blocks = compute(map_tasks(nearest_rows, rows, *common, k=N_NEIGHBORS))
    near = [np.concatenate(values, axis=1) for values in zip(*in_blocks, strict=True)]
    cells = []
    for numbers, distances, own_cells, hashes in zip(*near, strict=True):
        order = np.lexsort((numbers, distances))
        order = order[numbers[order] >= 0]
        _, firsts = np.unique(hashes[order], return_index=True)  # the nearest of copies
        cells.append(own_cells[order[np.sort(firsts)]])
    k = min(N_NEIGHBORS, *map(len, cells))
    if k == 0:  # all rows are copies of one
        return 1
    points = shared.transform(queries.X.astype(np.float64, copy=False))
    found = np.array([own[:k] for own in cells])
    return calibrate(partition.nearest(points, partition.n_cells), found)


def estimate_epsilon(model: ShardedModel, queries: Floats, numbers: Indices, reader: Reader) -> float:
    """Return ε of the vote, from the distances of some training rows to their neighbors."""
    k = min(NEIGHBORS_FOR_SCALE, model.plan.n_rows - 1)
    if k < 1:
        return 1.0
    (neighbors,) = compute(model.search([constant(queries)], reader, k, exclude=numbers))
    return zero_distance_guard(neighbors.distances)
