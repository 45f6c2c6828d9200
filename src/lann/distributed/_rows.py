"""Training rows on their way from blocks to shards, as numbers with their cells."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from lann._inputs import class_indices
from lann._table_inputs import check_sizes, read_rows
from lann._threads import single_threaded_blas
from lann._types import Floats, Indices, Labels
from lann.distributed._blocks import labels_as_array
from lann.encoding import TableSchema
from lann.metrics import Levels
from lann.search import ExactSearch, Partition


class Reader(NamedTuple):
    """What it takes to read a block of rows as numbers.

    Attributes
    ----------
    estimator : estimator or None
        With the number of features and their names; None if blocks are numbers already.
    schema : TableSchema
    stored : dtype
        Type in which training rows are kept; they are rounded to it before anything is learned.
    """

    estimator: Any
    schema: TableSchema
    stored: np.dtype[Any] = np.dtype(np.float64)

    def read(self, X: Any) -> Floats:
        """Return rows as numbers: (n_rows, n_features)."""
        if self.estimator is None:
            rows: Floats = X
            return rows
        if len(X) == 0:  # the checks of scikit-learn need a row
            return np.empty((0, len(self.schema.features)))
        return read_rows(self.estimator, X, self.schema).astype(np.float64, copy=False)

    def read_training(self, X: Any) -> Floats:
        """Return training rows as numbers, in the type in which they are kept: (n_rows, n_features)."""
        return self.read(X).astype(self.stored)  # a copy: the rows are part of the model


class Rows(NamedTuple):
    """Training rows, ascending by their numbers.

    Attributes
    ----------
    numbers : (n_rows,)
        Number of each row in the order of the blocks.
    X : (n_rows, n_features)
    labels : (n_rows,)
        Class indices.
    cells : (n_rows,)
    """

    numbers: Indices
    X: Floats
    labels: Labels
    cells: NDArray[np.int32]

    def take(self, rows: Any) -> Rows:
        """Return some of the rows: a mask, or positions in ascending order."""
        return Rows(*(values[rows] for values in self))


class LabelCounts(NamedTuple):
    """The labels of a block.

    Attributes
    ----------
    classes : (n_classes,)
        Distinct labels.
    codes : (n_rows,)
        Position of the label of each row in `classes`, in as few bytes as possible.
    """

    classes: NDArray[Any]
    codes: NDArray[Any]


def count_labels(y: Any) -> LabelCounts:
    """Return the distinct labels of a block, and which of them each row has.

    Raises
    ------
    ValueError
        If a label is missing.
    """
    labels = labels_as_array(y)
    if labels.dtype.kind in "fO" and any(label is None or label != label for label in labels.tolist()):
        raise ValueError("y has missing labels; leave out the rows without a label.")
    classes, codes = np.unique(labels, return_inverse=True)
    return LabelCounts(classes, codes.astype(np.min_scalar_type(max(len(classes) - 1, 0))))


def check_lengths(n_rows: int, n_labels: int) -> None:
    """Raise ValueError unless a block has a label for each row."""
    if n_rows != n_labels:
        raise ValueError(f"A block of X has {n_rows} rows and that of y {n_labels} labels.")


def take_rows(X: Any, positions: Indices, reader: Reader, *, n_labels: int) -> Floats:
    """Return some training rows of a block as numbers.

    Parameters
    ----------
    X : array or table
        A block.
    positions : (n,)
        In the block.
    reader : Reader
    n_labels : int
        Number of labels of the block.
    """
    check_lengths(len(X), n_labels)
    taken = X.iloc[positions] if hasattr(X, "iloc") else X[positions]
    return reader.read_training(taken).astype(np.float64, copy=False)


def assign_rows(
    X: Any,
    y: Any,
    reader: Reader,
    classes: NDArray[Any],
    shared: Levels,
    partition: Partition,
    *,
    first: int,
) -> Rows:
    """Return the rows of a block with their cells.

    Parameters
    ----------
    X, y : array or table, array-like
        A block of rows, and their labels.
    reader : Reader
    classes : (n_classes,)
    shared : Levels
        The shared levels, which lead to the axes.
    partition : Partition
    first : int
        Number of its first row.
    """
    labels = class_indices(labels_as_array(y).astype(classes.dtype, copy=False), classes)
    check_lengths(len(X), len(labels))
    rows = reader.read_training(X)
    if len(rows):
        check_sizes(rows, reader.schema)
    with single_threaded_blas():
        cells = partition.assign(shared.transform(rows.astype(np.float64, copy=False)), n_jobs=1)
    return Rows(np.arange(first, first + len(rows)), rows, labels, cells)


class HasCells(Protocol):
    """Rows with cells: (n_rows,)."""

    cells: NDArray[np.int32]


def count_cells(rows: Rows | HasCells, n_cells: int) -> Indices:
    """Return the number of rows of each cell: (n_cells,)."""
    return np.bincount(rows.cells, minlength=n_cells)


class NearRows(NamedTuple):
    """The rows of a block that are nearest to some queries under the class metrics.

    Attributes
    ----------
    numbers, distances, cells : (n_queries, k)
        Nearest first; squared distances.
    """

    numbers: Indices
    distances: Floats
    cells: NDArray[np.int32]


def nearest_rows(rows: Rows, queries: Floats, numbers: Indices, shared: Levels, *, k: int) -> NearRows:
    """Return the k nearest rows of a block to some training rows, beside these themselves.

    Parameters
    ----------
    rows : Rows
    queries : (n_queries, n_features)
    numbers : (n_queries,)
        Of the queries.
    shared : Levels
    k : int
        Fewer are returned where the block has fewer rows.
    """
    k = min(k, len(rows.numbers) - 1)
    if k < 1:
        empty = np.empty((len(queries), 0))
        return NearRows(empty.astype(np.int64), empty, empty.astype(np.int32))
    points = shared.transform(rows.X.astype(np.float64, copy=False))
    metric = Levels.metric_of_classes(points, rows.labels, shared.class_log_weights)
    first = int(rows.numbers[0])  # the rows of a block are in sequence
    inside = (numbers >= first) & (numbers < first + len(points))
    exclude = np.where(inside, numbers - first, -1)
    found, distances = ExactSearch(metric).query(shared.transform(queries), k, exclude=exclude, n_jobs=1)
    return NearRows(np.where(found < 0, -1, found + first), distances, rows.cells[found])


def split_rows(rows: Rows, shard_of_cell: Indices, n_shards: int) -> tuple[Rows, ...]:
    """Return the rows of a block by shard.

    Parameters
    ----------
    rows : Rows
    shard_of_cell : (n_cells,)
    n_shards : int
    """
    shards = shard_of_cell[rows.cells]
    order = np.argsort(shards, kind="stable")
    bounds = np.searchsorted(shards[order], np.arange(n_shards + 1))
    return tuple(rows.take(order[a:b]) for a, b in pairwise(bounds))


def join_rows(parts: Sequence[Rows]) -> Rows:
    """Return the rows of several parts, ascending by their numbers."""
    joined = Rows(*(np.concatenate(values) for values in zip(*parts, strict=True)))
    if (joined.numbers[1:] > joined.numbers[:-1]).all():
        return joined
    return joined.take(np.argsort(joined.numbers, kind="stable"))


def take_numbers(rows: Rows, numbers: Indices) -> Rows:
    """Return the rows that have one of some numbers."""
    return rows.take(np.flatnonzero(np.isin(rows.numbers, numbers)))


def rows_of_cells(rows: Rows, *, cells: Indices) -> Rows:
    """Return the rows of some cells."""
    return rows.take(np.flatnonzero(np.isin(rows.cells, cells)))
