"""Training by tiles: a task for the point metrics of each tile, and one for each shard of trained rows."""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.types import Indices
from lann.distributed._rows import Rows, join_rows
from lann.distributed._shard import Shard
from lann.metric import Levels, find_copies
from lann.search import CellIndex
from lann.training import Settings, Tile, train_tile, with_shared_levels


class TileRows(NamedTuple):
    """The point metrics of the rows of a tile.

    Attributes
    ----------
    numbers : (n_rows,)
        Ascending.
    point_log_weights : (n_rows, n_axes) float32
    point_matrices : (n_rows, n_axes, rank) or None
    losses : list of float
        Mean training loss of every epoch.
    """

    numbers: Indices
    point_log_weights: NDArray[np.float32]
    point_matrices: NDArray | None
    losses: list[float]


def levels_of(rows: Rows, shared: Levels) -> Levels:
    """Return rows with the shared levels, and point metrics with which nothing is learned."""
    start = Levels.plain(rows.X, rows.labels, len(shared.class_log_weights), encoding=shared.encoding)
    return with_shared_levels(start, shared)


def train_rows(
    parts: Sequence[Rows],
    shared: Levels,
    index: CellIndex,
    settings: Settings,
    *,
    tile: Tile,
    n_epochs: int,
    rng: np.random.Generator,
) -> TileRows:
    """Train the point metrics of the rows of a tile.

    Parameters
    ----------
    parts : sequence of Rows
        The rows of its cells, and of the cells around it, from one or more shards.
    shared : Levels
        The shared levels.
    index : CellIndex
        How cells are searched, without rows.
    settings : Settings
    tile : Tile
    n_epochs : int
    rng : Generator
        Of this tile only. It is not changed, so that the task can run again with the same result.
    """
    rows = join_rows(parts)
    levels, is_own = levels_of(rows, shared), np.isin(rows.cells, tile.own)
    own, numbers = np.flatnonzero(is_own), rows.numbers[is_own]
    copies = find_copies(levels.X, levels.labels, None)
    if copies is None:
        index = replace(index, cells=rows.cells)
        trained = train_tile(levels, own, settings, n_epochs, deepcopy(rng), index=index)
        weights = trained.point_log_weights.astype(np.float32)
        return TileRows(numbers, weights, trained.point_matrices, trained.losses)
    # Copies are of the same cell: a group is of the tile, or all of it is of the border.
    groups = np.unique(copies.group[own])
    index = replace(index, cells=rows.cells[copies.distinct])
    trained = train_tile(copies.merge(levels), groups, settings, n_epochs, deepcopy(rng), index=index)
    position = np.searchsorted(groups, copies.group[own])
    matrices = trained.point_matrices
    return TileRows(
        numbers,
        trained.point_log_weights[position].astype(np.float32),
        None if matrices is None else matrices[position],
        trained.losses,
    )


def make_shard(
    rows: Rows, tiles: Sequence[TileRows], shared: Levels, *, weights_type: np.dtype[Any]
) -> Shard:
    """Return the shard of rows whose point metrics were trained in tiles; without tiles, none were.

    Parameters
    ----------
    rows : Rows
    tiles : sequence of TileRows
    shared : Levels
    weights_type : dtype
        In which point weights are kept.
    """
    levels = levels_of(rows, shared)
    if tiles:
        order = np.argsort(np.concatenate([tile.numbers for tile in tiles]), kind="stable")
        weights = np.concatenate([tile.point_log_weights for tile in tiles])[order]
        matrices = None
        if tiles[0].point_matrices is not None:
            found = [tile.point_matrices for tile in tiles if tile.point_matrices is not None]
            matrices = np.concatenate(found)[order]
        levels = levels.replace(point_log_weights=weights, point_matrices=matrices)
    return Shard(levels.stored_as(levels.X.dtype, weights_type), rows.numbers, rows.cells)


def losses_of(tile: TileRows) -> list[float]:
    """Return the mean training loss of every epoch of a tile."""
    return tile.losses
