"""The fitted model of training rows that each own a metric."""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from lann._support.rows import spread_rows
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
    Slopes,
)
from lann.model._row_memory import FEW_QUERIES, OF_ROWS, RowMemory
from lann.search import (
    CellIndex,
    CellSearch,
    ExactSearch,
    MeasuredSearch,
    Shortlist,
    check_device,
    coarse_search,
    exhaustive_search,
    gpu_search,
    gpu_shortlist,
    is_on_gpu,
    smallest,
)
from lann.vote import VoteRule, n_rows_for, zero_distance_guard

# Training rows from which the typical distance is estimated, and their neighbors.
ROWS_FOR_SCALE = 1_000
NEIGHBORS_FOR_SCALE = 5
# Rows that are searched per distinct neighbor, of a model with many rows of which some are copies.
COPIES_FOR_SCALE = 4
# What is copied and saved; everything else is computed when it is needed.
STATE = ("memory", "n_candidates", "n_neighbors", "wide_neighborhood", "derived", "names", "vote_rule")
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
    levels : Levels or RowMemory
        Training rows and their metrics; a memory if they are those of another model, with changes.
    n_candidates : int or None
        Size of the shortlist; None searches all rows.
    n_neighbors : int
        Number of neighbors that vote.
    power, floor, mixture : float, float, ndarray or None
        Of the vote: see `VoteRule`.
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

    Attributes
    ----------
    memory : RowMemory
        The rows and their metrics.
    names : ndarray of shape (n_rows,) or None
        Names of the rows, if a classifier has set them.
    """

    has_training_rows = True
    names: NDArray[Any] | None = None

    def __init__(
        self,
        levels: Levels | RowMemory,
        *,
        n_candidates: int | None,
        n_neighbors: int,
        power: float,
        floor: float = 0.0,
        mixture: Floats | None = None,
        class_weight: Floats | None = None,
        index: CellIndex | None = None,
        epsilon: float | None = None,
        arrivals: Indices | None = None,
        n_arrived: int | None = None,
        n_jobs: int | None = None,
    ) -> None:
        if isinstance(levels, RowMemory):
            self.memory = levels
        else:
            self.memory = RowMemory(levels, arrivals=arrivals, n_arrived=n_arrived, index=index)
        self.n_candidates, self.n_neighbors = n_candidates, int(n_neighbors)
        # More would make the shortlist longer, and change the neighbors.
        self.wide_neighborhood = n_candidates or max(WIDE, n_neighbors)
        self.derived: dict[str, Any] = {}
        if index is None:
            self._update_index(n_jobs)
        epsilon = self._estimate_epsilon(n_jobs) if epsilon is None else epsilon
        self.vote_rule = VoteRule(float(power), epsilon, class_weight, float(floor), mixture)

    def _update_index(self, n_jobs: int | None) -> None:
        """Determine the cells of the rows if there are many, and no or old cells."""
        if not self._is_large:
            if self.index is not None:
                self.memory = self.memory.with_index(None)
        elif self.index is None or self.memory.index_is_old:
            index = CellIndex.build(self._class_metric(), n_jobs=n_jobs)
            self.memory = self.memory.with_index(replace(index, n_seen=self.n_arrived))

    def subset(self, rows: Indices, *, n_jobs: int | None = None) -> LocalModel:
        rule = self.vote_rule
        return LocalModel(
            self.memory.levels_of(rows),
            n_candidates=self.n_candidates,
            n_neighbors=self.n_neighbors,
            **vars(rule),
            n_jobs=n_jobs,
        )

    @property
    def levels(self) -> Levels:
        """Training rows and their metrics."""
        return self.memory.levels

    @property
    def n_classes(self) -> int:  # type: ignore[override]
        return len(self.memory.class_counts)

    @property
    def n_arrived(self) -> int:
        """Number of rows that have arrived, those that were forgotten included."""
        return self.memory.n_arrived

    @property
    def index(self) -> CellIndex | None:
        """The cells of the rows under the class metric; None where all rows are searched."""
        return self.memory.index

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
        return self.memory.values("arrivals")

    @property
    def arrivals_if_forgotten(self) -> Indices | None:
        """The order of arrival, None where no row has been forgotten."""
        return None if self.n_arrived == self.n_rows else self.arrivals

    @cached_property
    def X(self) -> Floats:  # type: ignore[override]
        return self.memory.values("X")

    @cached_property
    def labels(self) -> Labels:  # type: ignore[override]
        return self.memory.values("labels")

    @cached_property
    def row_weights(self) -> Floats | None:  # type: ignore[override]
        return self.memory.values("row_weights")

    def labels_of(self, rows: Indices) -> Labels:
        return self.memory.values("labels", rows)

    def weights_of(self, rows: Indices) -> Floats | None:
        return self.memory.values("row_weights", rows)

    def _estimate_epsilon(self, n_jobs: int | None) -> float:
        """Return ε, from the neighbors of a sample of training rows."""
        if self.n_rows < 2:
            return 1.0
        # Of the distinct rows, so that two copies are the same as one row of weight 2.
        values = {name: self.memory.values(name) for name in OF_ROWS}
        copies = find_copies(self.memory.shared.replace(**values))
        if copies is None:
            search = self._search
        else:
            found = self._distances_to_distinct(copies, n_jobs) if self._is_large else None
            if found is not None:
                return zero_distance_guard(found)
            levels = self.levels.subset(copies.distinct)
            n_sampled = min(len(levels.X), ROWS_FOR_SCALE)
            search = self._search_among(levels.local_metric(), levels.class_metric(), n_sampled)
        n_rows = search.metric.n_points
        if n_rows < 2:
            return 1.0
        rows = spread_rows(n_rows, ROWS_FOR_SCALE)
        k = min(NEIGHBORS_FOR_SCALE, n_rows - 1)
        _, distances = search.query(search.metric.points[rows], k, exclude=rows, n_jobs=n_jobs)
        return zero_distance_guard(distances)

    def _distances_to_distinct(self, copies: Copies, n_jobs: int | None) -> Floats | None:
        """Return squared distances of some rows to their neighbors, where copies count as one row: (n,).

        All rows are searched, so that the distinct ones among many need not be copied. None if some rows have
        too many copies for that.
        """
        n_groups = len(copies.distinct)
        rows = copies.distinct[spread_rows(n_groups, ROWS_FOR_SCALE)]
        n_searched = min(COPIES_FOR_SCALE * NEIGHBORS_FOR_SCALE, self.n_rows - 1)
        found, distances = self._search.query(
            self.metric.points[rows], n_searched, exclude=rows, n_jobs=n_jobs
        )
        groups = np.column_stack([copies.group[rows], np.where(found < 0, -1, copies.group[found])])
        same = groups[:, :, None] == groups[:, None, :]
        is_new = ~np.tril(same, -1).any(axis=2)[:, 1:] & (found >= 0)
        if is_new.sum(axis=1).min() < min(NEIGHBORS_FOR_SCALE, n_groups - 1):
            return None
        return distances[is_new & (np.cumsum(is_new, axis=1) <= NEIGHBORS_FOR_SCALE)]

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
        return self.memory.shared.class_log_weights.shape[1]

    @cached_property
    def metric(self) -> DiagonalMetric | MatrixMetric:
        """The metric of every training row, on the axes."""
        return self.memory.local_metric()

    def _class_metric(self) -> DiagonalMetric:
        # The points are those of the local metric, and not another array.
        weights = self.memory.shared.class_log_weights
        return Levels.metric_of_classes(self.metric.points, self.labels, weights)

    def transform(self, X: Floats) -> Floats:
        return self.memory.shared.transform(X)

    def category_values(self, most: int) -> dict[int, CategoryValues]:
        encoding = self.memory.shared.encoding
        return {
            feature: _representative_categories(positions, most)
            for feature, positions in zip(encoding.category_features, encoding.positions, strict=True)
        }

    @property
    def features_with_slopes(self) -> Indices:
        encoding = self.memory.shared.encoding
        if isinstance(self.metric, MatrixMetric) or encoding.has_gaps.any():
            return np.empty(0, np.int64)
        return encoding.number_features

    def slopes_among(self, rows: Indices) -> Slopes:
        shared, weights = self.memory.shared, self.levels.subset(rows).weights
        encoding, points = shared.encoding, self.metric.points[rows]
        coordinates = encoding.first_coordinates[encoding.number_features]
        # (n_axes, n_numbers); None where the axes are the coordinates
        components = None if shared.components is None else shared.components[:, coordinates]
        if components is None:
            curvatures = weights[:, coordinates]
        else:
            with single_threaded_blas():  # the same bits for any number of threads
                curvatures = weights @ components**2
        curvatures = np.ascontiguousarray(curvatures.T)
        # Typical numbers, in rows whose categories do not matter.
        is_number = np.isin(np.arange(encoding.n_features), encoding.number_features)
        typical = np.where(is_number, self.typical_values, self.X[0])
        values = encoding.transform(typical)[:, coordinates].T  # (n_numbers, n_values)

        def slopes(query: Floats) -> tuple[Floats, Floats, Floats, Floats]:
            encoded = encoding.transform(query[None])
            differences = shared.transform_encoded(encoded) - points  # (n_rows, n_axes)
            weighted = weights * differences
            distances = np.einsum("ja,ja->j", weighted, differences)
            found = weighted[:, coordinates] if components is None else weighted @ components
            changes = values - encoded[0, coordinates][:, None]
            return distances, np.ascontiguousarray(found.T), curvatures, np.ascontiguousarray(changes)

        return slopes

    def unmeasured(self, queries: Floats) -> NDArray[np.bool_]:
        missing = np.isnan(queries)
        return missing & ~self.memory.shared.encoding.has_gaps if missing.any() else missing

    def _by_gaps(self, compute: Callable[..., Any], queries: Floats, *by_query: Any, **options: Any) -> Any:
        """Compute something for queries, each by the model that measures in the features that it has.

        Parameters
        ----------
        compute : callable
            Takes a model, the queries that it measures, what belongs to each of them, and the options.
            Returns an array by query, or a tuple of arrays.
        queries : (n_queries, n_features)
        *by_query : arrays of length n_queries, or None
        **options
        """
        unmeasured = self.unmeasured(queries)
        if not unmeasured.any():
            return compute(self, queries, *by_query, **options)
        patterns, position = np.unique(unmeasured, axis=0, return_inverse=True)
        parts = []
        for number, pattern in enumerate(patterns):
            rows = np.flatnonzero(position.ravel() == number)
            model = self._without(tuple(np.flatnonzero(pattern).tolist()))
            own = (None if values is None else values[rows] for values in by_query)
            parts.append(compute(model, queries[rows], *own, **options))
        order = np.argsort(position.ravel(), kind="stable").argsort()
        if isinstance(parts[0], tuple):
            return tuple(np.concatenate(arrays)[order] for arrays in zip(*parts, strict=True))
        return np.concatenate(parts)[order]

    def _without(self, features: tuple[int, ...]) -> LocalModel:
        """Return the model that measures without some features; some of them are kept."""
        if not features:
            return self
        kept = self._measured_without
        other = kept.get(features)
        if other is None:
            other = copy(self)  # without the cells, which are those of other points
            other.device = self.device
            other.memory = RowMemory(self.levels.without_features(features))
            if len(kept) >= max(min(MOST_KEPT, KEPT_NUMBERS // self.levels.point_log_weights.size), 1):
                kept.clear()
            kept[features] = other
        return other

    @cached_property
    def _measured_without(self) -> dict[tuple[int, ...], LocalModel]:
        return {}

    def kneighbors(
        self, queries: Floats, k: int, *, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._by_gaps(LocalModel._nearest, queries, exclude, k=k, n_jobs=n_jobs)

    def _nearest(
        self, queries: Floats, exclude: Indices | None, *, k: int, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        points = self.transform(queries)
        if self._is_on_gpu(len(points)):
            return self._gpu_search.query(points, k, exclude=exclude, n_jobs=n_jobs)
        if self.n_candidates is None or len(points) > FEW_QUERIES:
            return self._search.query(points, k, exclude=exclude, n_jobs=n_jobs)
        n_candidates = min(max(self.n_candidates, k), self.n_rows - (exclude is not None))
        found, measured = self._shortlist(points, n_candidates, exclude)
        return smallest(measured, found, k)

    def _shortlist(
        self, points: Floats, n: int, exclude: Indices | None = None, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the n nearest rows under the class metrics, and the squared distances that these measure."""
        on_gpu = self._is_on_gpu(len(points))
        # A pass over all rows takes less time than building a search.
        if len(points) <= FEW_QUERIES and not on_gpu:
            found, _ = self.memory.nearest(points, n, exclude=exclude)
            return found, self.memory.distances(points, np.maximum(found, 0))
        coarse = self._gpu_coarse if on_gpu else self._coarse
        found, _ = coarse.query(points, n, exclude=exclude, n_jobs=n_jobs)
        return found, self.metric.distances(points, np.maximum(found, 0))

    def distances(self, queries: Floats, indices: Indices, *, n_jobs: int | None = None) -> Floats:
        def measure(model: LocalModel, queries: Floats, indices: Indices) -> Floats:
            return model.metric.distances(model.transform(queries), indices)

        return self._by_gaps(measure, queries, indices)

    def contributions(self, queries: Floats, indices: Indices) -> Floats:
        def split(model: LocalModel, queries: Floats, indices: Indices) -> Floats:
            # Of the rows in question: the levels of all rows may have to be copied first.
            rows, own = np.unique(indices, return_inverse=True)
            levels = model.memory.levels_of(rows)
            return levels.contributions(levels.encoding.transform(queries), own.reshape(indices.shape))

        return self._by_gaps(split, queries, indices)

    def feature_weights(self, *, n_jobs: int | None = None) -> Floats:
        """Return the feature weights, per standard deviation of a feature if there are curves."""
        return self._feature_weights

    @cached_property
    def _feature_weights(self) -> Floats:
        return self.levels.feature_weights(self._feature_scales)

    @cached_property
    def _feature_scales(self) -> Floats:
        """The difference in each number whose weight is the feature weight."""
        encoding = self.memory.shared.encoding
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
        search = exhaustive_search(self.metric.subset(rows))

        def kneighbors(queries: Floats, k: int, **options: Any) -> tuple[Indices, Floats]:
            return search.query(self.transform(queries), k, **options)

        return kneighbors

    def candidates(self, queries: Floats, *, n_jobs: int | None = None) -> Candidates:
        n_rows = self.n_rows
        if self.n_candidates is None or self.n_candidates >= n_rows:
            return super().candidates(queries, n_jobs=n_jobs)
        n_searched = max(self.n_candidates, self.n_voters)
        k = min(n_searched + 1, n_rows)

        def search(model: LocalModel, queries: Floats) -> tuple[Indices, Floats]:
            return model._shortlist(model.transform(queries), k, n_jobs=n_jobs)

        indices, distances = self._by_gaps(search, queries)
        return Candidates(indices, distances, n_searched)

    def kneighbors_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        return self._by_gaps(LocalModel._nearest_of_classes, queries, allowed, k=k, n_jobs=n_jobs)

    def _nearest_of_classes(
        self, queries: Floats, allowed: NDArray[np.bool_], k: int, n_jobs: int | None
    ) -> tuple[Indices, Floats]:
        points, class_metric = self.transform(queries), self._class_metric()
        indices, distances = np.full((len(points), k), -1), np.full((len(points), k), np.inf)
        for label in np.unique(self.labels):
            members, own = np.flatnonzero(self.labels == label), np.flatnonzero(allowed[:, label])
            if len(own) == 0:
                continue
            search = self._search_among(self.metric.subset(members), class_metric.subset(members), len(own))
            found, squared = search.query(points[own], min(k, len(members)), n_jobs=n_jobs)
            indices[own], distances[own] = smallest(
                np.concatenate([distances[own], squared], axis=1),
                np.concatenate([indices[own], members[found]], axis=1),
                k,
            )
        return indices, distances

    # Two threads may both build a search; either result is complete.
    @cached_property
    def _search(self) -> ExactSearch | MeasuredSearch | Shortlist:
        """The search for many queries."""
        if self.n_candidates is None:
            return exhaustive_search(self.metric)
        return Shortlist(self._coarse, self.metric, self.n_candidates)

    @cached_property
    def _coarse(self) -> ExactSearch | CellSearch:
        """The search of many queries under the class metrics."""
        metric, index = self._class_metric(), self.index
        if self.n_candidates is None:
            return coarse_search(metric)
        return ExactSearch(metric) if index is None else CellSearch(metric, index)

    def to(self, device: str) -> Self:
        if check_device(device) == self.device:
            return self
        other = copy(self)
        other.device = device
        return other

    def _is_on_gpu(self, n_queries: int) -> bool:
        return is_on_gpu(self.device, n_queries * self.n_rows)

    @cached_property
    def _gpu_search(self) -> Any:
        """The search on a GPU; a search by matrices that has no shortlist is on the CPU."""
        if self.n_candidates is not None:
            return gpu_shortlist(self._gpu_coarse, self.metric, self.n_candidates)
        return gpu_search(self.metric) if isinstance(self.metric, DiagonalMetric) else self._search

    @cached_property
    def _gpu_coarse(self) -> Any:
        """The search under the class metrics on a GPU: exact, also where that on the CPU has cells."""
        return gpu_search(self._class_metric())

    def _search_among(
        self, metric: DiagonalMetric | MatrixMetric, class_metric: DiagonalMetric, n_queries: int
    ) -> ExactSearch | MeasuredSearch | Shortlist:
        """Return a search among some of the rows, for `n_queries` queries in total."""
        if self.n_candidates is None:
            return exhaustive_search(metric)
        return Shortlist(coarse_search(class_metric, n_queries), metric, self.n_candidates)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name in STATE}


def _representative_categories(positions: CategoryPositions, most: int) -> CategoryValues:
    """Return categories that represent all of a feature: each with its share of the training rows.

    Of many categories these are quantiles along the direction in which their learned positions vary most, so
    that categories that are measured alike are represented by one of them.
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
