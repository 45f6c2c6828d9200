"""The loss of LMNN, and the impostors that it needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels

# Number of distances of a query that are compared with its limit at a time.
GROUP = 32


class QueryBlock(NamedTuple):
    """Queries that are compared with the rows of a group, which are sorted by class.

    Attributes
    ----------
    same_class : (n_queries, 2)
        The rows of the class of each query: position of the first, and after the last.
    norms : (n_queries,)
        ‖Ωx‖² of each query, which is subtracted from the distances in a tile.
    limits : (n_queries,)
        The largest margin minus the norm: rows with larger entries in a tile are no impostors.
    margins : (n_queries, n_targets)
        1 + d_it; −inf where a target is missing.
    """

    same_class: Indices
    norms: Floats
    limits: Floats
    margins: Floats


class SlopeSums(NamedTuple):
    """Sums of the slopes of the squared hinges, s_itl = 2 [margin_it − d_il]₊, over impostors and targets.

    Attributes
    ----------
    targets : (n_queries, n_targets)
        Σ_l s_itl.
    weighted_rows : (n_queries, n_features)
        Σ_tl s_itl x_l.
    queries : (n_queries,)
        Σ_tl s_itl.
    impostors : (n_rows,)
        Σ_it s_itl.
    """

    targets: Floats
    weighted_rows: Floats
    queries: Floats
    impostors: Floats


@njit(nogil=True, cache=True)
def add_impostors(tile, first, block, X, sums):
    """Return the sum of the squared hinges of all triplets in a tile, and add their slopes to `sums`.

    A triplet of query i, target t and impostor l, a row of another class, costs [margin_it − d_il]₊².

    Parameters
    ----------
    tile : (n_queries, n_columns / GROUP, GROUP)
        Squared distances d_il minus the norms of the queries.
    first : int
        Position in X of the first column of the tile.
    block : QueryBlock
    X : (n_rows, n_features)
        Rows of the group.
    sums : SlopeSums
        Changed.
    """
    n_queries, n_parts, size = tile.shape  # LLVM vectorizes best if the size is known only at run time
    n_features = X.shape[1]
    total = 0.0
    for query in range(n_queries):
        limit, norm, weighted_rows = block.limits[query], block.norms[query], sums.weighted_rows[query]
        same_class_start, same_class_stop = block.same_class[query]
        for part in range(n_parts):
            distances = tile[query, part]
            n_near = np.int32(0)
            for column in range(size):
                n_near += np.int32(distances[column] < limit)
            if n_near == 0:
                continue
            start = first + part * size
            for column in range(size):
                impostor = start + column
                if not distances[column] < limit or same_class_start <= impostor < same_class_stop:
                    continue
                slope = 0.0
                for target in range(block.margins.shape[1]):
                    hinge = block.margins[query, target] - (distances[column] + norm)
                    if hinge > 0.0:
                        total += hinge * hinge
                        sums.targets[query, target] += 2.0 * hinge
                        slope += 2.0 * hinge
                sums.queries[query] += slope
                sums.impostors[impostor] += slope
                row = X[impostor]
                for feature in range(n_features):
                    weighted_rows[feature] += slope * row[feature]
    return total


# One tile of distances is 256 × 512 numbers, 1 MB.
QUERY_BLOCK = 256
ROW_TILE = 512


class _Group(NamedTuple):
    """Rows that measure with the same map, sorted by class.

    Attributes
    ----------
    members : (n_members,)
        Positions among all rows.
    X : (n_members, n_features)
    class_bounds : (n_classes + 1,)
        Position of the first member of each class.
    """

    members: Indices
    X: Floats
    class_bounds: Indices


class _PairWeights(NamedTuple):
    """Weights w_ij of pairs of a query and a row; the sums are over impostors until targets are added.

    Attributes
    ----------
    targets : (n_queries, n_targets)
        w_ij of targets j.
    weighted_rows : (n_groups, n_queries, n_features)
        Σ_j w_ij x_j over the rows of each group.
    queries : (n_groups, n_queries)
        Σ_j w_ij over the rows of each group.
    rows : (n_rows,)
        Σ_i w_ij.
    """

    targets: Floats
    weighted_rows: Floats
    queries: Floats
    rows: Floats


class LargeMarginLoss:
    """The loss as a function of the maps.

    All impostors are found for every value of the maps. Their distances are computed a tile at a time, and no
    triplet is stored: memory does not grow with the number of impostors.

    Parameters
    ----------
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    targets : (n_rows, n_targets)
        The target neighbors of each row; -1 where there are fewer.
    groups : (n_rows,)
        Position of the map of each row.
    push_weight : float
        μ.
    n_jobs : int or None, default=None
        Number of threads.
    """

    def __init__(
        self, X: Floats, labels: Labels, targets: Indices, groups: Indices, *, push_weight: float,
        n_jobs: int | None = None,
    ) -> None:  # fmt: skip
        # Distances are invariant under translation; products lose fewer digits near the origin.
        X = X - X.mean(axis=0)
        # Sorted by class, many tiles have only rows of the class of the queries of a block, and are skipped.
        order = np.argsort(labels, kind="stable")
        positions = np.empty_like(order)
        positions[order] = np.arange(len(order))
        self._X, self._labels, self._group_indices = X[order], labels[order], groups[order]
        self._targets = np.where(targets < 0, -1, positions[targets])[order]
        self._groups = [self._group(group) for group in range(groups.max() + 1)]
        self._n_pairs = max(int(np.count_nonzero(targets >= 0)), 1)
        self._push_weight, self._n_jobs = push_weight, n_jobs

    def _group(self, group: int) -> _Group:
        members = np.flatnonzero(self._group_indices == group)
        class_bounds = np.searchsorted(self._labels[members], np.arange(self._labels.max() + 2))
        return _Group(members, self._X[members], class_bounds)

    def __call__(self, maps: Floats) -> tuple[float, Floats]:
        """Return the loss and its gradient.

        Parameters
        ----------
        maps : (n_groups, rank, n_features)

        Returns
        -------
        loss : float
        gradient : (n_groups, rank, n_features)
        """
        mapped = np.empty((len(self._X), maps.shape[1]))  # each row by the map of its group
        for group, omega in zip(self._groups, maps, strict=True):
            mapped[group.members] = group.X @ omega.T
        lifted = [_lift(mapped[group.members]) for group in self._groups]

        def block(part: slice) -> tuple[float, Floats, Floats]:
            return self._sum_block(part, maps, mapped, lifted)

        parts = map_blocks(block, len(self._X), QUERY_BLOCK, n_jobs=self._n_jobs)
        loss, gradient, row_weights = 0.0, np.zeros(maps.shape), np.zeros(len(self._X))
        for part_loss, part_gradient, part_row_weights in parts:
            loss += part_loss
            gradient += part_gradient
            row_weights += part_row_weights
        mapped *= row_weights[:, None]
        for map_gradient, group in zip(gradient, self._groups, strict=True):
            map_gradient += 2.0 * mapped[group.members].T @ group.X
        return loss, gradient

    def _sum_block(
        self, part: slice, maps: Floats, mapped: Floats, lifted: list[Floats]
    ) -> tuple[float, Floats, Floats]:
        """Return what a block of queries adds to the loss and to the gradient.

        The gradient of a map is 2 Ω Σ_ij w_ij (x_i − x_j)(x_i − x_j)ᵀ over all pairs of a query i and a row j
        of the group. The weight w_ij is the slope of the loss with respect to their distance: positive for
        targets, negative for impostors. The terms x_j x_jᵀ are left out: they follow from Σ_i w_ij.

        Parameters
        ----------
        part : slice
            The rows that are queries.
        maps : (n_groups, rank, n_features)
        mapped : (n_rows, rank)
            Each row by the map of its group.
        lifted : list of (n_padded, rank + 1)
            See `_lift`, for each group.

        Returns
        -------
        loss : float
        gradient : (n_groups, rank, n_features)
        row_weights : (n_rows,)
            Σ_i w_ij.
        """
        queries, targets = self._X[part], self._targets[part]
        mapped_queries = [queries @ omega.T for omega in maps]  # (n_queries, rank) each
        pairs = [self._target_pairs(group, targets) for group in range(len(maps))]
        distances = np.full(targets.shape, -np.inf)
        for query_coordinates, (rows, columns, members) in zip(mapped_queries, pairs, strict=True):
            distances[rows, columns] = np.square(query_coordinates[rows] - mapped[members]).sum(axis=1)
        loss, weights = self._weight_pairs(part, mapped_queries, lifted, distances)
        gradient = np.empty(maps.shape)
        for number, (rows, columns, members) in enumerate(pairs):
            row_sums, query_sums = weights.weighted_rows[number], weights.queries[number]
            target_weights = weights.targets[rows, columns]
            np.add.at(row_sums, rows, target_weights[:, None] * self._X[members])
            np.add.at(query_sums, rows, target_weights)
            np.add.at(weights.rows, members, target_weights)
            differences = queries * query_sums[:, None] - row_sums  # Σ_j w_ij (x_i − x_j)
            mapped_row_sums = row_sums @ maps[number].T
            gradient[number] = 2.0 * (mapped_queries[number].T @ differences - mapped_row_sums.T @ queries)
        return loss, gradient, weights.rows

    def _weight_pairs(
        self, part: slice, mapped_queries: list[Floats], lifted: list[Floats], distances: Floats
    ) -> tuple[float, _PairWeights]:
        """Return what a block of queries adds to the loss, and the weights w_ij of targets and impostors.

        Parameters
        ----------
        part : slice
            The rows that are queries.
        mapped_queries : list of (n_queries, rank)
            The queries by the map of each group.
        lifted : list of (n_padded, rank + 1)
            See `_lift`, for each group.
        distances : (n_queries, n_targets)
            Squared distances to the targets; −inf where a target is missing.
        """
        n_queries, n_features = len(distances), self._X.shape[1]
        push, pull = self._push_weight / self._n_pairs, (1.0 - self._push_weight) / self._n_pairs
        loss = pull * float(distances[self._targets[part] >= 0].sum())
        weights = _PairWeights(
            np.zeros(distances.shape),
            np.zeros((len(lifted), n_queries, n_features)),
            np.zeros((len(lifted), n_queries)),
            np.zeros(len(self._X)),
        )
        for number, group in enumerate(self._groups):
            sums = SlopeSums(
                weights.targets,
                weights.weighted_rows[number],
                weights.queries[number],
                np.zeros(len(group.X)),
            )
            queries, labels = mapped_queries[number], self._labels[part]
            loss += push * _sum_impostors(queries, lifted[number], labels, 1.0 + distances, group, sums)
            weights.rows[group.members] = sums.impostors
        for impostor_weights in (weights.weighted_rows, weights.queries, weights.rows):
            impostor_weights *= -push
        weights.targets[:] = push * weights.targets + pull
        return loss, weights

    def _target_pairs(self, group: int, targets: Indices) -> tuple[Indices, Indices, Indices]:
        """Return the entries of `targets` that are rows of a group: rows, columns and values."""
        rows, columns = np.nonzero((targets >= 0) & (self._group_indices[targets] == group))
        return rows, columns, targets[rows, columns]


def _sum_impostors(
    mapped_queries: Floats, lifted: Floats, labels: Labels, margins: Floats, group: _Group, sums: SlopeSums
) -> float:
    """Return the sum of the squared hinges of queries with rows of a group, and add the slopes to `sums`."""
    norms = np.square(mapped_queries).sum(axis=1)
    first_same, stop_same = group.class_bounds[labels], group.class_bounds[labels + 1]
    same_class = np.stack([first_same, stop_same], axis=1)
    block = QueryBlock(same_class, norms, margins.max(axis=1) - norms, margins)
    lifted_queries = np.column_stack([mapped_queries, np.ones(len(mapped_queries))])
    total = 0.0
    for start in range(0, len(lifted), ROW_TILE):
        stop = min(start + ROW_TILE, len(lifted))
        if np.all((first_same <= start) & (min(stop, len(group.X)) <= stop_same)):
            continue  # no row of another class
        tile = lifted_queries @ lifted[start:stop].T
        total += add_impostors(tile.reshape(len(tile), -1, GROUP), start, block, group.X, sums)
    return total


def _lift(mapped: Floats) -> Floats:
    """Return [−2z, ‖z‖²] of every mapped row z: (n_padded, rank + 1), n_padded a multiple of GROUP.

    The product with [Ωx, 1] is ‖z‖² − 2⟨Ωx, z⟩, the squared distance minus ‖Ωx‖². Padding is never near.
    """
    n_rows, rank = mapped.shape
    lifted = np.zeros((-(-n_rows // GROUP) * GROUP, rank + 1))
    lifted[:n_rows, :-1] = -2.0 * mapped
    lifted[:n_rows, -1] = np.square(mapped).sum(axis=1)
    lifted[n_rows:, -1] = np.finfo(np.float64).max
    return lifted
