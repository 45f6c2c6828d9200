"""Tiles: groups of neighboring cells whose point metrics are trained on their own, with a border of rows."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices
from lann.metrics import Levels
from lann.search import CellIndex
from lann.training._point_stage import PointStage
from lann.training._settings import Settings
from lann.training._trainer import Trainer

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


class TileResult(NamedTuple):
    """The point metrics of the own rows of a tile.

    Attributes
    ----------
    point_log_weights : (n_own, n_axes)
    point_matrices : (n_own, n_axes, rank) or None
    losses : list of float
        Mean training loss of every epoch.
    """

    point_log_weights: Floats
    point_matrices: NDArray | None
    losses: list[float]


def n_reached_of(n_probed: int, settings: Settings) -> int:
    """Return the number of cells that the border of a tile reaches from each of its own.

    These are as many as a search for candidates includes, so that nearly all candidates are in the tile.
    """
    return n_probed if settings.form == "diagonal" else min(n_probed, N_REACHED_BY_MATRICES)


def plan_tiles(
    centers: Floats, counts: Indices, *, n_reached: int, tile_rows: int | None = None
) -> list[Tile]:
    """Divide the cells of a partition into tiles of about the same number of rows.

    Parameters
    ----------
    centers : (n_cells, n_axes)
        In coordinates in which distances are Euclidean.
    counts : (n_cells,)
        Number of rows of each cell.
    n_reached : int
        The border of a tile has the cells that are among this many nearest ones of an own cell.
    tile_rows : int or None
        Number of rows of a tile, about; None is `TILE_ROWS`.

    Returns
    -------
    tiles : list of Tile
        Every cell with rows is a cell of one tile.
    """
    used = np.flatnonzero(counts > 0)
    n_tiles = min(n_tiles_of(int(counts.sum()), tile_rows), len(used))
    reached = _nearest_cells(centers[used], n_reached)
    tiles = []
    for group in _bisect(np.arange(len(used)), centers[used], counts[used], n_tiles):
        border = np.setdiff1d(reached[group], group)
        tiles.append(Tile(used[np.sort(group)], used[border]))
    return tiles


def n_tiles_of(n_rows: int, tile_rows: int | None = None) -> int:
    """Return the number of tiles of so many rows, at most."""
    return max(math.ceil(n_rows / (tile_rows or TILE_ROWS)), 1)


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


def _nearest_cells(centers: Floats, n_nearest: int) -> Indices:
    """Return the nearest cells of each cell, which are itself first: (n_cells, n_nearest)."""
    norms = np.einsum("ca,ca->c", centers, centers)
    n_nearest = min(n_nearest, len(centers))
    nearest = np.empty((len(centers), n_nearest), np.int64)
    block = max(4_000_000 // len(centers), 1)
    for start in range(0, len(centers), block):
        part = slice(start, start + block)
        distances = norms - 2.0 * centers[part] @ centers.T
        nearest[part] = np.argsort(distances, axis=1, kind="stable")[:, :n_nearest]
    return nearest


def train_tile(
    levels: Levels,
    own: Indices,
    settings: Settings,
    n_epochs: int,
    rng: np.random.Generator,
    *,
    index: CellIndex | None = None,
) -> TileResult:
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
        One thread is used, whatever `n_jobs` is.
    n_epochs : int
    rng : Generator
        Of this tile only.
    index : CellIndex or None
        The cells of the rows, in which candidates are searched; None searches all rows.
    """
    levels, settings = levels.in_double(), settings.replace(n_jobs=1).for_rows(len(levels.X))
    none = np.empty(0, np.int64)
    with single_threaded_blas():
        trainer = Trainer(n_epochs)
        stage = PointStage(levels, settings, n_epochs, none, none, rng, own=own, index=index)
        trained = trainer.run(stage).subset(own)
    return TileResult(trained.point_log_weights, trained.point_matrices, trainer.losses)
