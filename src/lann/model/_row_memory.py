"""Training rows that can be added, adapted and forgotten without a copy of all others."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from lann import _native
from lann._support.types import Floats, Indices
from lann.metric import DiagonalMetric, Encoding, Levels, MatrixMetric, measure_pairs
from lann.search import CellIndex, CellSearch, coarse_search, n_cells_of

# Rows for which a new array has room, at least.
FEWEST_ROWS = 16
# Up to this many queries are answered by a pass over all rows.
FEW_QUERIES = 16
# Rows that are stored beyond those that are in use, at most, as a multiple of these, and in addition.
MOST_STORED, SPARE_ROWS = 2, 64
# What training rows have, beside their metrics.
OF_ROWS = ("X", "labels", "values", "row_weights")
NONE: Indices = np.empty(0, np.int64)
NO_CELLS: NDArray[np.int32] = np.empty(0, np.int32)
ALL_CELLS: NDArray[np.bool_] = np.empty((0, 0), np.bool_)


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
    shared : Levels
        The levels that all rows share, without rows.
    n_rows, n_arrived : int
    class_counts : (n_classes,)
        Number of rows of each class.
    """

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
        self.shared = levels.subset(NONE)
        self.class_counts = np.bincount(levels.labels, minlength=len(levels.class_log_weights))
        stored = {
            "X": levels.X,
            "labels": levels.labels,
            "values": levels.values,
            "points": levels.points,
            "arrivals": np.arange(n_rows) if arrivals is None else arrivals,
            "row_weights": levels.row_weights,
            "cells": None if index is None else index.cells,
        }
        self._index = index
        self._rows = {name: Buffer(values) for name, values in stored.items() if values is not None}
        self._metrics = {name: Buffer(values) for name, values in _metrics_of(levels).items()}
        # Where the rows are in the arrays, and where the metric of each stored row is; None is in order.
        self._alive: Indices | None = None
        self._slots: Indices | None = None
        self.__dict__["levels"] = levels

    def values(self, name: str, rows: Indices | None = None) -> Any:
        """Return values of all or some rows; None if rows have none.

        Parameters
        ----------
        name : {"X", "labels", "values", "arrivals", "points", "row_weights", "cells"}
        rows : ndarray of int of any shape, or None
        """
        if name not in self._rows:
            return None
        stored = self._rows[name].head(self._n_stored)
        positions = self._stored(rows)
        return stored if isinstance(positions, slice) else stored[positions]

    @property
    def index(self) -> CellIndex | None:
        """The cells of the rows under the class metric; None if there are none."""
        return None if self._index is None else replace(self._index, cells=self.values("cells"))

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

    def with_index(self, index: CellIndex | None) -> RowMemory:
        """Return the memory with other cells, or none; the rows stay where they are."""
        other = self._changed()
        other._rows.pop("cells", None)
        other._index = index
        if index is not None:
            cells = np.zeros(self._n_stored, np.int32)
            cells[self._stored(None)] = index.cells
            other._rows["cells"] = Buffer(cells)
        return other

    def _stored(self, rows: Indices | None) -> Any:
        """Return where some rows are in the arrays; None is all of them."""
        if rows is None:
            return slice(None) if self._alive is None else self._alive
        return rows if self._alive is None else self._alive[rows]

    def _metric_values(self, name: str, stored: Indices | slice) -> NDArray[Any]:
        values = self._metrics[name].head(self._n_metrics)
        return values[stored if self._slots is None else self._slots[stored]]

    @cached_property
    def levels(self) -> Levels:
        """The rows and their metrics in arrays of their own."""
        return self.levels_of(None)

    def levels_of(self, rows: Indices | None) -> Levels:
        """Return some of the rows and their metrics; None is all of them."""
        stored = self._stored(rows)
        return self.shared.replace(
            **{name: self.values(name, rows) for name in OF_ROWS},
            point_log_weights=self._metric_values("log_weights", stored),
            point_matrices=self._metric_values("matrices", stored) if "matrices" in self._metrics else None,
        )

    def local_metric(self) -> DiagonalMetric | MatrixMetric:
        """Return the metric in which every row measures with its own weights or matrix."""
        points, stored = self.values("points"), self._stored(None)
        if "scaled" in self._metrics:
            return MatrixMetric(points, self._metric_values("scaled", stored))
        return DiagonalMetric(points, self._metric_values("weights", stored))

    def nearest(
        self,
        points: Floats,
        k: int,
        *,
        exclude: Indices | None = None,
        label: int | None = None,
        n_jobs: int | None = None,
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query under the class metric: see `ExactSearch.query`.

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
            return self._scan(points, k, exclude, label)
        labels = self.values("labels")
        metric = Levels.metric_of_classes(self.values("points"), labels, self.shared.class_log_weights)
        if label is None:
            index = self.index
            search = coarse_search(metric, len(points)) if index is None else CellSearch(metric, index)
            return search.query(points, k, exclude=exclude, n_jobs=n_jobs)
        members = np.flatnonzero(labels == label)
        found, distances = coarse_search(metric.subset(members), len(points)).query(points, k, n_jobs=n_jobs)
        return members[found], distances

    def _scan(
        self, points: Floats, k: int, exclude: Indices | None, label: int | None
    ) -> tuple[Indices, Floats]:
        """Return the k nearest rows of each query by one pass over all rows, which needs nothing to be built.

        With cells, only rows in those nearest to a query are searched, unless too few are found.
        """
        points = np.ascontiguousarray(points, dtype=np.float64)
        stored, labels = (self._rows[name].head(self._n_stored) for name in ("points", "labels"))
        alive = NONE if self._alive is None else self._alive
        cells, probed = NO_CELLS, ALL_CELLS
        if self._index is not None and label is None:
            cells, probed = self._rows["cells"].head(self._n_stored), self._index.probed_mask(points, k)
        excluded = np.full(len(points), -1) if exclude is None else exclude
        indices, distances = np.empty((len(points), k), np.int64), np.empty((len(points), k))
        _native.scan_points(
            points, stored, labels, np.exp(self.shared.class_log_weights), alive, cells, probed, excluded,
            -1 if label is None else label, indices, distances,
        )  # fmt: skip
        return indices, distances

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
        name = "scaled" if "scaled" in self._metrics else "weights"
        own = self._metric_values(name, self._stored(rows.ravel()))
        at = self.values("points", rows.ravel())
        return measure_pairs(points, at, own, np.arange(rows.size).reshape(rows.shape))

    def with_encoding(self, encoding: Encoding) -> RowMemory:
        """Return the memory with an encoding that has further categories; all rows stay where they are."""
        other = self._changed()
        other.shared = self.shared.replace(encoding=encoding)
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
        if added.values is not None:
            rows["values"] = added.values
        if self._index is not None:
            rows["cells"] = self._index.partition.assign(points)
        if added.row_weights is not None or "row_weights" in self._rows:
            rows["row_weights"] = np.ones(n_new) if added.row_weights is None else added.row_weights
            other._rows.setdefault("row_weights", Buffer(np.ones(self._n_stored)))
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
        lost = np.bincount(self.values("labels", rows), minlength=len(self.class_counts))
        other.class_counts = self.class_counts - lost
        other._alive = np.delete(alive, rows)
        other.n_rows = len(other._alive)
        return other._compact_if_sparse()

    def _append_metrics(self, levels: Levels) -> None:
        # The weights follow from the log weights as they are stored.
        levels = levels.stored_as(levels.X.dtype, self.shared.point_log_weights.dtype)
        for name, values in _metrics_of(levels).items():
            self._metrics[name] = self._metrics[name].appended(self._n_metrics, values)
        self._n_metrics += len(levels.X)

    def _changed(self) -> RowMemory:
        """Return a copy that shares all arrays, without the levels that are computed from them."""
        other = RowMemory.__new__(RowMemory)
        other.__dict__ |= self.__dict__
        other._rows, other._metrics = dict(self._rows), dict(self._metrics)
        other.__dict__.pop("levels", None)
        return other

    def __reduce__(self) -> tuple[Any, ...]:
        # Saved without the arrays that follow from the levels, and without rows that are not in use.
        values = {"arrivals": self.values("arrivals"), "n_arrived": self.n_arrived, "index": self.index}
        return partial(RowMemory, **values), (self.levels,)

    def _compact_if_sparse(self) -> RowMemory:
        """Return the memory with arrays of its own, if too much of the shared ones is not in use."""
        most = MOST_STORED * self.n_rows + SPARE_ROWS
        if self._n_stored > most or self._n_metrics > most:
            stored = np.arange(self._n_stored) if self._alive is None else self._alive
            metrics = {name: Buffer(self._metric_values(name, stored)) for name in self._metrics}
            self._rows = {
                name: Buffer(buffer.head(self._n_stored)[stored]) for name, buffer in self._rows.items()
            }
            self._metrics, self._alive, self._slots = metrics, None, None
            self._n_stored = self._n_metrics = self.n_rows
        return self


def _metrics_of(levels: Levels) -> dict[str, NDArray[Any]]:
    """Return what is stored of the metric of each row."""
    stored = {"log_weights": levels.point_log_weights}
    if levels.point_matrices is None:
        return stored | {"weights": levels.weights}
    return stored | {"matrices": levels.point_matrices, "scaled": levels.scaled_matrices()}
