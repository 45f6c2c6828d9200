"""The fitted model of training rows that each own a metric."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann._support.sizes import Limits
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.metric import (
    CategoryPositions,
    Copies,
    DiagonalMetric,
    Levels,
    MatrixMetric,
    find_copies,
    gap_moments,
)
from lann.model._neighbor_model import (
    Candidates,
    CategoryValues,
    NeighborModel,
    NeighborSearch,
    distances_at_stops,
    nearest_of_classes,
    walk_rows,
)
from lann.model._row_memory import FEW_QUERIES, RowMemory
from lann.model._walks import diagonal_walks
from lann.search import (
    CellIndex,
    CellSearch,
    ExactSearch,
    MeasuredSearch,
    Search,
    Shortlist,
    coarse_search,
    exhaustive_search,
    smallest,
)
from lann.vote import VoteRule, n_rows_for, zero_distance_guard

# Training rows from which the typical distance is estimated, and their neighbors.
ROWS_FOR_SCALE = 1_000
NEIGHBORS_FOR_SCALE = 5
# Rows that are searched per distinct neighbor, of a model with many rows of which some are copies.
COPIES_FOR_SCALE = 4
STATE = ("memory", "n_candidates", "n_neighbors", "wide_neighborhood", "derived", "names", "_vote_rule")
# Number of models without some features that are kept, and of their weights together: 256 MB.
MOST_KEPT, KEPT_NUMBERS = 16, 2**25
# With more rows than this, the feature weights of all of them are not computed for those of some neighbors.
MOST_WEIGHTS = 50_000
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
    index : CellIndex or None
        The cells of the rows under the class metric, if they are known. From 50 000 rows on, they are
        determined otherwise, and the shortlist of any query has the rows of the nearest cells only.
    epsilon : float or None
        Of the vote; None is estimated from the distances of training rows to their neighbors.
    arrivals, n_arrived : (n_rows,) or None, int or None
        The order in which the rows have arrived: see `RowMemory`.
    n_jobs : int or None
        Number of threads.
    """

    has_training_rows = True
    # Of the rows, if a classifier has set them: they belong to this version of the rows.
    names: NDArray[Any] | None = None

    def __init__(
        self,
        levels: Levels,
        *,
        n_candidates: int | None,
        n_neighbors: int,
        power: float,
        floor: float = 0.0,
        class_weight: Floats | None = None,
        index: CellIndex | None = None,
        epsilon: float | None = None,
        arrivals: Indices | None = None,
        n_arrived: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        self.memory = RowMemory(levels, arrivals=arrivals, n_arrived=n_arrived, index=index)
        self._set_vote_sizes(n_candidates, n_neighbors)
        if index is None and self._is_large:
            self.memory = self.memory.with_index(self._build_index(n_jobs))
        epsilon = self._estimate_epsilon(n_jobs) if epsilon is None else epsilon
        self._vote_rule = VoteRule(float(power), epsilon, class_weight, float(floor))

    def _set_vote_sizes(self, n_candidates: int | None, n_neighbors: int) -> None:
        self.n_candidates, self.n_neighbors = n_candidates, int(n_neighbors)
        # More would make the shortlist longer, and change the neighbors.
        self.wide_neighborhood = n_candidates or max(WIDE, n_neighbors)
        self.derived: dict[str, Any] = {}

    def with_memory(
        self,
        memory: RowMemory,
        *,
        n_candidates: int | None,
        vote: VoteRule,
        n_neighbors: int,
        epsilon: float | None,
        n_jobs: int | None = None,
    ) -> LocalModel:
        """Return the model of rows of which some have been added, adapted or forgotten.

        Parameters
        ----------
        memory : RowMemory
            Of the rows of this model, changed.
        n_candidates, n_neighbors, epsilon, n_jobs
            As for the model.
        vote : VoteRule
            The vote, but for ε.
        """
        other = LocalModel.__new__(LocalModel)
        other.memory = memory
        other._set_vote_sizes(n_candidates, n_neighbors)
        if not other._is_large and memory.has_index:
            other.memory = memory.with_index(None)
        elif other._is_large and (memory.index_is_old or not memory.has_index):
            other.memory = memory.with_index(other._build_index(n_jobs))
        epsilon = other._estimate_epsilon(n_jobs) if epsilon is None else epsilon
        other._vote_rule = replace(vote, epsilon=epsilon)
        return other

    def subset(self, rows: Indices, *, n_jobs: int | None = None) -> LocalModel:
        rule = self.vote_rule
        return LocalModel(
            self.memory.levels_of(rows),
            n_candidates=self.n_candidates,
            n_neighbors=self.n_neighbors,
            power=rule.power,
            floor=rule.floor,
            class_weight=rule.class_weight,
            epsilon=rule.epsilon,
            n_jobs=n_jobs,
        )

    @property
    def levels(self) -> Levels:
        """Training rows and their metrics."""
        return self.memory.levels

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return len(self.memory.class_log_weights)

    @property
    def n_arrived(self) -> int:
        """Number of rows that have arrived, those that were forgotten included."""
        return self.memory.n_arrived

    @property
    def index(self) -> CellIndex | None:
        """The cells of the rows under the class metric; None where all rows are searched."""
        return self.memory.index

    def _build_index(self, n_jobs: int | None) -> CellIndex:
        """Determine the cells of the rows."""
        index = CellIndex.build(self._class_metric(), n_jobs=n_jobs)
        return replace(index, n_seen=self.n_arrived)

    @property
    def _is_large(self) -> bool:
        """Whether the search is limited to cells."""
        return self.n_candidates is not None and CellSearch.pays(self.n_rows)

    @property
    def n_rows(self) -> int:
        return self.memory.n_rows

    @property
    def arrivals(self) -> Indices:
        """The number of each row in the order in which all rows have arrived: (n_rows,)."""
        return self.memory.arrivals

    @property
    def arrivals_if_forgotten(self) -> Indices | None:
        """The order of arrival, None where no row has been forgotten."""
        return None if self.n_arrived == self.n_rows else self.arrivals

    @cached_property
    def X(self) -> Floats:  # type: ignore[override]
        return self.memory.X

    @cached_property
    def labels(self) -> Labels:  # type: ignore[override]
        return self.memory.labels

    @cached_property
    def row_weights(self) -> Floats | None:  # type: ignore[override]
        return self.memory.row_weights

    def labels_of(self, rows: Indices) -> Labels:
        return self.memory.values_of("labels", rows)

    def weights_of(self, rows: Indices) -> Floats | None:
        return self.memory.values_of("row_weights", rows) if self.memory.has_row_weights else None

    def _estimate_epsilon(self, n_jobs: int | None) -> float:
        """Return ε, from the neighbors of a sample of training rows."""
        if self.n_rows < 2:
            return 1.0
        # Of the distinct rows, so that two copies are the same as one row of weight 2.
        copies = find_copies(self.X, self.labels, self.row_weights)
        if copies is not None and self._is_large:
            found = self._distances_to_distinct(copies, n_jobs)
            if found is not None:
                return zero_distance_guard(found)
        levels = self.levels if copies is None else self.levels.subset(copies.distinct)
        n_rows = len(levels.X)
        if n_rows < 2:
            return 1.0
        n_sampled = min(n_rows, ROWS_FOR_SCALE)
        rows = np.linspace(0, n_rows - 1, n_sampled).astype(np.int64)
        k = min(NEIGHBORS_FOR_SCALE, n_rows - 1)
        if levels is self.levels:
            search = self._search
        else:
            search = self._search_among(levels.local_metric(), levels.class_metric(), n_sampled)
        _, distances = search.query(search.metric.points[rows], k, exclude=rows, n_jobs=n_jobs)
        return zero_distance_guard(distances)

    def _distances_to_distinct(self, copies: Copies, n_jobs: int | None) -> Floats | None:
        """Return squared distances of some rows to their neighbors, where copies count as one row: (n,).

        All rows are searched, so that the distinct ones among many need not be copied. None if some rows have
        too many copies for that.
        """
        n_groups = len(copies.distinct)
        rows = copies.distinct[np.linspace(0, n_groups - 1, min(n_groups, ROWS_FOR_SCALE)).astype(np.int64)]
        n_asked = min(COPIES_FOR_SCALE * NEIGHBORS_FOR_SCALE, self.n_rows - 1)
        found, distances = self._search.query(self.metric.points[rows], n_asked, exclude=rows, n_jobs=n_jobs)
        groups = np.column_stack([copies.group[rows], np.where(found < 0, -1, copies.group[found])])
        same = groups[:, :, None] == groups[:, None, :]
        is_new = ~np.tril(same, -1).any(axis=2)[:, 1:] & (found >= 0)
        if is_new.sum(axis=1).min() < min(NEIGHBORS_FOR_SCALE, n_groups - 1):
            return None
        return distances[is_new & (np.cumsum(is_new, axis=1) <= NEIGHBORS_FOR_SCALE)]

    @property
    def vote_rule(self) -> VoteRule:
        return self._vote_rule

    @cached_property
    def n_voters(self) -> int:
        n_rows, k = self.n_rows, min(self.n_neighbors, self.n_rows)
        weights = self.row_weights
        if weights is None:
            return k
        # Any that many rows have the votes; the shortlist has no more than its length.
        most = min(max(self.n_candidates or n_rows, k), n_rows)
        lightest = weights if most == n_rows else np.partition(weights, most - 1)[:most]
        return min(n_rows_for(self.n_neighbors, lightest), most)

    @property
    def n_axes(self) -> int:
        return self.memory.class_log_weights.shape[1]

    @cached_property
    def metric(self) -> DiagonalMetric | MatrixMetric:
        """The metric of every training row, on the axes."""
        return self.memory.local_metric()

    def _class_metric(self) -> DiagonalMetric:
        # The points are those of the local metric, and not another array.
        return Levels.metric_of_classes(self.metric.points, self.labels, self.memory.class_log_weights)

    def transform(self, X: Floats) -> Floats:
        return self.memory.transform(X)

    def category_values(self, most: int) -> dict[int, CategoryValues]:
        encoding = self.memory.encoding
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

    @cached_property
    def limits(self) -> Limits:
        return self.memory.limits

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        missing = np.isnan(queries)
        return missing & ~self.memory.encoding.has_gaps if missing.any() else missing

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        indices, distances = np.empty((len(queries), k), np.int64), np.empty((len(queries), k))
        for rows, model in self._by_gaps(queries):
            own = None if exclude is None else exclude[rows]
            indices[rows], distances[rows] = model._nearest(
                model.transform(queries[rows]), k, exclude=own, n_jobs=n_jobs
            )
        return indices, distances

    def _nearest(
        self, points: Floats, k: int, *, exclude: Indices | None, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of queries on the axes: see `kneighbors`."""
        if not self._scans(len(points)):
            return self._search.query(points, k, exclude=exclude, n_jobs=n_jobs)
        n_candidates = min(max(self.n_candidates or k, k), self.n_rows - (exclude is not None))
        found, _ = self.memory.nearest(points, n_candidates, exclude=exclude)
        return smallest(self.memory.distances(points, np.maximum(found, 0)), found, k)

    def _scans(self, n_queries: int) -> bool:
        """Return whether a pass over all rows answers the queries sooner than a search for many does."""
        return self.n_candidates is not None and n_queries <= FEW_QUERIES

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        distances = np.empty(indices.shape)
        for rows, model in self._by_gaps(queries):
            distances[rows] = model.metric.distances(model.transform(queries[rows]), indices[rows])
        return distances

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        contributions = np.empty((*indices.shape, queries.shape[1]))
        for rows, model in self._by_gaps(queries):
            # Of the rows in question: the levels of all rows may have to be copied first.
            found, own = np.unique(indices[rows], return_inverse=True)
            levels = model.memory.levels_of(found)
            encoded = levels.encoding.transform(queries[rows])
            contributions[rows] = levels.contributions(encoded, own.reshape(indices[rows].shape))
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
            yield rows, self._without(tuple(np.flatnonzero(pattern).tolist()))

    def _without(self, features: tuple[int, ...]) -> LocalModel:
        """Return the model that measures without some features; the last ones are kept."""
        if not features:
            return self
        kept = self.__dict__.setdefault("_without_features", {})
        other = kept.get(features)
        if other is None:
            other = copy(self)  # without the cells, which are those of other points
            other.memory = RowMemory(self.levels.without_features(features))
            most_kept = max(min(MOST_KEPT, KEPT_NUMBERS // self.levels.point_log_weights.size), 1)
            # Another thread may remove the same ones, or add others.
            for oldest in list(kept)[: max(len(kept) + 1 - most_kept, 0)]:
                kept.pop(oldest, None)
            kept[features] = other
        return other

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return the feature weights, per standard deviation of a feature if there are curves."""
        return self._feature_weights

    @cached_property
    def _feature_weights(self) -> Floats:
        return self.levels.feature_weights(self._feature_scales)

    @cached_property
    def _feature_scales(self) -> Floats:
        """The difference in each number whose weight is the feature weight."""
        encoding = self.memory.encoding
        numbers = encoding.numbers_of(self.X)
        if encoding.curves.is_identity:
            return np.ones(numbers.shape[1])
        return np.sqrt(gap_moments(numbers, self.row_weights)[1])

    def neighbor_feature_weights(
        self, queries: Floats, indices: Indices, shares: Floats, *, n_jobs: int | None = None
    ) -> Floats:
        if self.n_rows <= MOST_WEIGHTS:
            return super().neighbor_feature_weights(queries, indices, shares, n_jobs=n_jobs)
        rows, own = np.unique(indices, return_inverse=True)
        weights = self.memory.levels_of(rows).feature_weights(self._feature_scales)
        return np.einsum("qk,qkf->qf", shares, weights[own.reshape(indices.shape)])

    def local_matrices(self, rows: Indices) -> Floats:
        return self.levels.local_matrices(rows)

    def search_among(self, rows: Indices) -> NeighborSearch:
        return _Among(self.transform, exhaustive_search(self.metric.subset(rows)))

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        n_rows = self.n_rows
        if self.n_candidates is None or self.n_candidates >= n_rows:
            return super().candidates(queries, n_jobs=n_jobs)
        n_searched = max(self.n_candidates, self.n_voters)
        shape = (len(queries), min(n_searched + 1, n_rows))
        indices, distances = np.empty(shape, np.int64), np.empty(shape)
        for rows, model in self._by_gaps(queries):
            points = model.transform(queries[rows])
            search = model.memory if model._scans(len(points)) else model._shortlist
            found, _ = search.candidates(points, shape[1], n_jobs=n_jobs)
            indices[rows] = found
            distances[rows] = search.distances(points, np.maximum(found, 0))
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
            points, weights = metric.points, metric.weights[None] if metric.shared else metric.weights
            if points.dtype != np.float64 or weights.dtype != np.float64:
                # Of the rows in question: one compiled version is enough.
                rows, own = np.unique(np.maximum(candidates, 0), return_inverse=True)
                candidates = np.where(candidates < 0, -1, own.reshape(candidates.shape))
                points = points[rows].astype(np.float64)
                weights = np.atleast_2d(metric.weights_of(rows)).astype(np.float64)
            return diagonal_walks(starts, steps, columns, firsts, orders, bounds, points, weights, candidates)
        widths = encoding.n_axes_of_features
        moved = walk_rows(np.zeros(queries.shape), np.ones(queries.shape), orders, bounds)
        moved = encoded[:, None, None] + np.repeat(moved, widths, axis=3) * steps[:, None, None]
        return distances_at_stops(
            moved, candidates, lambda rows, found: metric.distances(levels.transform_encoded(rows), found)
        )

    def shared_kneighbors(self, k: int, *, n_jobs: int | None = None) -> tuple[Indices, Floats]:
        search, own = self._search, np.arange(self.n_rows)
        coarse = search.coarse if isinstance(search, Shortlist) else coarse_search(self._class_metric())
        return coarse.query(self.metric.points, k, exclude=own, n_jobs=n_jobs)

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
        class_metric = None if self.n_candidates is None else self._class_metric()

        def search_among(rows: Indices, n_queries: int) -> Search:
            metric = self.metric.subset(rows)
            if class_metric is None or self.n_candidates is None:
                return exhaustive_search(metric)
            return Shortlist(coarse_search(class_metric.subset(rows), n_queries), metric, self.n_candidates)

        points = self.transform(queries)
        return nearest_of_classes(points, self.labels, allowed, k, search_among, n_jobs=n_jobs)

    @property
    def _search(self) -> ExactSearch | MeasuredSearch | Shortlist:
        """The search for many queries; it is kept."""
        # Two threads may both build it; either result is complete.
        return self._exhaustive if self.n_candidates is None else self._shortlist

    @cached_property
    def _exhaustive(self) -> ExactSearch | MeasuredSearch:
        return exhaustive_search(self.metric)

    @cached_property
    def _shortlist(self) -> Shortlist:
        metric, index = self._class_metric(), self.index
        coarse = ExactSearch(metric) if index is None else CellSearch(metric, index)
        return Shortlist(coarse, self.metric, self.n_candidates or self.n_rows)

    def _search_among(
        self, metric: DiagonalMetric | MatrixMetric, class_metric: DiagonalMetric, n_queries: int
    ) -> ExactSearch | MeasuredSearch | Shortlist:
        """Return a search among some of the rows, for so many queries in total."""
        if self.n_candidates is None:
            return exhaustive_search(metric)
        return Shortlist(coarse_search(class_metric, n_queries), metric, self.n_candidates)

    def __getstate__(self) -> dict[str, Any]:
        # What is computed when it is needed is not saved.
        return {name: value for name, value in self.__dict__.items() if name in STATE}


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
        components = levels.components
        # (n_axes, n_numbers); None where the axes are the coordinates
        self._components = None if components is None else components[:, self._coordinates]
        if self._components is None:
            curvatures = self._weights[:, self._coordinates]
        else:
            with single_threaded_blas():  # the same bits for any number of threads
                curvatures = self._weights @ self._components**2
        self._curvatures = np.ascontiguousarray(curvatures.T)
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
        components = self._components
        slopes = weighted[:, self._coordinates] if components is None else weighted @ components
        changes = self._values - encoded[0, self._coordinates][:, None]
        return distances, np.ascontiguousarray(slopes.T), self._curvatures, np.ascontiguousarray(changes)


class _Among:
    """A search among points on the axes, in the user's units."""

    def __init__(self, transform: Callable[[Floats], Floats], search: Search) -> None:
        self._transform, self._search = transform, search

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._search.query(self._transform(queries), k, exclude=exclude, n_jobs=n_jobs)
