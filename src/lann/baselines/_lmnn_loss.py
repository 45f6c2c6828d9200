"""The loss of LMNN, and the impostors that it needs."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from lann import _native
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels

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
        self._X, self._labels, self._group_indices = X[order], labels[order], groups[order]
        self._targets = np.where(targets < 0, -1, np.argsort(order)[targets])[order]
        self._n_pairs = max(int(np.count_nonzero(targets >= 0)), 1)
        self._push_weight, self._n_jobs = push_weight, n_jobs
        self._groups = []
        for group in range(groups.max() + 1):
            members = np.flatnonzero(self._group_indices == group)
            class_bounds = np.searchsorted(self._labels[members], np.arange(labels.max() + 2))
            self._groups.append(_Group(members, self._X[members], class_bounds))

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
        lifted = []  # the product with [Ωx, 1] is the squared distance to x minus ‖Ωx‖²
        for group, omega in zip(self._groups, maps, strict=True):
            own = mapped[group.members] = group.X @ omega.T
            lifted.append(np.column_stack([-2.0 * own, np.square(own).sum(axis=1)]))

        def block(part: slice) -> tuple[float, Floats, Floats]:
            return self._sum_block(part, maps, mapped, lifted)

        parts = map_blocks(block, len(self._X), QUERY_BLOCK, n_jobs=self._n_jobs)
        loss, gradient, row_weights = (sum(terms) for terms in zip(*parts, strict=True))
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
        lifted : list of (n_members, rank + 1)
            The mapped rows of each group, and their squared lengths.

        Returns
        -------
        loss : float
        gradient : (n_groups, rank, n_features)
        row_weights : (n_rows,)
            Σ_i w_ij.
        """
        queries, labels, targets = self._X[part], self._labels[part], self._targets[part]
        is_present = targets >= 0
        mapped_queries = [queries @ omega.T for omega in maps]  # (n_queries, rank) each
        # Positions in `targets` of the rows of each group.
        positions = [
            np.nonzero(is_present & (self._group_indices[targets] == group)) for group in range(len(maps))
        ]
        distances = np.full(targets.shape, -np.inf)  # to the targets; −inf where one is missing
        for own_queries, (rows, columns) in zip(mapped_queries, positions, strict=True):
            steps = own_queries[rows] - mapped[targets[rows, columns]]
            distances[rows, columns] = np.square(steps).sum(axis=1)
        push, pull = self._push_weight / self._n_pairs, (1.0 - self._push_weight) / self._n_pairs
        loss = pull * float(distances[is_present].sum())

        # w_ij of targets; Σ_i w_ij; and, over the rows of each group, Σ_j w_ij x_j and Σ_j w_ij.
        target_weights, row_weights = np.zeros(targets.shape), np.zeros(len(self._X))
        weighted_rows = np.zeros((len(maps), *queries.shape))
        query_weights = np.zeros((len(maps), len(queries)))
        for number, group in enumerate(self._groups):
            by_row = np.zeros(len(group.X))
            sums = (target_weights, weighted_rows[number], query_weights[number], by_row)
            loss += push * _sum_impostors(
                mapped_queries[number], lifted[number], labels, 1.0 + distances, group, sums
            )
            row_weights[group.members] = by_row
        for impostor_weights in (weighted_rows, query_weights, row_weights):
            impostor_weights *= -push
        target_weights = push * target_weights + pull

        gradient = np.empty(maps.shape)
        for number, (rows, columns) in enumerate(positions):
            members, weights = targets[rows, columns], target_weights[rows, columns]
            row_sums, query_sums = weighted_rows[number], query_weights[number]
            np.add.at(row_sums, rows, weights[:, None] * self._X[members])
            np.add.at(query_sums, rows, weights)
            np.add.at(row_weights, members, weights)
            differences = queries * query_sums[:, None] - row_sums  # Σ_j w_ij (x_i − x_j)
            mapped_row_sums = row_sums @ maps[number].T
            gradient[number] = 2.0 * (mapped_queries[number].T @ differences - mapped_row_sums.T @ queries)
        return loss, gradient, row_weights


def _sum_impostors(
    mapped_queries: Floats,
    lifted: Floats,
    labels: Labels,
    margins: Floats,
    group: _Group,
    sums: tuple[Floats, Floats, Floats, Floats],
) -> float:
    """Return the sum of the squared hinges of queries with rows of a group, and add the slopes to `sums`.

    A triplet of query i, target t and impostor l, a row of another class, costs [1 + d_it − d_il]₊². The
    slopes are added by target, of rows, by query and by row.
    """
    norms = np.square(mapped_queries).sum(axis=1)
    first_same, stop_same = group.class_bounds[labels], group.class_bounds[labels + 1]
    same_class = np.stack([first_same, stop_same], axis=1)
    lifted_queries = np.column_stack([mapped_queries, np.ones(len(mapped_queries))])
    total = 0.0
    for start in range(0, len(lifted), ROW_TILE):
        stop = min(start + ROW_TILE, len(lifted))
        if np.all((first_same <= start) & (stop <= stop_same)):
            continue  # no row of another class
        tile = lifted_queries @ lifted[start:stop].T
        total += _native.add_impostors(tile, start, group.X, same_class, norms, margins, *sums)
    return total
