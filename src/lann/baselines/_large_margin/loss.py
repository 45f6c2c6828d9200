"""The large-margin loss of linear maps: targets are pulled near, impostors pushed a margin beyond them.

    (1 − μ) mean_{t ⇝ i} d_t(x_i) + μ mean_{t ⇝ i} Σ_{l: y_l ≠ y_i} [1 + d_t(x_i) − d_l(x_i)]₊²

with d_j(x) = ‖Ω_g(j) (x − x_j)‖², the map being that of the group of x_j. LMNN has one group.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from lann._threads import map_blocks
from lann._types import Floats, Indices, Labels
from lann.baselines._large_margin.impostors import GROUP, push_away

# One tile of distances is 256 × 512 numbers, 1 MB.
QUERY_BLOCK = 256
POINT_TILE = 512


@dataclass(frozen=True)
class _Group:
    """Points that are measured by the same map, ordered by class."""

    members: Indices  # (n_members,) rows of the points
    points: Floats  # (n_members, n_features)
    bounds: Indices  # (n_classes + 1,) from which to which member a class goes


class LargeMargin:
    """The loss as a function of the maps, with its gradient.

    Impostors are looked for anew, and exactly, for every value of the maps. Their distances are measured a
    tile at a time, and a triplet is counted and forgotten: memory does not grow with their number.

    Parameters
    ----------
    points : (n_points, n_features)
    labels : (n_points,) 0, 1, …
    targets : (n_points, n_targets) which points each should be close to; -1 where there are fewer
    groups : (n_points,) 0, 1, …: whose map measures distances to the point
    push : μ, between 0 and 1
    n_jobs : threads; they have no influence on the result
    """

    def __init__(
        self,
        points: Floats,
        labels: Labels,
        targets: Indices,
        groups: Indices,
        *,
        push: float,
        n_jobs: int | None = None,
    ) -> None:
        # Distances do not change when everything moves; products lose fewer digits near the origin.
        points = points - points.mean(axis=0)
        # Ordered by class, a block of queries has most of the points of its own class in the same tiles.
        order = np.argsort(labels, kind="stable")
        place = np.empty_like(order)
        place[order] = np.arange(len(order))
        self._points, self._labels, self._groups_of = points[order], labels[order], groups[order]
        self._targets = np.where(targets < 0, -1, place[targets])[order]
        self._groups = [self._group(group) for group in range(groups.max() + 1)]
        self._n_pairs = max(int(np.count_nonzero(targets >= 0)), 1)
        self._push, self._n_jobs = push, n_jobs

    @property
    def n_points(self) -> int:
        return len(self._points)

    def _group(self, group: int) -> _Group:
        members = np.flatnonzero(self._groups_of == group)
        bounds = np.searchsorted(self._labels[members], np.arange(self._labels.max() + 2))
        return _Group(members, self._points[members], bounds)

    def __call__(self, maps: Floats) -> tuple[float, Floats]:
        """The loss and its gradient: a number, and (n_groups, rank, n_features) as `maps`."""
        mapped = np.empty((len(self._points), maps.shape[1]))  # each point by the map of its group
        for group, own in zip(self._groups, maps, strict=True):
            mapped[group.members] = group.points @ own.T
        lifted = [_lift(mapped[group.members]) for group in self._groups]

        def block(part: slice) -> tuple[float, Floats, Floats]:
            return self._block(part, maps, mapped, lifted)

        parts = map_blocks(block, len(self._points), QUERY_BLOCK, n_jobs=self._n_jobs)
        loss, gradient, columns = 0.0, np.zeros(maps.shape), np.zeros(len(self._points))
        for part_loss, part_gradient, part_columns in parts:
            loss += part_loss
            gradient += part_gradient
            columns += part_columns
        mapped *= columns[:, None]
        for slope, group in zip(gradient, self._groups, strict=True):
            slope += 2.0 * mapped[group.members].T @ group.points
        return loss, gradient

    def _block(
        self, part: slice, maps: Floats, mapped: Floats, lifted: list[Floats]
    ) -> tuple[float, Floats, Floats]:
        """What some queries add to the loss and to the gradient.

        The gradient of a map is 2 Ω Σ_ij w_ij (x_i − x_j)(x_i − x_j)ᵀ, over all pairs of a query and a point
        of the group, w_ij being the slope of the loss with regard to their distance: positive for targets,
        negative for impostors. The terms x_j x_jᵀ are left out; Σ_i w_ij is returned for every point instead.
        """
        queries, targets = self._points[part], self._targets[part]
        turned = [queries @ own.T for own in maps]  # (n_queries, rank) each
        pairs = [self._pairs_with(place, targets) for place in range(len(maps))]
        distances = np.full(targets.shape, -np.inf)
        for its_turned, (rows, places, points) in zip(turned, pairs, strict=True):
            distances[rows, places] = np.square(its_turned[rows] - mapped[points]).sum(axis=1)

        push, pull = self._push / self._n_pairs, (1.0 - self._push) / self._n_pairs
        loss = pull * float(distances[targets >= 0].sum())
        slopes = np.zeros(targets.shape)
        moved = np.zeros((len(maps), *queries.shape))  # Σ_j w_ij x_j, for each map
        weights = np.zeros((len(maps), len(queries)))  # Σ_j w_ij, for each map
        columns = np.zeros(len(self._points))  # Σ_i w_ij
        for place, group in enumerate(self._groups):
            hinges, columns[group.members] = self._impostors(
                turned[place], self._labels[part], 1.0 + distances, group, lifted[place],
                slopes, moved[place], weights[place],
            )  # fmt: skip
            loss += push * hinges
        for sums in (moved, weights, columns):
            sums *= -push
        slopes *= push
        slopes += pull

        gradient = np.empty(maps.shape)
        for place, (rows, places, points) in enumerate(pairs):
            pulls = slopes[rows, places]
            np.add.at(moved[place], rows, pulls[:, None] * self._points[points])
            np.add.at(weights[place], rows, pulls)
            np.add.at(columns, points, pulls)
            there = turned[place].T @ (queries * weights[place][:, None] - moved[place])
            gradient[place] = 2.0 * (there - (moved[place] @ maps[place].T).T @ queries)
        return loss, gradient, columns

    def _pairs_with(self, group: int, targets: Indices) -> tuple[Indices, Indices, Indices]:
        """Where in `targets` there are points of a group: rows, columns, and the points."""
        rows, places = np.nonzero((targets >= 0) & (self._groups_of[targets] == group))
        return rows, places, targets[rows, places]

    def _impostors(
        self,
        turned: Floats,
        labels: Labels,
        margins: Floats,
        group: _Group,
        lifted: Floats,
        slopes: Floats,
        moved: Floats,
        weights: Floats,
    ) -> tuple[float, Floats]:
        """The squared hinges of some queries with the impostors of a group, and the slopes per impostor.

        turned : (n_queries, rank) the queries, by the group's map
        margins : (n_queries, n_targets)
        slopes, moved, weights : grow, as `push_away` says
        """
        offsets = np.square(turned).sum(axis=1)
        limits = margins.max(axis=1) - offsets
        same = np.stack([group.bounds[labels], group.bounds[labels + 1]], axis=1)
        columns = np.zeros(len(group.points))
        asking = np.column_stack([turned, np.ones(len(turned))])
        hinges = 0.0
        for start in range(0, len(lifted), POINT_TILE):
            stop = min(start + POINT_TILE, len(lifted))
            if np.all((same[:, 0] <= start) & (min(stop, len(columns)) <= same[:, 1])):
                continue
            tile = asking @ lifted[start:stop].T
            hinges += push_away(
                tile.reshape(len(tile), -1, GROUP), start, same, offsets, limits, margins, group.points,
                slopes, moved, weights, columns,
            )  # fmt: skip
        return hinges, columns


def _lift(mapped: Floats) -> Floats:
    """[−2z, ‖z‖²] of every mapped point: (n, rank + 1), n a multiple of GROUP.

    The product with [Ωx, 1] is ‖z‖² − 2⟨Ωx, z⟩, the distance less ‖Ωx‖². Added rows are never near.
    """
    n_points, rank = mapped.shape
    lifted = np.zeros((-(-n_points // GROUP) * GROUP, rank + 1))
    lifted[:n_points, :-1] = -2.0 * mapped
    lifted[:n_points, -1] = np.square(mapped).sum(axis=1)
    lifted[n_points:, -1] = np.finfo(np.float64).max
    return lifted
