"""Shards: the training rows of neighboring cells, the training of their metrics, and their search."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lann._support.rows import positions_in
from lann._support.types import Floats, Indices, Labels
from lann.distributed._rows import Rows, join_rows
from lann.metric import DiagonalMetric, Levels, MatrixMetric, find_copies
from lann.search import CellIndex, CellSearch, ExactSearch, Partition, exhaustive_search
from lann.training import Settings, Tile, train_tile


@dataclass(frozen=True)
class SearchPlan:
    """How neighbors are searched, the same for all shards.

    Attributes
    ----------
    partition : Partition
    counts : (n_cells,)
        Number of training rows of each cell, of all shards.
    shard_of_cell : (n_cells,)
        -1 for a cell without rows.
    n_probed : int
        Number of cells that are searched for a query.
    n_candidates : int or None
        Size of the shortlist; None searches all rows.
    """

    partition: Partition
    counts: Indices
    shard_of_cell: Indices
    n_probed: int
    n_candidates: int | None

    @property
    def n_rows(self) -> int:
        return int(self.counts.sum())

    @property
    def n_shards(self) -> int:
        return int(self.shard_of_cell.max()) + 1

    @property
    def index(self) -> CellIndex:
        """The rule by which cells are searched, without rows."""
        return self.index_of(np.empty(0, np.int32))

    def index_of(self, cells: NDArray[np.int32]) -> CellIndex:
        """Return the index of rows in given cells: (n_rows,)."""
        return CellIndex(self.partition, cells, self.n_probed, self.n_rows)

    def n_listed(self, k: int) -> int:
        """Return how many candidates are listed for a query with k neighbors."""
        return min(k if self.n_candidates is None else max(self.n_candidates, k), self.n_rows)


class Queries(NamedTuple):
    """Queries that are searched in a shard.

    Attributes
    ----------
    positions : (n_queries,)
        In their block.
    X : (n_queries, n_features)
    probed : (n_queries, n_probed)
        The nearest cells, which are searched.
    everywhere : (n_queries,)
        Whether all rows of the shard are searched instead.
    exclude : (n_queries,) or None
        Number of a training row that is not a neighbor of the query, -1 for none.
    """

    positions: Indices
    X: Floats
    probed: NDArray[np.int32]
    everywhere: NDArray[np.bool_]
    exclude: Indices | None


class Found(NamedTuple):
    """Candidates that a shard has found.

    Attributes
    ----------
    positions : (n_queries,)
        Of the queries in their block.
    numbers : (n_queries, n_listed)
        Numbers of training rows, -1 where there are fewer.
    coarse : (n_queries, n_listed)
        Squared distances under the class metrics, ascending.
    distances : (n_queries, n_listed)
        Squared distances as the rows measure.
    labels : (n_queries, n_listed)
        Class indices.
    """

    positions: Indices
    numbers: Indices
    coarse: Floats
    distances: Floats
    labels: Labels


def unmeasured_values(levels: Levels, queries: Floats) -> NDArray[np.bool_]:
    """Return where queries have gaps that no training row has: (n_queries, n_features)."""
    return np.isnan(queries) & ~levels.encoding.has_gaps


@dataclass(eq=False)
class Shard:
    """Training rows of some cells, with their metrics.

    Attributes
    ----------
    levels : Levels
        Rows, ascending by number, and their metrics.
    numbers : (n_rows,)
        Number of each row in the order of the blocks.
    cells : (n_rows,)
    """

    levels: Levels
    numbers: Indices
    cells: NDArray[np.int32]
    _kept: dict[str, Any] = field(default_factory=dict, init=False)

    def __getstate__(self) -> dict[str, Any]:
        return vars(self) | {"_kept": {}}

    def __sizeof__(self) -> int:
        """Return the size of the arrays, by which Dask decides where tasks run."""
        levels = self.levels
        arrays = (levels.X, levels.labels, levels.point_log_weights, levels.point_matrices)
        return sum(array.nbytes for array in (*arrays, self.numbers, self.cells) if array is not None)

    def take(self, numbers: Indices) -> Shard:
        """Return the shard of those of its rows that have one of some numbers, ascending ones."""
        rows = np.flatnonzero(np.isin(self.numbers, numbers))
        return Shard(self.levels.subset(rows), self.numbers[rows], self.cells[rows])

    def search(self, queries: Queries, plan: SearchPlan, k: int) -> Found:
        """Return the candidates of queries among the rows of the shard.

        Parameters
        ----------
        queries : Queries
        plan : SearchPlan
        k : int
            Number of neighbors.
        """
        n_listed = plan.n_listed(k)
        shape = (len(queries.positions), n_listed)
        rows, coarse, distances = np.full(shape, -1), np.full(shape, np.inf), np.full(shape, np.inf)
        exclude = None if queries.exclude is None else positions_in(self.numbers, queries.exclude)
        # Queries without values of the same features are searched together, and those of all rows apart.
        kinds = np.column_stack([unmeasured_values(self.levels, queries.X), queries.everywhere])
        kinds, kind = np.unique(kinds, axis=0, return_inverse=True)
        for number, (*missing, everywhere) in enumerate(kinds):
            part = np.flatnonzero(kind.ravel() == number)
            own = self
            if any(missing):
                measured = self.levels.without_features(tuple(np.flatnonzero(missing).tolist()))
                own = Shard(measured, self.numbers, self.cells)
            points = own.levels.transform(queries.X[part])
            excluded = None if exclude is None else exclude[part]
            probed = None if everywhere else queries.probed[part]
            listed = own._list(points, plan, n_listed, excluded, probed)
            width = listed[0].shape[1]
            rows[part, :width], coarse[part, :width], distances[part, :width] = listed
        numbers = np.where(rows < 0, -1, self.numbers[rows])
        labels = np.where(rows < 0, -1, self.levels.labels[rows])
        return Found(queries.positions, numbers, coarse, distances, labels)

    def _list(
        self,
        points: Floats,
        plan: SearchPlan,
        n_listed: int,
        exclude: Indices | None,
        probed: NDArray[np.int32] | None,
    ) -> tuple[Indices, Floats, Floats]:
        """Return the candidates of queries on the axes, and their distances under both metrics.

        They are searched in some cells, or among all rows if these are None.
        """
        k = min(n_listed, len(self.numbers))
        if plan.n_candidates is None:
            search = self._keep("exhaustive", lambda: exhaustive_search(self._metric))
            rows, distances = search.query(points, k, exclude=exclude, n_jobs=1)
            return rows, distances, distances
        if probed is None:
            exact = self._keep("exact", lambda: ExactSearch(self.levels.class_metric()))
            rows, coarse = exact.query(points, k, exclude=exclude, n_jobs=1)
        else:
            cells = self._keep(
                f"cells {plan.n_probed}",
                lambda: CellSearch(self.levels.class_metric(), plan.index_of(self.cells)),
            )
            rows, coarse = cells.query_probed(points, n_listed, exclude=exclude, probed=probed, n_jobs=1)
        distances = self._metric.distances(points, np.maximum(rows, 0))
        distances[rows < 0] = np.inf
        return rows, coarse, distances

    @property
    def _metric(self) -> DiagonalMetric | MatrixMetric:
        return self._keep("metric", self.levels.local_metric)

    def _keep(self, name: str, build: Callable[[], Any]) -> Any:
        """Return what is built on first use and kept; two threads may both build it."""
        if name not in self._kept:
            self._kept[name] = build()
        return self._kept[name]


def join_shards(shards: Sequence[Shard]) -> Shard:
    """Return the rows of several shards in one, ascending by number."""
    numbers = np.concatenate([shard.numbers for shard in shards])
    order = np.argsort(numbers, kind="stable")
    levels = [shard.levels for shard in shards]
    own = {
        name: np.concatenate([getattr(part, name) for part in levels])[order]
        for name in ("X", "labels", "point_log_weights", "point_matrices")
        if getattr(levels[0], name) is not None
    }
    cells = np.concatenate([shard.cells for shard in shards])[order]
    return Shard(levels[0].replace(**own), numbers[order], cells)


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


def _plain_levels(rows: Rows, shared: Levels) -> Levels:
    """Return rows with the shared levels, and point metrics with which nothing is learned."""
    start = Levels.plain(rows.X, rows.labels, len(shared.class_log_weights), encoding=shared.encoding)
    return start.with_shared(shared)


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
    own = np.flatnonzero(np.isin(rows.cells, tile.own))
    levels, cells, trained_rows = _plain_levels(rows, shared), rows.cells, own
    position: Any = slice(None)
    copies = find_copies(levels.replace(row_weights=None))
    if copies is not None:
        # Copies are of the same cell: a group is of the tile, or all of it is of the border.
        trained_rows, position = np.unique(copies.group[own], return_inverse=True)
        levels, cells = copies.merge(levels), rows.cells[copies.distinct]
    index = replace(index, cells=cells)
    trained, losses = train_tile(levels, trained_rows, settings, n_epochs, deepcopy(rng), index=index)
    matrices = trained.point_matrices
    return TileRows(
        rows.numbers[own],
        trained.point_log_weights[position].astype(np.float32),
        None if matrices is None else matrices[position],
        losses,
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
    levels = _plain_levels(rows, shared)
    if tiles:
        order = np.argsort(np.concatenate([tile.numbers for tile in tiles]), kind="stable")
        weights = np.concatenate([tile.point_log_weights for tile in tiles])[order]
        matrices = None
        if tiles[0].point_matrices is not None:
            found = [tile.point_matrices for tile in tiles if tile.point_matrices is not None]
            matrices = np.concatenate(found)[order]
        levels = levels.replace(point_log_weights=weights, point_matrices=matrices)
    return Shard(levels.stored_as(levels.X.dtype, weights_type), rows.numbers, rows.cells)
