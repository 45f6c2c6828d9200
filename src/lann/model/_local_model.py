"""The fitted model of training rows that each own a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._threads import single_threaded_blas
from lann._types import Floats, Indices
from lann.encoding import CategoryPositions, gap_moments
from lann.metrics import DiagonalMetric, Levels, MatrixMetric, find_copies
from lann.model._class_search import nearest_of_classes
from lann.model._neighbor_model import (
    Candidates,
    CategoryValues,
    NeighborModel,
    NeighborSearch,
    distances_at_stops,
    walk_rows,
)
from lann.model._walk_kernels import diagonal_walks
from lann.search import (
    ExactSearch,
    GraphSearch,
    MeasuredSearch,
    Search,
    Shortlist,
    coarse_search,
    exhaustive_search,
)
from lann.vote import VoteRule, n_rows_for, zero_distance_guard

# Training rows from which the typical distance is estimated, and their neighbors.
ROWS_FOR_SCALE = 1_000
NEIGHBORS_FOR_SCALE = 5
# What is computed when it is needed, and not saved.
LAZY = ("_search", "_feature_weights", "_index", "_without_features")
# Number of models without some features that are kept, and of their weights together: 256 MB.
MOST_KEPT, KEPT_NUMBERS = 16, 2**25
# The size of a wide neighborhood: as many rows as there usually are candidates.
WIDE = 50


class LocalModel(NeighborModel):
    """Training rows that each own a metric, with curves, linear map and class metrics shared by all.

    Parameters
    ----------
    levels : Levels
        Training rows and their metrics.
    n_candidates : int or None
        Size of the shortlist; None searches all rows.
    n_neighbors : int
        Number of neighbors that vote.
    power, floor : float
        Of the vote.
    class_weight : (n_classes,) or None
        Factor of the votes of each class.
    index : GraphSearch or None
        A graph under the class metric of the levels, if there is one already.
    epsilon : float or None
        Of the vote; None is estimated from the distances of training rows to their neighbors.
    n_jobs : int or None
        Number of threads.
    """

    has_training_rows = True
    _index: GraphSearch | None = None

    def __init__(
        self,
        levels: Levels,
        *,
        n_candidates: int | None,
        n_neighbors: int,
        power: float,
        floor: float = 0.0,
        class_weight: Floats | None = None,
        index: GraphSearch | None = None,
        epsilon: float | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.levels = levels
        self.X, self.labels, self.row_weights = levels.X, levels.labels, levels.row_weights
        self.n_classes = len(levels.class_log_weights)
        self.n_candidates = n_candidates
        # More would make the shortlist longer, and change the neighbors.
        self.wide_neighborhood = n_candidates or max(WIDE, n_neighbors)
        self.derived: dict[str, Any] = {}
        if index is not None:
            self._index = index
        self.n_neighbors = int(n_neighbors)
        if epsilon is None:
            epsilon = self._estimate_epsilon(n_jobs) if len(self.X) > 1 else 1.0
        self._vote_rule = VoteRule(float(power), epsilon, class_weight, float(floor))

    def _estimate_epsilon(self, n_jobs: int | None) -> float:
        """Return ε, from the neighbors of a sample of training rows."""
        # Of the distinct rows, so that two copies are the same as one row of weight 2.
        copies = find_copies(self.X, self.labels, self.row_weights)
        levels = self.levels if copies is None else self.levels.subset(copies.distinct)
        n_rows = len(levels.X)
        if n_rows < 2:
            return 1.0
        n_sampled = min(n_rows, ROWS_FOR_SCALE)
        rows = np.linspace(0, n_rows - 1, n_sampled).astype(np.int64)
        k = min(NEIGHBORS_FOR_SCALE, n_rows - 1)
        search = self._build_search(n_sampled, levels)
        _, distances = search.query(levels.points[rows], k, exclude=rows, n_jobs=n_jobs)
        if levels is not self.levels:
            return zero_distance_guard(distances)
        if not isinstance(search, Shortlist) or not self._wants_graph(None):
            self.__dict__["_search"] = search  # the one that queries use
        return zero_distance_guard(distances)

    @property
    def vote_rule(self) -> VoteRule:
        return self._vote_rule

    @cached_property
    def n_voters(self) -> int:
        n_rows, k = len(self.X), min(self.n_neighbors, len(self.X))
        if self.row_weights is None:
            return k
        # Any that many rows have the votes; the shortlist has no more than its length.
        enough = n_rows_for(self.n_neighbors, self.row_weights)
        return min(enough, n_rows, max(self.n_candidates or n_rows, k))

    @property
    def n_axes(self) -> int:
        return self.levels.class_log_weights.shape[1]

    @property
    def metric(self) -> DiagonalMetric | MatrixMetric:
        """The metric of every training row, on the axes."""
        return self._search.metric

    def transform(self, X: Floats) -> Floats:
        return self.levels.transform(X)

    def category_values(self, most: int) -> dict[int, CategoryValues]:
        encoding = self.levels.encoding
        return {
            feature: category_values(positions, most)
            for feature, positions in zip(encoding.category_features, encoding.positions, strict=True)
        }

    @property
    def features_with_slopes(self) -> Indices:
        encoding = self.levels.encoding
        if self.levels.point_matrices is not None or encoding.has_gaps.any():
            return np.empty(0, np.int64)
        return encoding.number_features

    def slopes_among(self, rows: Indices) -> _Slopes:
        return _Slopes(self, rows)

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        return np.isnan(queries) & ~self.levels.encoding.has_gaps

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        for rows, model in self._by_gaps(queries):
            own = None if exclude is None else exclude[rows]
            indices[rows], distances[rows] = model._search.query(
                model.transform(queries[rows]), k, exclude=own, n_jobs=n_jobs
            )
        return indices, distances

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        distances = np.empty(indices.shape)
        for rows, model in self._by_gaps(queries):
            distances[rows] = model.metric.distances(model.transform(queries[rows]), indices[rows])
        return distances

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        contributions = np.empty((*indices.shape, queries.shape[1]))
        for rows, model in self._by_gaps(queries):
            encoded = model.levels.encoding.transform(queries[rows])
            contributions[rows] = model.levels.contributions(encoded, indices[rows])
        return contributions

    def _by_gaps(self, queries: Floats) -> Iterator[tuple[Indices | slice, LocalModel]]:
        """Yield queries that are measured in the same features, and the model that measures in these."""
        unmeasured = self.unmeasured(queries)
        if not unmeasured.any():
            yield slice(None), self
            return
        patterns, position = np.unique(unmeasured, axis=0, return_inverse=True)
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(position.ravel() == number)
            yield rows, self._without(tuple(np.flatnonzero(pattern).tolist()), len(rows))

    def _without(self, features: tuple[int, ...], n_queries: int) -> LocalModel:
        """Return the model that measures without some features, for some queries; the last ones are kept."""
        if not features:
            return self
        kept = self.__dict__.setdefault("_without_features", {})
        if features not in kept:
            other = copy(self)
            for name in LAZY:
                other.__dict__.pop(name, None)
            other.levels = self.levels.without_features(features)
            other.__dict__["_search"] = other._build_search(n_queries, other.levels)
            most_kept = max(min(MOST_KEPT, KEPT_NUMBERS // self.levels.point_log_weights.size), 1)
            while len(kept) >= most_kept:
                kept.pop(next(iter(kept)))
            kept[features] = other
        return kept[features]

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return the feature weights, per standard deviation of a feature if there are curves."""
        return self._feature_weights

    @cached_property
    def _feature_weights(self) -> Floats:
        levels = self.levels
        numbers = levels.encoding.numbers_of(self.X)
        if levels.curves.is_identity:
            return levels.feature_weights(np.ones(numbers.shape[1]))
        return levels.feature_weights(np.sqrt(gap_moments(numbers, self.row_weights)[1]))

    def local_matrices(self, rows: Indices) -> Floats:
        return self.levels.local_matrices(rows)

    def search_among(self, rows: Indices) -> NeighborSearch:
        return _Among(self.transform, exhaustive_search(self.metric.subset(rows)))

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        search, n_rows = self._search, len(self.X)
        if not isinstance(search, Shortlist) or search.n_candidates >= n_rows:
            return super().candidates(queries, n_jobs=n_jobs)
        n_searched = max(search.n_candidates, self.n_voters)
        shape = (len(queries), min(n_searched + 1, n_rows))
        indices, distances = np.empty(shape, np.int64), np.empty(shape)
        for rows, model in self._by_gaps(queries):
            search, points = model._search, model.transform(queries[rows])
            if isinstance(search, Shortlist):
                found, _ = search.coarse.query(points, shape[1], n_jobs=n_jobs)
                indices[rows] = found
                distances[rows] = search.metric.distances(points, np.maximum(found, 0))
        return Candidates(indices, distances, n_searched)

    def walk_distances(
        self, queries: Floats, ends: Indices, orders: Indices, bounds: Indices, candidates: Indices
    ) -> Floats:
        """As `NeighborModel.walk_distances`; a gap keeps the value that is filled in for its row."""
        distances = np.empty((len(queries), 2, len(bounds), candidates.shape[1]))
        for rows, model in self._by_gaps(queries):
            distances[rows] = model._walk_distances(
                queries[rows], ends[rows], orders[rows], bounds, candidates[rows]
            )
        return distances

    def _walk_distances(
        self, queries: Floats, ends: Indices, orders: Indices, bounds: Indices, candidates: Indices
    ) -> Floats:
        levels, metric = self.levels, self.metric
        encoding, components = levels.encoding, levels.components
        encoded = encoding.transform(queries)
        steps = encoding.transform(self.X[ends]) - encoded
        firsts = np.append(encoding.first_coordinates, encoding.n_coordinates)
        if isinstance(metric, DiagonalMetric):
            starts = np.ascontiguousarray(levels.transform_encoded(encoded))
            columns = np.empty((0, 0)) if components is None else np.ascontiguousarray(components.T)
            weights = metric.weights[None] if metric.shared else metric.weights
            return diagonal_walks(
                starts, steps, columns, firsts, orders, bounds, metric.points, weights, candidates
            )
        widths = encoding.n_axes_of_features
        moved = walk_rows(np.zeros(queries.shape), np.ones(queries.shape), orders, bounds)
        moved = encoded[:, None, None] + np.repeat(moved, widths, axis=3) * steps[:, None, None]
        return distances_at_stops(
            moved, candidates, lambda rows, found: metric.distances(levels.transform_encoded(rows), found)
        )

    def shared_kneighbors(self, k: int, *, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        search, own = self._search, np.arange(len(self.X))
        coarse = search.coarse if isinstance(search, Shortlist) else coarse_search(self.levels.class_metric())
        return coarse.query(self.levels.points, k, exclude=own, n_jobs=n_jobs)

    def kneighbors_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        for rows, model in self._by_gaps(queries):
            indices[rows], distances[rows] = model._nearest_of_classes(
                queries[rows], allowed[rows], k, n_jobs=n_jobs
            )
        return indices, distances

    def _nearest_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        class_metric = None if self.n_candidates is None else self.levels.class_metric()

        def search_among(rows: Indices, n_queries: int) -> Search:
            metric = self.metric.subset(rows)
            if class_metric is None or self.n_candidates is None:
                return exhaustive_search(metric)
            return Shortlist(coarse_search(class_metric.subset(rows), n_queries), metric, self.n_candidates)

        points = self.transform(queries)
        return nearest_of_classes(points, self.labels, allowed, k, search_among, n_jobs=n_jobs)

    @cached_property
    def _search(self) -> ExactSearch | MeasuredSearch | Shortlist:
        # Two threads may both build it; either result is complete.
        return self._build_search(None, self.levels)

    def _build_search(
        self, n_queries: int | None, levels: Levels
    ) -> ExactSearch | MeasuredSearch | Shortlist:
        metric = levels.local_metric()
        if self.n_candidates is None:
            return exhaustive_search(metric)
        if self._index is not None and self._wants_graph(n_queries) and levels is self.levels:
            return Shortlist(self._index, metric, self.n_candidates)
        return Shortlist(coarse_search(levels.class_metric(), n_queries), metric, self.n_candidates)

    def _wants_graph(self, n_queries: int | None) -> bool:
        return GraphSearch.pays(len(self.X), n_queries)

    def __getstate__(self) -> dict[str, Any]:
        lazy = (*LAZY, "n_voters")
        return {name: value for name, value in self.__dict__.items() if name not in lazy}


def category_values(positions: CategoryPositions, most: int) -> CategoryValues:
    """Return categories that represent all of a feature: each with its share of the training rows.

    Of many categories these are quantiles along the direction in which their learned positions vary most, so
    that categories that are measured alike are represented by one of them.

    Parameters
    ----------
    positions : CategoryPositions
    most : int
        Number of values, at most.

    Returns
    -------
    values : CategoryValues
    """
    used = np.flatnonzero(positions.shares > 0)
    shares = positions.shares[used]
    if len(used) > most:
        along = positions.main_direction()[used]
        order = np.lexsort((used, along))
        middles = (np.arange(most) + 0.5) / most
        at = np.searchsorted(np.cumsum(shares[order]), middles * shares.sum())
        chosen, counts = np.unique(order[np.minimum(at, len(order) - 1)], return_counts=True)
        used, shares = used[chosen], counts / counts.sum()
    codes = np.where(used < positions.n_categories, used, np.nan)
    return CategoryValues(codes, shares / shares.sum())


class _Slopes:
    """What changes of single numbers do to the distances of some rows with diagonal metrics."""

    def __init__(self, model: LocalModel, rows: Indices) -> None:
        levels = model.levels
        encoding, self._levels = levels.encoding, levels
        self._points, self._weights = model.metric.points[rows], levels.subset(rows).weights
        self._coordinates = encoding.first_coordinates[encoding.number_features]
        components = np.eye(model.n_axes) if levels.components is None else levels.components
        self._components = components[:, self._coordinates]  # (n_axes, n_numbers)
        with single_threaded_blas():  # the same bits for any number of threads
            self._curvatures = np.ascontiguousarray((self._weights @ self._components**2).T)
        # Typical numbers, in rows whose categories do not matter.
        values = np.where(
            np.isin(np.arange(len(model.X[0])), encoding.number_features), model.typical_values, model.X[0]
        )
        self._values = encoding.transform(values)[:, self._coordinates].T  # (n_numbers, n_values)

    def at(self, query: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        encoded = self._levels.encoding.transform(query[None])
        differences = self._levels.transform_encoded(encoded) - self._points  # (n_rows, n_axes)
        weighted = self._weights * differences
        distances = np.einsum("ja,ja->j", weighted, differences)
        slopes = np.ascontiguousarray((weighted @ self._components).T)
        changes = self._values - encoded[0, self._coordinates][:, None]
        return distances, slopes, self._curvatures, np.ascontiguousarray(changes)


class _Among:
    """A search among points on the axes, in the user's units."""

    def __init__(self, transform: Callable[[Floats], Floats], search: Search) -> None:
        self._transform, self._search = transform, search

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._search.query(self._transform(queries), k, exclude=exclude, n_jobs=n_jobs)
