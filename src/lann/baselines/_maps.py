"""Training points under linear maps: who is near, and what every feature adds to a distance.

A metric is a map Ω of shape (rank, n_features): d(x, p) = ‖Ω (x − p)‖² = (x − p)ᵀ Λ (x − p), Λ = Ωᵀ Ω.
Methods differ in whose map it is: that of all points, of the point's group, or of the query.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.metrics.diagonal import DiagonalMetric
from lann.search import ExactSearch
from lann.search.topk import smallest, together

# Numbers in the mapped points of one block of queries: 8 MB.
MAPPED = 2**20
# Points that a block of queries is held against at a time.
POINT_TILE = 4096
# What is found on first use and not saved.
LAZY = ("_searches", "_nearest_points", "_relevances")


def relevances_of(maps: Floats) -> Floats:
    """The diagonal of Λ, how much a difference in each feature counts: (..., n_features).

    maps : (..., rank, n_features)
    """
    return np.square(maps).sum(axis=-2)


def parts_of_distance(steps: Floats, maps: Floats) -> Floats:
    """What each feature adds to ‖Ω δ‖²: δ ⊙ Λδ, which can be negative where Λ is not diagonal.

    steps : (..., n_steps, n_features); maps : (..., rank, n_features), one for all steps
    """
    return steps * ((steps @ np.swapaxes(maps, -1, -2)) @ maps)


def parts_by_group(
    steps: Floats,
    groups: Indices,
    maps: Floats,
    parts: Callable[[Floats, Floats], Floats] = parts_of_distance,
) -> Floats:
    """What each feature adds to the distances of pairs, each measured by the map of its group.

    steps : (n_queries, k, n_features); groups : (n_queries, k) places in `maps`
    """
    found = np.empty(steps.shape)
    for group in np.unique(groups):
        there = groups == group
        found[there] = parts(steps[there], maps[group])
    return found


class MappedPoints(ABC):
    """Training points that a query can be held against.

    Parameters
    ----------
    points : (n_points, n_features)
    """

    labels: Labels  # (n_points,) places among the classes
    epsilon: float | None = None  # keeps votes of points at distance zero finite, once it is known

    def __init__(self, points: Floats) -> None:
        self.points = points

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name not in LAZY}

    def point_relevances(self, *, n_jobs: int | None = None) -> Floats:
        """As `relevances`, which is asked once."""
        if "_relevances" not in self.__dict__:
            self._relevances = self.relevances(n_jobs=n_jobs)
        return self._relevances

    @abstractmethod
    def nearest(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """The k nearest points of each query, equal distances by index, and their squared distances.

        exclude : (n_queries,) for each query a point that must not be its neighbor: itself
        """

    @abstractmethod
    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        """What each feature adds to the distances of some points: (n_queries, k, n_features)."""

    @abstractmethod
    def relevances(self, *, n_jobs: int | None = None) -> Floats:
        """How much a difference from each training point counts: (n_points, n_features)."""

    @abstractmethod
    def relevances_at(self, queries: Floats, indices: Indices, shares: Floats) -> Floats:
        """How much a difference counts for each query: (n_queries, n_features).

        indices, shares : (n_queries, k) the neighbors, and their parts of the vote
        """


class GroupMaps(MappedPoints):
    """Points that are measured by the map of their group.

    Parameters
    ----------
    points : (n_points, n_features)
    groups : (n_points,) places in `maps`
    maps : (n_groups, rank, n_features)
    """

    def __init__(self, points: Floats, groups: Indices, maps: Floats) -> None:
        super().__init__(points)
        self.groups, self.maps = groups, maps

    @classmethod
    def shared(cls, points: Floats, own: Floats) -> GroupMaps:
        """Points that all have the same map, (rank, n_features)."""
        return cls(points, np.zeros(len(points), np.int64), own[None])

    def nearest(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        found_indices, found_distances = [], []
        for own, members, search in self._searches:
            left_out = None
            if exclude is not None:
                place = np.searchsorted(members, exclude)
                there = members[np.minimum(place, len(members) - 1)] == exclude
                left_out = np.where(there, place, -1)
            indices, distances = search.query(
                queries @ own.T, min(k, len(members)), exclude=left_out, n_jobs=n_jobs
            )
            found_indices.append(np.where(indices < 0, -1, members[indices]))
            found_distances.append(distances)
        if len(found_indices) == 1 and exclude is None:
            return found_indices[0], found_distances[0]
        return smallest(np.concatenate(found_distances, axis=1), np.concatenate(found_indices, axis=1), k)

    @cached_property
    def _searches(self) -> list[tuple[Floats, Indices, ExactSearch]]:
        searches = []
        for group in np.unique(self.groups):
            own, members = self.maps[group], np.flatnonzero(self.groups == group)
            metric = DiagonalMetric(self.points[members] @ own.T, np.ones(len(own)))
            searches.append((own, members, ExactSearch(metric)))
        return searches

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        return parts_by_group(queries[:, None, :] - self.points[indices], self.groups[indices], self.maps)

    def relevances(self, *, n_jobs: int | None = None) -> Floats:
        return relevances_of(self.maps)[self.groups]

    def relevances_at(self, queries: Floats, indices: Indices, shares: Floats) -> Floats:
        return np.einsum("qk,qkf->qf", shares, relevances_of(self.maps)[self.groups[indices]])


class QueryMaps(MappedPoints):
    """Points that are measured by the map of whoever asks."""

    @abstractmethod
    def maps_at(self, queries: Floats) -> Floats:
        """The map of each query: (n_queries, rank, n_features). Called for a block of queries, on threads."""

    def nearest(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        def search(part: slice) -> tuple[Indices, Floats]:
            return self._search_block(queries[part], k, None if exclude is None else exclude[part])

        return together(map_blocks(search, len(queries), self._block, n_jobs=n_jobs))

    @property
    def _block(self) -> int:
        """How many queries are held against the points together."""
        return max(MAPPED // (self.points.shape[1] * min(len(self.points), POINT_TILE)), 1)

    def _search_block(self, queries: Floats, k: int, exclude: Indices | None) -> tuple[Indices, Floats]:
        maps = self.maps_at(queries)
        n_queries, rank, n_features = maps.shape
        mapped_queries = np.einsum("qrf,qf->qr", maps, queries)[:, :, None]
        indices, distances = np.full((n_queries, k), -1), np.full((n_queries, k), np.inf)
        for start in range(0, len(self.points), POINT_TILE):
            points = self.points[start : start + POINT_TILE]
            mapped = (maps.reshape(-1, n_features) @ points.T).reshape(n_queries, rank, -1)
            mapped -= mapped_queries
            measured = np.einsum("qrp,qrp->qp", mapped, mapped)
            there = np.tile(np.arange(start, start + len(points)), (n_queries, 1))
            if exclude is not None:
                there[there == exclude[:, None]] = -1
            indices, distances = smallest(
                np.concatenate([distances, measured], axis=1), np.concatenate([indices, there], axis=1), k
            )
        return indices, distances

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        def parts(part: slice) -> Floats:
            steps = queries[part, None, :] - self.points[indices[part]]
            return parts_of_distance(steps, self.maps_at(queries[part]))

        return np.concatenate(map_blocks(parts, len(queries), self._block))

    def relevances(self, *, n_jobs: int | None = None) -> Floats:
        return self._relevances_at(self.points, n_jobs)

    def relevances_at(self, queries: Floats, indices: Indices, shares: Floats) -> Floats:
        return self._relevances_at(queries, None)

    def _relevances_at(self, queries: Floats, n_jobs: int | None) -> Floats:
        # Blocks of the size the search has: more maps at a time could take gigabytes.
        return np.concatenate(
            map_blocks(
                lambda part: relevances_of(self.maps_at(queries[part])),
                len(queries),
                self._block,
                n_jobs=n_jobs,
            )
        )
