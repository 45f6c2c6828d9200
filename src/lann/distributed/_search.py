"""The fitted model on a cluster: queries go to the shards of their nearest cells, candidates come back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import getitem
from typing import Any, NamedTuple

import numpy as np
from dask.delayed import Delayed
from numpy.typing import NDArray

from lann._support.sizes import check_values
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import check_some_value
from lann.distributed._rows import Reader
from lann.distributed._shard import Found, Queries, SearchPlan, Shard, join_shards, unmeasured_values
from lann.distributed._tasks import Key, TaskGraph, compute, constant, map_tasks
from lann.metric import Levels
from lann.vote import VoteRule


class Neighbors(NamedTuple):
    """The neighbors of a block of queries, from all shards.

    Attributes
    ----------
    numbers : (n_queries, k)
        Numbers of the training rows, nearest first.
    distances : (n_queries, k)
        Squared.
    labels : (n_queries, k)
        Class indices.
    """

    numbers: Indices
    distances: Floats
    labels: Labels


def route(
    X: Any, reader: Reader, shared: Levels, plan: SearchPlan, k: int, *, exclude: Indices | None = None
) -> tuple[Any, ...]:
    """Divide a block of queries among the shards that hold the cells that are searched for each of them.

    A query is searched in all rows of all shards if its nearest cells have fewer rows than candidates are
    listed, if it is far from all cells, or if it has a gap that no training row has.

    Parameters
    ----------
    X : array or table
        The queries.
    reader : Reader
    shared : Levels
        The shared levels, which lead to the axes.
    plan : SearchPlan
    k : int
        Number of neighbors.
    exclude : (n_queries,) or None
        Number of a training row that is not a neighbor of each query, -1 for none.

    Returns
    -------
    parts : tuple
        For each shard the `Queries` that it can answer; last, the number of queries.
    """
    queries = reader.read(X)
    check_values(queries, reader.schema.names)
    unmeasured = unmeasured_values(shared, queries)
    check_some_value(unmeasured)
    n_queries, points = len(queries), shared.transform(queries)
    with single_threaded_blas():
        cells = plan.partition.nearest(points, plan.index.n_probed_for(plan.n_listed(k)))
    needed = plan.n_listed(k) + (0 if exclude is None else exclude >= 0)
    needs_all = plan.counts[cells].sum(axis=1) < needed
    needs_all |= plan.partition.is_far(points) | ~np.isfinite(points).all(axis=1)
    needs_all |= unmeasured.any(axis=1) | (plan.n_candidates is None)
    # A column for each shard, and one for cells without rows.
    reached = np.repeat(needs_all[:, None], plan.n_shards + 1, axis=1)
    reached[np.arange(n_queries)[:, None], plan.shard_of_cell[cells]] = True
    parts = []
    for shard in range(plan.n_shards):
        rows = np.flatnonzero(reached[:, shard])
        own = None if exclude is None else exclude[rows]
        parts.append(Queries(rows, queries[rows], cells[rows], needs_all[rows], own))
    return (*parts, n_queries)


def search_shard(shard: Shard, queries: Queries, plan: SearchPlan, k: int) -> Found | None:
    """Return the candidates of queries in a shard; None without queries."""
    return shard.search(queries, plan, k) if len(queries.positions) else None


def merge(n_queries: int, found: Sequence[Found | None], plan: SearchPlan, k: int) -> Neighbors:
    """Return the neighbors among the candidates that all shards have found.

    The candidates of a query are the nearest under the class metrics, equal distances by number, as many as
    are listed; its neighbors are the k of them that are nearest as they measure.

    Parameters
    ----------
    n_queries : int
        In the block.
    found : sequence of Found or None
    plan : SearchPlan
    k : int
    """
    listed = candidates(n_queries, found, plan, k)
    return Neighbors(*_nearest(listed.distances, listed.numbers, k, listed.distances, listed.labels))


def candidates(n_queries: int, found: Sequence[Found | None], plan: SearchPlan, k: int) -> Found:
    """Return the candidates of all queries of a block, nearest under the class metrics first."""
    n_listed = plan.n_listed(k)
    shape = (n_queries, n_listed)
    listed = Found(np.arange(n_queries), *(np.full(shape, value) for value in (-1, np.inf, np.inf, -1)))
    for part in found:
        if part is not None:
            numbers, *others = (
                np.concatenate([values[part.positions], own], axis=1)
                for values, own in zip(listed[1:], part[1:], strict=True)
            )
            nearest = _nearest(others[0], numbers, n_listed, *others)
            for values, own in zip(listed[1:], nearest, strict=True):
                values[part.positions] = own
    return listed


def _nearest(distances: Floats, numbers: Indices, k: int, *others: Any) -> tuple[Any, ...]:
    """Return the numbers with the k smallest distances, equal ones by number, and what belongs to them.

    Parameters
    ----------
    distances, numbers : (n_queries, n)
        Numbers are -1 where there is nothing.
    k : int
    *others : (n_queries, n)
        Sorted in the same way.
    """
    last = np.where(numbers < 0, np.iinfo(np.int64).max, numbers)  # behind rows that are infinitely far
    order = np.lexsort((last, distances), axis=1)[:, :k]
    return tuple(np.take_along_axis(values, order, axis=1) for values in (numbers, *others))


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
    vote_rule : VoteRule
        How neighbors vote.
    """

    shared: Levels
    plan: SearchPlan
    shards: tuple[Delayed, ...]
    vote_rule: VoteRule

    def search(
        self,
        blocks: Sequence[Delayed],
        reader: Reader,
        k: int,
        *,
        exclude: Indices | None = None,
        join: Callable[..., Any] = merge,
    ) -> list[Delayed]:
        """Return tasks that search blocks of queries in all shards, and join what is found.

        Parameters
        ----------
        blocks : sequence of Delayed
            Arrays or tables of queries.
        reader : Reader
        k : int
            Number of neighbors.
        exclude : (n_queries,) or None
            For each query of each block, the number of a training row that is not its neighbor; -1 for none.
        join : {merge, candidates}, default=merge
            Whether the results are the `Neighbors` of the queries, or all their candidates.
        """
        graph, plan = TaskGraph(), constant(self.plan)
        common = constant(reader), constant(self.shared), plan
        keys: list[Key] = []
        for block in blocks:
            routed = graph.add(route, block, *common, k=k, exclude=exclude)
            found: list[Any] = []
            for number, shard in enumerate(self.shards):
                queries = graph.add(getitem, routed, number)
                found.append(graph.add(search_shard, shard, queries, plan, k=k))
            n_queries = graph.add(getitem, routed, len(self.shards))
            keys.append(graph.add(join, n_queries, found, plan, k=k))
        return graph.results(keys)

    def take(self, numbers: Indices) -> Shard:
        """Return some training rows, given by their numbers, ascending, in the memory of this process."""
        return join_shards(compute(map_tasks(Shard.take, self.shards, constant(numbers))))

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        """Return where queries have gaps that no training row has: (n_queries, n_features)."""
        return unmeasured_values(self.shared, queries)
