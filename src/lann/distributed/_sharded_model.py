"""The fitted model on a cluster: shards of training rows, and the search for neighbors among all of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from lann._support.types import Floats, Indices
from lann.distributed._queries import (
    Neighbors,
    candidates,
    merge,
    number_of,
    queries_for,
    route,
    search_shard,
)
from lann.distributed._rows import Reader
from lann.distributed._shard import SearchPlan, Shard, join_shards, take_numbers, unmeasured_values
from lann.distributed._tasks import Key, TaskGraph, compute, constant
from lann.metric import Levels


@dataclass(frozen=True)
class ShardedModel:
    """Training rows in shards, on the workers of a cluster, and what all of them share.

    Attributes
    ----------
    shared : Levels
        The shared levels, without rows.
    plan : SearchPlan
        Cells and shards, and how they are searched.
    shards : tuple of Delayed
        Tasks whose results are the shards.
    """

    shared: Levels
    plan: SearchPlan
    shards: tuple[Delayed, ...]

    def search(
        self,
        blocks: Sequence[Delayed],
        reader: Reader,
        k: int,
        *,
        exclude: Sequence[Indices] | None = None,
    ) -> list[Delayed]:
        """Return tasks that search the neighbors of blocks of queries: their results are `Neighbors`.

        Parameters
        ----------
        blocks : sequence of Delayed
            Arrays or tables of queries.
        reader : Reader
        k : int
            Number of neighbors.
        exclude : sequence of (n_queries,) or None
            For each query of each block, the number of a training row that is not its neighbor; -1 for none.
        """
        graph = TaskGraph()
        common = constant(reader), constant(self.shared), constant(self.plan)
        keys = []
        for number, block in enumerate(blocks):
            own = None if exclude is None else exclude[number]
            found = self._search_block(graph, block, common, k, own)
            keys.append(graph.add(merge, *found, common[2], k=k))
        return graph.results(keys)

    def _search_block(
        self,
        graph: TaskGraph,
        block: Delayed,
        common: tuple[Delayed, ...],
        k: int,
        exclude: Indices | None,
    ) -> tuple[Key, list[Any]]:
        """Add the tasks that search a block of queries; return keys of its length and what is found."""
        reader, shared, plan = common
        routed = graph.add(route, block, reader, shared, plan, k=k, exclude=exclude)
        found: list[Any] = []
        for number, shard in enumerate(self.shards):
            queries = graph.add(queries_for, routed, shard=number)
            found.append(graph.add(search_shard, shard, queries, plan, k=k))
        return graph.add(number_of, routed), found

    def neighbors_of(self, queries: Any, reader: Reader, k: int, exclude: Indices | None = None) -> Neighbors:
        """Return the neighbors of a few queries in the memory of this process."""
        own = None if exclude is None else [exclude]
        (found,) = compute(self.search([constant(queries)], reader, k, exclude=own))
        return found

    def candidates_of(self, queries: Any, reader: Reader, k: int, exclude: Indices | None = None) -> Indices:
        """Return the k nearest training rows of a few queries under the class metrics: numbers, -1 for none.

        Parameters
        ----------
        queries : array or table
        reader : Reader
        k : int
        exclude : (n_queries,) or None
            Number of a row that is not a candidate of each query.
        """
        graph = TaskGraph()
        common = constant(reader), constant(self.shared), constant(self.plan)
        found = self._search_block(graph, constant(queries), common, k, exclude)
        (listed,) = compute(graph.results([graph.add(candidates, *found, common[2], k=k)]))
        numbers: Indices = listed.numbers[:, :k]
        return numbers

    def take(self, numbers: Indices) -> Shard:
        """Return some training rows, given by their numbers, ascending, in the memory of this process."""
        graph = TaskGraph()
        wanted = constant(numbers)
        keys = [graph.add(take_numbers, shard, wanted) for shard in self.shards]
        return join_shards(compute(graph.results(keys)))

    def take_all(self) -> Shard:
        """Return all training rows, in the memory of this process."""
        return join_shards(compute(self.shards))

    @property
    def n_rows(self) -> int:
        """Number of training rows."""
        return self.plan.n_rows

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        """Return where queries have gaps that no training row has: (n_queries, n_features)."""
        return unmeasured_values(self.shared, queries)

    def shard_sizes(self) -> Indices:
        """Return the number of rows of each shard: (n_shards,)."""
        plan = self.plan
        used = plan.shard_of_cell >= 0
        sizes = np.bincount(plan.shard_of_cell[used], plan.counts[used], plan.n_shards)
        return sizes.astype(np.int64)
