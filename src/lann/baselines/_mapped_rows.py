"""Training rows that are compared with queries by linear maps.

A metric is a linear map Ω of shape (rank, n_features): d(x, p) = ‖Ω (x − p)‖² = (x − p)ᵀ Λ (x − p), Λ = Ωᵀ Ω.
The methods differ in what the map depends on: it is the same for all pairs, or depends on the group of the
row, or on the query.
"""

from __future__ import annotations

import copy
from abc import abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from lann._support.rows import positions_in
from lann._support.threads import map_blocks
from lann._support.types import Floats, Indices, Labels
from lann.metric import DiagonalMetric
from lann.model import ROWS_FOR_SCALE, WIDE, NeighborModel, NeighborSearch
from lann.search import ExactSearch, concatenate_results, smallest
from lann.vote import VoteRule, zero_distance_guard

# Numbers in the mapped rows of one block of queries: 8 MB.
MAPPED = 2**20
# Rows that a block of queries is compared with at a time.
ROW_TILE = 4096


def diagonals(maps: Floats) -> Floats:
    """Return the diagonal of Λ = Ωᵀ Ω, the weight of each feature.

    Parameters
    ----------
    maps : (..., rank, n_features)

    Returns
    -------
    weights : (..., n_features)
    """
    return np.square(maps).sum(axis=-2)


def split_distance(steps: Floats, maps: Floats) -> Floats:
    """Return what each feature adds to ‖Ω δ‖²: δ ⊙ Λδ, which can be negative where Λ is not diagonal.

    Parameters
    ----------
    steps : (..., n_steps, n_features)
        The differences δ.
    maps : (..., rank, n_features)
        One map for all steps.
    """
    return steps * ((steps @ np.swapaxes(maps, -1, -2)) @ maps)


def split_by_group(steps: Floats, groups: Indices, maps: Floats) -> Floats:
    """Return what each feature adds to the distances of pairs, each measured by the map of its group.

    Parameters
    ----------
    steps : (n_queries, k, n_features)
    groups : (n_queries, k)
        Positions in `maps`.
    maps : (n_groups, rank, n_features)
    """
    contributions = np.empty(steps.shape)
    for group in np.unique(groups):
        mask = groups == group
        contributions[mask] = split_distance(steps[mask], maps[group])
    return contributions


class MappedRows(NeighborModel):
    """Training rows under linear maps; `set_vote` has to be called before they vote.

    Parameters
    ----------
    X : (n_rows, n_features)
    """

    has_training_rows = True
    wide_neighborhood = WIDE

    def __init__(self, X: Floats) -> None:
        self.X = X
        self.derived: dict[str, Any] = {}

    def set_vote(self, labels: Labels, *, n_classes: int, n_neighbors: int, power: float) -> None:
        """Set how the rows vote."""
        self.labels, self.n_classes = labels, n_classes
        self.n_neighbors = min(n_neighbors, len(labels))
        self.power = power

    @cached_property
    def vote_rule(self) -> VoteRule:  # type: ignore[override]
        if self.power == 0.0:
            return VoteRule(0.0)
        n_rows = len(self.X)
        rows = np.linspace(0, n_rows - 1, min(n_rows, ROWS_FOR_SCALE)).astype(np.int64)
        k = min(self.n_neighbors, n_rows - 1)
        _, distances = self.kneighbors(self.X[rows], k, exclude=rows)
        return VoteRule(self.power, zero_distance_guard(distances))

    def __getstate__(self) -> dict[str, Any]:
        # Without what is computed on first use.
        return {n: v for n, v in vars(self).items() if n != "vote_rule" and not n.startswith("_")}


class GroupMaps(MappedRows):
    """Training rows that measure by the map of their group.

    Parameters
    ----------
    X : (n_rows, n_features)
    groups : (n_rows,)
        Positions in `maps`.
    maps : (n_groups, rank, n_features)
    """

    def __init__(self, X: Floats, groups: Indices, maps: Floats) -> None:
        super().__init__(X)
        self.groups, self.maps = groups, maps

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        all_indices, all_distances = [], []
        for components, members, search in self._searches:
            excluded = None if exclude is None else positions_in(members, exclude)
            indices, distances = search.query(
                queries @ components.T, min(k, len(members)), exclude=excluded, n_jobs=n_jobs
            )
            all_indices.append(np.where(indices < 0, -1, members[indices]))
            all_distances.append(distances)
        return smallest(np.concatenate(all_distances, axis=1), np.concatenate(all_indices, axis=1), k)

    @cached_property
    def _searches(self) -> list[tuple[Floats, Indices, ExactSearch]]:
        searches = []
        for group in np.unique(self.groups):
            components, members = self.maps[group], np.flatnonzero(self.groups == group)
            metric = DiagonalMetric(self.X[members] @ components.T, np.ones(len(components)))
            searches.append((components, members, ExactSearch(metric)))
        return searches

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        steps, groups = queries[:, None, :] - self.X[indices], self.groups[indices]
        distances = np.empty(indices.shape)
        for group in np.unique(groups):
            mask = groups == group
            distances[mask] = np.square(steps[mask] @ self.maps[group].T).sum(axis=1)
        return distances

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        return split_by_group(queries[:, None, :] - self.X[indices], self.groups[indices], self.maps)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        return diagonals(self.maps)[self.groups]

    def local_matrices(self, rows: Indices) -> Floats:
        return (np.swapaxes(self.maps, 1, 2) @ self.maps)[self.groups[rows]]

    def search_among(self, rows: Indices) -> NeighborSearch:
        return GroupMaps(self.X[rows], self.groups[rows], self.maps).kneighbors


class QueryMaps(MappedRows):
    """Training rows that are compared with a query by the map of the query."""

    # The rows among which neighbors are searched; None is all of them.
    searched: Floats | None = None

    @property
    def work_per_query(self) -> float:
        n_features = self.X.shape[1]
        return 3e5 + 20.0 * n_features**3 + 1_000.0 * n_features**2

    @abstractmethod
    def maps_at(self, queries: Floats) -> Floats:
        """Return the map of each query, (n_queries, rank, n_features); called for blocks, on threads."""

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        def search(part: slice) -> tuple[Indices, Floats]:
            return self._search_block(queries[part], k, None if exclude is None else exclude[part])

        return concatenate_results(map_blocks(search, len(queries), self._block, n_jobs=n_jobs))

    @property
    def _block(self) -> int:
        """Number of queries that are compared with the rows together."""
        return max(MAPPED // (self.X.shape[1] * min(len(self.X), ROW_TILE)), 1)

    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        X = self.X if self.searched is None else self.searched
        maps = self.maps_at(queries)
        n_queries, rank, n_features = maps.shape
        mapped_queries = np.einsum("qrf,qf->qr", maps, queries)[:, :, None]
        indices, distances = np.full((n_queries, k), -1), np.full((n_queries, k), np.inf)
        for start in range(0, len(X), ROW_TILE):
            tile = X[start : start + ROW_TILE]
            mapped = (maps.reshape(-1, n_features) @ tile.T).reshape(n_queries, rank, -1)
            mapped -= mapped_queries
            tile_distances = np.einsum("qrp,qrp->qp", mapped, mapped)
            positions = np.tile(np.arange(start, start + len(tile)), (n_queries, 1))
            if exclude is not None:
                positions[positions == exclude[:, None]] = -1
            indices, distances = smallest(
                np.concatenate([distances, tile_distances], axis=1),
                np.concatenate([indices, positions], axis=1),
                k,
            )
        return indices, distances

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        def measure(part: slice) -> Floats:
            steps = queries[part, None, :] - self.X[indices[part]]  # (n_queries, k, n_features)
            mapped = steps @ np.swapaxes(self.maps_at(queries[part]), 1, 2)
            return np.square(mapped).sum(axis=2)

        return self._in_blocks(measure, len(queries), n_jobs)

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        def split(part: slice) -> Floats:
            steps = queries[part, None, :] - self.X[indices[part]]
            return split_distance(steps, self.maps_at(queries[part]))

        return self._in_blocks(split, len(queries), None)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        if "_feature_weights" not in vars(self):
            self._feature_weights = self._feature_weights_at(self.X, n_jobs)
        return self._feature_weights

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        return self._feature_weights_at(queries, n_jobs)

    def _feature_weights_at(self, queries: Floats, n_jobs: int | None) -> Floats:
        return self._in_blocks(lambda part: diagonals(self.maps_at(queries[part])), len(queries), n_jobs)

    def local_matrices(self, rows: Indices) -> Floats:
        maps = self.maps_at(self.X[rows])
        return np.swapaxes(maps, 1, 2) @ maps

    def search_among(self, rows: Indices) -> NeighborSearch:
        model = copy.copy(self)
        model.searched = self.X[rows]
        return model.kneighbors

    def _in_blocks(self, function: Callable[[slice], Floats], n_queries: int, n_jobs: int | None) -> Floats:
        # The maps of more queries at a time could take gigabytes.
        return np.concatenate(map_blocks(function, n_queries, self._block, n_jobs=n_jobs))
