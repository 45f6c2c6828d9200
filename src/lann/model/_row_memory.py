"""Training rows that can be added, adapted and forgotten without a copy of all others."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from lann._support.sizes import Limits
from lann._support.types import Floats, Indices, Labels
from lann.metric import DiagonalMetric, Encoding, Levels, MatrixMetric, apply_map, join_weights, measure_pairs
from lann.search import ALL_CELLS, CellIndex, CellSearch, ScanPoints, coarse_search, find_nearest, n_cells_of

RECENT, RESERVOIR, BALANCED = POLICIES = ("recent", "reservoir", "balanced")
# Rows that are ranked at once.
BLOCK_ROWS = 1 << 18


def rows_to_forget(policy: str, labels: Labels, arrivals: Indices, n_kept: int, *, seed: int = 0) -> Indices:
    """Return the rows to forget, so that `n_kept` remain.

    Parameters
    ----------
    policy : {"recent", "reservoir", "balanced"}
        "recent" keeps the last rows. "reservoir" keeps a uniform sample of all rows that have arrived so far:
        every row has a random rank, which depends on `seed` and its arrival only, and the highest ranks are
        kept. "balanced" keeps a sample of each class, of sizes that are as equal as possible.
    labels : ndarray of shape (n_rows,)
        Class indices.
    arrivals : ndarray of shape (n_rows,)
        The number of each row in the order of their arrival, ascending.
    n_kept : int
        Number of rows to keep.
    seed : int, default=0

    Returns
    -------
    rows : ndarray of shape (n_rows - n_kept,)
        Ascending; empty if there are no more rows than that.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.model import rows_to_forget
    >>> labels, arrivals = np.array([0, 0, 0, 1]), np.arange(4)
    >>> rows_to_forget("recent", labels, arrivals, 2)
    array([0, 1])
    >>> forgotten = rows_to_forget("balanced", labels, arrivals, 2)
    >>> labels[forgotten]
    array([0, 0])
    """
    n_forgotten = max(len(labels) - n_kept, 0)
    if policy == RECENT or n_forgotten == 0:
        return np.arange(n_forgotten)
    ranks = random_ranks(arrivals, np.uint64(seed))
    if policy == RESERVOIR:
        return np.sort(np.argpartition(ranks, n_forgotten - 1)[:n_forgotten])
    forgotten = []
    for label, n_lost in enumerate(_excess(np.bincount(labels), n_forgotten)):
        if n_lost > 0:
            members = np.flatnonzero(labels == label)
            forgotten.append(members[np.argpartition(ranks[members], n_lost - 1)[:n_lost]])
    return np.sort(np.concatenate(forgotten))


def rows_to_learn_from(
    policy: str,
    labels_of: Callable[[slice], Labels],
    n_rows: int,
    n_kept: int,
    n_others: int,
    *,
    seed: int = 0,
) -> Indices:
    """Return the rows that a model keeps, as `rows_to_forget` chooses them, and a uniform sample of others.

    Memory is needed for these rows and a block of labels only.

    Parameters
    ----------
    policy : {"recent", "reservoir", "balanced"}
    labels_of : callable
        Returns the class indices of a slice of the rows.
    n_rows : int
        Number of all rows, more than are kept. Their arrivals are 0, 1, …
    n_kept, n_others : int
    seed : int, default=0

    Returns
    -------
    rows : ndarray of shape (at most n_kept + n_others,)
        Ascending.

    Examples
    --------
    >>> import numpy as np
    >>> from lann.model import rows_to_learn_from
    >>> labels = np.repeat([0, 1], [999_997, 3])
    >>> rows = rows_to_learn_from("balanced", lambda part: labels[part], len(labels), 10, 20)
    >>> len(rows), rows[-3:].tolist()
    (30, [999997, 999998, 999999])
    """
    parts = [slice(start, min(start + BLOCK_ROWS, n_rows)) for start in range(0, n_rows, BLOCK_ROWS)]
    kept: Indices = np.empty(0, np.int64)
    if policy == RECENT:
        kept = np.arange(n_rows - n_kept, n_rows)
    elif policy == BALANCED:
        counts = np.zeros(0, np.int64)
        for part in parts:
            own = np.bincount(labels_of(part), minlength=len(counts))
            counts = own + np.pad(counts, (0, len(own) - len(counts)))
        sizes = counts - _excess(counts, n_rows - n_kept)
        by_class = [HighestRanks(int(size)) for size in sizes]
        for part in parts:
            labels = labels_of(part)
            for label, highest in enumerate(by_class):
                highest.add(part.start + np.flatnonzero(labels == label), seed)
        kept = np.concatenate([highest.rows for highest in by_class])
    # The best of the others are among so many of all rows, whichever are kept.
    highest = HighestRanks(n_kept + n_others)
    for part in parts:
        highest.add(np.arange(part.start, part.stop), seed)
    others = highest.descending()
    others = others[~np.isin(others, kept)][: n_kept + n_others - len(kept)]
    return np.sort(np.concatenate([kept, others]))


class HighestRanks:
    """The rows with the highest random ranks, a uniform sample of rows that are added block by block.

    Parameters
    ----------
    n_rows : int
        Number of rows that are kept.

    Attributes
    ----------
    rows : ndarray of shape (at most n_rows,)

    Examples
    --------
    >>> import numpy as np
    >>> from lann.model import HighestRanks
    >>> sample = HighestRanks(3)
    >>> for start in range(0, 1_000_000, 100_000):
    ...     sample.add(np.arange(start, start + 100_000), seed=0)
    >>> len(sample.rows)
    3
    """

    def __init__(self, n_rows: int) -> None:
        self._n_rows = n_rows
        self.rows: Indices = np.empty(0, np.int64)
        self._ranks = np.empty(0, np.uint64)

    def add(self, rows: Indices, seed: int) -> None:
        """Add rows, by the numbers of their arrival."""
        ranks = random_ranks(rows, np.uint64(seed))
        if len(self.rows) == self._n_rows > 0:
            is_higher = ranks > self._ranks.min()
            rows, ranks = rows[is_higher], ranks[is_higher]
        self.rows, self._ranks = np.concatenate([self.rows, rows]), np.concatenate([self._ranks, ranks])
        n_lost = len(self.rows) - self._n_rows
        if n_lost > 0:
            highest = np.argpartition(self._ranks, n_lost)[n_lost:] if self._n_rows else slice(0)
            self.rows, self._ranks = self.rows[highest], self._ranks[highest]

    def descending(self) -> Indices:
        """Return the rows with the highest ranks first."""
        return self.rows[np.argsort(self._ranks)[::-1]]


def _excess(counts: Indices, n_forgotten: int) -> Indices:
    """Return how many rows each class loses, if they are taken one by one from the largest class."""
    order = np.argsort(-counts, kind="stable")
    sizes = counts[order]
    # The largest `n` classes come down to the size of the next one, until that takes away enough.
    n_largest = np.arange(1, len(sizes) + 1)
    taken = np.cumsum(sizes) - n_largest * np.append(sizes[1:], 0)
    n = int(np.searchsorted(taken, n_forgotten)) + 1
    total = int(sizes[:n].sum()) - n_forgotten  # of these classes, afterwards
    lost = np.zeros(len(counts), np.int64)
    # Of sizes that differ by one, the smaller ones are those of the first classes.
    largest = np.sort(order[:n])
    lost[largest] = counts[largest] - (total + np.arange(n)) // n
    return lost


@njit(nogil=True, cache=True)
def random_ranks(arrivals, seed):
    """Return a random number for each row that depends on its arrival and the seed only: (n_rows,) uint64."""
    ranks = np.empty(arrivals.shape[0], np.uint64)
    start = _mixed(seed + np.uint64(0x9E3779B97F4A7C15))
    for i in range(arrivals.shape[0]):
        ranks[i] = _mixed(start + np.uint64(arrivals[i]) * np.uint64(0x9E3779B97F4A7C15))
    return ranks


@njit(nogil=True, cache=True)
def _mixed(value):
    """Return a number all of whose bits depend on all bits of a given one."""
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


# Rows for which a new array has room, at least.
FEWEST_ROWS = 16


class Buffer:
    """An array whose first rows never change, and that has room for further ones.

    Several versions of a table share it, each with the number of rows that it has: what is appended for a
    later version does not change an earlier one. Appending one row takes constant time on average, as the
    capacity is doubled where it does not suffice.

    Parameters
    ----------
    rows : ndarray of shape (n_rows, ...)
    """

    def __init__(self, rows: NDArray[Any]) -> None:
        self._rows, self._n_used = rows, len(rows)

    @property
    def dtype(self) -> np.dtype[Any]:
        """Type of the values, to which those that are appended are converted."""
        return self._rows.dtype

    def head(self, n_rows: int) -> NDArray[Any]:
        """Return the first rows, without a copy."""
        return self._rows if n_rows == len(self._rows) else self._rows[:n_rows]

    def appended(self, n_before: int, rows: NDArray[Any]) -> Buffer:
        """Return a buffer with the first `n_before` rows of this one, and others after them.

        It is this one where there is room, and where the rows that follow are not those of another version.
        """
        n_after = n_before + len(rows)
        if n_before == self._n_used and n_after <= len(self._rows):
            self._rows[n_before:n_after] = rows
            self._n_used = n_after
            return self
        capacity = max(2 * n_before, n_after, FEWEST_ROWS)
        grown: NDArray[Any] = np.empty((capacity, *self._rows.shape[1:]), self._rows.dtype)
        grown[:n_before] = self._rows[:n_before]
        grown[n_before:n_after] = rows
        buffer = Buffer(grown)
        buffer._n_used = n_after
        return buffer


# Up to this many queries are answered by a pass over all rows.
FEW_QUERIES = 16
# Rows that are stored beyond those that are in use, at most, as a multiple of these, and in addition.
MOST_STORED, SPARE_ROWS = 2, 64
NONE: Indices = np.empty(0, np.int64)
NO_CELLS: NDArray[np.int32] = np.empty(0, np.int32)


class RowMemory:
    """Training rows and their metrics, as a version of a table that changes row by row.

    Every change returns a new memory; earlier ones stay as they are. They share arrays: rows are appended to
    the arrays of the earlier version, and the changed metric of a row is appended to those of all metrics.
    A version consists of the positions of its rows and metrics in these arrays. A change of a few rows
    therefore copies these positions, which is less than a search reads, and the arrays only where more than
    half of what they have is not in use any more.

    Parameters
    ----------
    levels : Levels
    arrivals : (n_rows,) or None
        The number of each row in the order in which all rows have arrived, ascending; None is 0, 1, …
    n_arrived : int or None
        How many rows have arrived, those that were forgotten included; None is the number of rows.
    index : CellIndex or None
        The cells of the rows under the class metric, if there are any.

    Attributes
    ----------
    n_rows : int
    n_arrived : int
    class_counts : (n_classes,)
        Number of rows of each class.
    encoding : Encoding
    class_log_weights, components
        The shared levels.
    """

    encoding: Encoding
    class_log_weights: Floats
    components: Floats | None

    def __init__(
        self,
        levels: Levels,
        *,
        arrivals: Indices | None = None,
        n_arrived: int | None = None,
        index: CellIndex | None = None,
    ) -> None:
        n_rows = len(levels.X)
        self.n_rows = self._n_stored = self._n_metrics = n_rows
        self.n_arrived = n_rows if n_arrived is None else n_arrived
        self.encoding, self.components = levels.encoding, levels.components
        self.class_log_weights, self._class_weights = (
            levels.class_log_weights,
            np.exp(levels.class_log_weights),
        )
        self.class_counts = np.bincount(levels.labels, minlength=len(levels.class_log_weights))
        stored: dict[str, NDArray[Any]] = {
            "X": levels.X,
            "labels": levels.labels,
            "points": levels.points,
            "arrivals": np.arange(n_rows) if arrivals is None else arrivals,
        }
        if levels.row_weights is not None:
            stored["row_weights"] = levels.row_weights
        if index is not None:
            stored["cells"] = index.cells
        self._index = index
        self._rows = {name: Buffer(values) for name, values in stored.items()}
        metrics = _metrics_of(levels)
        self._metrics = {name: Buffer(values) for name, values in metrics.items()}
        # Where the rows are in the arrays, and where the metric of each stored row is; None is in order.
        self._alive: Indices | None = None
        self._slots: Indices | None = None
        self.__dict__["levels"] = levels

    @property
    def X(self) -> Floats:
        """The rows, in the user's units: (n_rows, n_features)."""
        return self._values("X")

    @property
    def X_type(self) -> np.dtype[Any]:
        """The type in which the rows are stored."""
        return self._rows["X"].dtype

    @property
    def labels(self) -> Labels:
        """Their class indices: (n_rows,)."""
        return self._values("labels")

    @property
    def arrivals(self) -> Indices:
        """The number of each row in the order of their arrival: (n_rows,)."""
        return self._values("arrivals")

    @property
    def points(self) -> Floats:
        """The rows on the axes: (n_rows, n_axes)."""
        return self._values("points")

    @property
    def row_weights(self) -> Floats | None:
        """As how many rows each of them counts: (n_rows,); None is 1 for all."""
        return self._values("row_weights") if "row_weights" in self._rows else None

    @property
    def index(self) -> CellIndex | None:
        """The cells of the rows under the class metric; None if there are none."""
        return None if self._index is None else replace(self._index, cells=self._values("cells"))

    @property
    def has_index(self) -> bool:
        return self._index is not None

    @property
    def index_is_old(self) -> bool:
        """Whether the cells no longer suit the rows.

        More than half of these can have arrived after the cells were determined, or so many are gone that
        there would be two thirds as many cells at most.
        """
        if self._index is None:
            return False
        n_new, n_cells = self.n_arrived - self._index.n_seen, self._index.partition.n_cells
        return 2 * n_new > self.n_rows or 2 * n_cells > 3 * n_cells_of(self.n_rows)

    @property
    def rows_type(self) -> np.dtype[Any]:
        """The type of the numbers of the rows."""
        return self._rows["X"].head(1).dtype

    def with_index(self, index: CellIndex | None) -> RowMemory:
        """Return the memory with other cells, or none; the rows stay where they are."""
        other = self._changed()
        other._rows.pop("cells", None)
        other._index = index
        if index is not None:
            cells = np.zeros(self._n_stored, np.int32)
            cells[slice(None) if self._alive is None else self._alive] = index.cells
            other._rows["cells"] = Buffer(cells)
        return other

    def labels_with(self, labels: Labels, row_weights: Floats | None) -> tuple[Labels, Floats | None]:
        """Return the class indices and the weights of the rows with those of others after them."""
        both = join_weights((self.row_weights, self.n_rows), (row_weights, len(labels)))
        return np.concatenate([self.labels, labels]), both

    def _values(self, name: str) -> Any:
        stored = self._rows[name].head(self._n_stored)
        return stored if self._alive is None else stored[self._alive]

    def values_of(self, name: str, rows: Indices) -> Any:
        """Return the values of some rows: of "X", "labels", "arrivals", "points" or "row_weights"."""
        return self._rows[name].head(self._n_stored)[self._stored(rows)]

    @property
    def has_row_weights(self) -> bool:
        return "row_weights" in self._rows

    def _stored(self, rows: Indices) -> Indices:
        return rows if self._alive is None else self._alive[rows]

    def _metric_values(self, name: str, stored: Indices | slice) -> NDArray[Any]:
        values = self._metrics[name].head(self._n_metrics)
        return values[stored if self._slots is None else self._slots[stored]]

    @cached_property
    def levels(self) -> Levels:
        """The rows and their metrics in arrays of their own."""
        rows = slice(None) if self._alive is None else self._alive
        return self._levels_of(rows)

    def levels_of(self, rows: Indices) -> Levels:
        """Return some of the rows and their metrics."""
        return self._levels_of(self._stored(rows))

    def _levels_of(self, stored: Indices | slice) -> Levels:
        own = {
            name: self._rows[name].head(self._n_stored)[stored] for name in ("X", "labels", "row_weights")
            if name in self._rows
        }  # fmt: skip
        matrices = self._metric_values("matrices", stored) if "matrices" in self._metrics else None
        return Levels(
            encoding=self.encoding,
            class_log_weights=self.class_log_weights,
            components=self.components,
            point_log_weights=self._metric_values("log_weights", stored),
            point_matrices=matrices,
            **own,
        )

    def local_metric(self) -> DiagonalMetric | MatrixMetric:
        """Return the metric in which every row measures with its own weights or matrix."""
        rows = slice(None) if self._alive is None else self._alive
        if "scaled" in self._metrics:
            return MatrixMetric(self.points, self._metric_values("scaled", rows))
        return DiagonalMetric(self.points, self._metric_values("weights", rows))

    def class_metric(self) -> DiagonalMetric:
        """Return the metric in which every row measures with the weights of its class."""
        return Levels.metric_of_classes(self.points, self.labels, self.class_log_weights)

    def transform(self, X: Floats) -> Floats:
        """Return rows on the axes: (n_queries, n_axes)."""
        encoded = self.encoding.transform(X)
        return encoded if self.components is None else apply_map(encoded, self.components)

    @property
    def limits(self) -> Limits:
        """How large the values of each feature can be, so that distances are finite."""
        return self._shared_levels.limits

    @property
    def row_limits(self) -> Limits:
        """How large the values of rows that are added can be: their points are kept in the type of others."""
        return self._shared_levels.limits_in(self._rows["points"].head(1).dtype)

    @cached_property
    def _shared_levels(self) -> Levels:
        empty = np.empty((0, self.class_log_weights.shape[1]))
        return Levels(
            np.empty((0, self.encoding.n_features)),
            NONE,
            self.encoding,
            self.class_log_weights,
            empty,
            self.components,
        )

    def nearest(
        self,
        points: Floats,
        k: int,
        *,
        exclude: Indices | None = None,
        label: int | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query under the class metric: see `Search.query`.

        Parameters
        ----------
        points : (n_queries, n_axes)
            Queries on the axes.
        k : int
        exclude : (n_queries,) or None
        label : int or None
            The class to which the search is limited; None is all. It has k rows at least.
        """
        if len(points) <= FEW_QUERIES:
            probed = ALL_CELLS
            if self._index is not None and label is None:
                probed = self._index.probed_mask(points, k)
            return find_nearest(points, self._searched, k, exclude=exclude, label=label, probed=probed)
        if label is None:
            index, metric = self.index, self.class_metric()
            search = coarse_search(metric, len(points)) if index is None else CellSearch(metric, index)
            return search.query(points, k, exclude=exclude, n_jobs=n_jobs)
        members = np.flatnonzero(self.labels == label)
        search = coarse_search(self.class_metric().subset(members), len(points))
        found, distances = search.query(points, k, n_jobs=n_jobs)
        return members[found], distances

    def candidates(
        self, points: Floats, n_candidates: int, *, n_jobs: int | None = None
    ) -> tuple[Indices, Floats]:
        """Return the nearest rows under the class metric, and their distances under it."""
        return self.nearest(points, n_candidates, n_jobs=n_jobs)

    @property
    def _searched(self) -> ScanPoints:
        points, labels = (self._rows[name].head(self._n_stored) for name in ("points", "labels"))
        cells = NO_CELLS if self._index is None else self._rows["cells"].head(self._n_stored)
        alive = NONE if self._alive is None else self._alive
        return ScanPoints(points, labels, self._class_weights, alive, cells)

    def distances(self, points: Floats, rows: Indices) -> Floats:
        """Return the squared distances of each query to some rows, as these measure.

        Parameters
        ----------
        points : (n_queries, n_axes)
            Queries on the axes.
        rows : (n_queries, k)

        Returns
        -------
        distances : (n_queries, k)
        """
        stored = self._stored(rows.ravel())
        name = "scaled" if "scaled" in self._metrics else "weights"
        own = self._metric_values(name, stored)
        at = self._rows["points"].head(self._n_stored)[stored]
        return measure_pairs(points, at, own, np.arange(rows.size).reshape(rows.shape))

    def with_encoding(self, encoding: Encoding) -> RowMemory:
        """Return the memory with an encoding that has further categories; all rows stay where they are."""
        other = self._changed()
        other.encoding = encoding
        return other

    def with_rows(self, added: Levels, points: Floats) -> RowMemory:
        """Return the memory with further rows.

        Parameters
        ----------
        added : Levels
            The rows; their shared levels are those of the memory.
        points : (n_new, n_axes)
            The rows on the axes.
        """
        n_new = len(added.X)
        other = self._changed()
        rows: dict[str, NDArray[Any]] = {
            "X": added.X,
            "labels": added.labels,
            "points": points,
            "arrivals": np.arange(self.n_arrived, self.n_arrived + n_new),
        }
        if self._index is not None:
            rows["cells"] = self._index.partition.assign(points)
        if added.row_weights is not None or self.has_row_weights:
            rows["row_weights"] = np.ones(n_new) if added.row_weights is None else added.row_weights
        if "row_weights" in rows and not self.has_row_weights:
            other._rows["row_weights"] = Buffer(np.ones(self._n_stored))
        for name, values in rows.items():
            other._rows[name] = other._rows[name].appended(self._n_stored, values)
        other._append_metrics(added)
        other._n_stored += n_new
        if self._slots is not None:
            other._slots = np.concatenate([self._slots, np.arange(self._n_metrics, other._n_metrics)])
        if self._alive is not None:
            other._alive = np.concatenate([self._alive, np.arange(self._n_stored, other._n_stored)])
        other.n_rows, other.n_arrived = self.n_rows + n_new, self.n_arrived + n_new
        other.class_counts = self.class_counts + np.bincount(added.labels, minlength=len(self.class_counts))
        return other

    def with_metrics(self, rows: Indices, levels: Levels) -> RowMemory:
        """Return the memory in which some rows, distinct ones, have the point metrics of given levels."""
        other = self._changed()
        other._append_metrics(levels)
        slots = np.arange(self._n_stored) if self._slots is None else self._slots.copy()
        slots[self._stored(rows)] = np.arange(self._n_metrics, other._n_metrics)
        other._slots = slots
        return other._compact_if_sparse()

    def without_rows(self, rows: Indices) -> RowMemory:
        """Return the memory without some rows, at least one of which remains."""
        other = self._changed()
        alive = np.arange(self._n_stored) if self._alive is None else self._alive
        lost = np.bincount(self.values_of("labels", rows), minlength=len(self.class_counts))
        other.class_counts = self.class_counts - lost
        other._alive = np.delete(alive, rows)
        other.n_rows = len(other._alive)
        return other._compact_if_sparse()

    def _append_metrics(self, levels: Levels) -> None:
        # The weights follow from the log weights as they are stored.
        levels = levels.stored_as(levels.X.dtype, self._metrics["log_weights"].dtype)
        for name, values in _metrics_of(levels).items():
            self._metrics[name] = self._metrics[name].appended(self._n_metrics, values)
        self._n_metrics += len(levels.X)

    def _changed(self) -> RowMemory:
        """Return a copy that shares all arrays, without what is computed from them."""
        other = RowMemory.__new__(RowMemory)
        other.__dict__ |= self.__dict__
        other._rows, other._metrics = dict(self._rows), dict(self._metrics)
        for name in ("levels", "_shared_levels"):
            other.__dict__.pop(name, None)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # Saved without the arrays that follow from the levels, and without rows that are not in use.
        return _restored, (self.levels, self.arrivals, self.n_arrived, self.index)

    def _compact_if_sparse(self) -> RowMemory:
        """Return the memory with arrays of its own, if too much of the shared ones is not in use."""
        most = MOST_STORED * self.n_rows + SPARE_ROWS
        if self._n_stored <= most and self._n_metrics <= most:
            return self
        stored = np.arange(self._n_stored) if self._alive is None else self._alive
        metrics = {name: Buffer(self._metric_values(name, stored)) for name in self._metrics}
        self._rows = {
            name: Buffer(buffer.head(self._n_stored)[stored]) for name, buffer in self._rows.items()
        }
        self._metrics, self._alive, self._slots = metrics, None, None
        self._n_stored = self._n_metrics = self.n_rows
        return self


def _restored(levels: Levels, arrivals: Indices, n_arrived: int, index: CellIndex | None) -> RowMemory:
    return RowMemory(levels, arrivals=arrivals, n_arrived=n_arrived, index=index)


def _metrics_of(levels: Levels) -> dict[str, NDArray[Any]]:
    """Return what is stored of the metric of each row."""
    stored = {"log_weights": levels.point_log_weights}
    if levels.point_matrices is None:
        return stored | {"weights": levels.weights}
    return stored | {"matrices": levels.point_matrices, "scaled": levels.scaled_matrices()}
