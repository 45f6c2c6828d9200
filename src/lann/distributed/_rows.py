"""Training rows on their way from blocks to shards: kinds of features, labels, numbers and cells."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from lann._support.inputs import check_one_type, class_indices
from lann._support.rows import positions_in
from lann._support.sizes import check_values
from lann._support.threads import single_threaded_blas
from lann._support.types import Floats, Indices, Labels
from lann.columns.inputs import read_rows
from lann.columns.schema import Feature, TableSchema, array_as_table, as_table, infer_schema, names_none
from lann.metric import Levels, row_hashes
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
            return np.asarray(X)
        if len(X) == 0:  # the checks of scikit-learn need a row
            return np.empty((0, len(self.schema.features)))
        return read_rows(self.estimator, X, self.schema).astype(np.float64, copy=False)

    def read_training(self, X: Any) -> Floats:
        """Return training rows as numbers, in the type in which they are kept: (n_rows, n_features)."""
        return self.read(X).astype(self.stored)  # a copy: the rows are part of the model


def needs_values(sample: Any, categorical_features: Any) -> bool:
    """Return whether the kinds of the features follow from their values, and not from their types alone.

    Parameters
    ----------
    sample : array or table
        Of the types of all blocks.
    categorical_features : "from_dtype", array-like or None
    """
    if not names_none(categorical_features):
        return True
    table = as_table(sample)
    if table is not None:
        return not all(dtype.is_numeric() for dtype in table.schema.values())
    return getattr(np.asarray(sample), "dtype", np.dtype(object)).kind in "OUST"


def features_of_block(X: Any, categorical_features: Any, has_names: bool) -> tuple[Feature, ...]:
    """Return the features of a block of rows.

    Parameters
    ----------
    X : array or table
    categorical_features : "from_dtype", array-like or None
    has_names : bool
        Whether the columns have names of the user's.
    """
    table = as_table(X)
    if table is None:
        table = array_as_table(np.asarray(X))
    return infer_schema(table, categorical_features, has_names=has_names).features


def merge_features(blocks: Sequence[tuple[Feature, ...]], *, has_names: bool) -> TableSchema:
    """Return the schema of all blocks, given the features of each.

    Parameters
    ----------
    blocks : sequence of tuple of Feature
        Of the blocks that have rows.
    has_names : bool
        Whether the columns have names of the user's.

    Raises
    ------
    ValueError
        If a feature is of different kinds in different blocks.
    """
    return TableSchema(tuple(map(_merged, zip(*blocks, strict=True))), has_names)


def _merged(parts: tuple[Feature, ...]) -> Feature:
    features = [feature for feature in parts if feature.kind != "empty"] or parts[:1]
    first = features[0]
    kinds = list(dict.fromkeys(feature.kind for feature in features))
    if len(kinds) > 1 or (
        first.kind == "ordered" and any(f.categories != first.categories for f in features)
    ):
        raise ValueError(
            f"Feature {first.name!r} has values of different types in different blocks "
            f"({' and '.join(kinds)}); give the column one type in all of them."
        )
    if first.kind == "category":
        return replace(first, categories=tuple(sorted(set().union(*(f.categories for f in features)))))
    if first.kind == "date":
        return replace(first, unit="s" if any(feature.unit == "s" for feature in features) else "D")
    return first


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

    def take_numbers(self, numbers: Indices) -> Rows:
        """Return the rows that have one of some numbers."""
        return self.take(np.isin(self.numbers, numbers))


def count_labels(y: Any) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the distinct labels of a block, and their position for each row, in as few bytes as possible.

    Raises
    ------
    ValueError
        If a label is missing, or labels are text and something else.
    """
    labels = _as_array(y)
    if labels.dtype.kind in "fO" and pd.isna(labels).any():
        raise ValueError("y has missing labels; leave out the rows without a label.")
    check_one_type("y", labels)
    classes, codes = np.unique(labels, return_inverse=True)
    return classes, codes.astype(np.min_scalar_type(max(len(classes) - 1, 0)))


def _as_array(y: Any) -> NDArray[Any]:
    """Return a block of labels as an array; objects that are all text become an array of text."""
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.tolist()):
        return labels.astype(str)
    return labels


def check_lengths(X: Any, n_labels: int) -> None:
    """Raise ValueError unless a block has a label for each row."""
    if len(X) != n_labels:
        raise ValueError(f"A block of X has {len(X)} rows and that of y {n_labels} labels.")


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
    check_lengths(X, n_labels)
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
    labels = class_indices(_as_array(y).astype(classes.dtype, copy=False), classes)
    check_lengths(X, len(labels))
    rows = reader.read_training(X)
    if len(rows):
        check_values(rows, reader.schema.names)
    with single_threaded_blas():
        cells = partition.assign(shared.transform(rows.astype(np.float64, copy=False)), n_jobs=1)
    return Rows(np.arange(first, first + len(rows)), rows, labels, cells)


def count_cells(rows: Any, n_cells: int) -> Indices:
    """Return the number of rows of each cell, (n_cells,), of `Rows` or of a `Shard`."""
    return np.bincount(rows.cells, minlength=n_cells)


def nearest_rows(rows: Rows, queries: Rows, shared: Levels, *, k: int) -> tuple[NDArray[Any], ...]:
    """Return the k nearest distinct rows of a block to some training rows, beside these and their copies.

    Rows are copies if they are the same on the axes and have the same label. They are nearest under the class
    metrics.

    Parameters
    ----------
    rows : Rows
    queries : Rows
    shared : Levels
    k : int
        Fewer are returned where the block has fewer rows.

    Returns
    -------
    numbers, distances, cells, hashes : (n_queries, k)
        Nearest first; squared distances. Numbers are -1 where there are fewer rows. Copies of a row have the
        same hash.
    """
    points, queried = (shared.transform(part.X.astype(np.float64, copy=False)) for part in (rows, queries))
    hashes, firsts = np.unique(row_hashes(points, rows.labels), return_index=True)
    order = np.argsort(firsts)
    distinct, k = firsts[order], min(k, len(firsts))
    if k == 0:
        return tuple(np.empty((len(queried), 0), t) for t in (np.int64, float, np.int32, np.uint64))
    at = positions_in(hashes, row_hashes(queried, queries.labels))
    exclude = np.where(at < 0, -1, np.argsort(order)[at])
    metric = Levels.metric_of_classes(points[distinct], rows.labels[distinct], shared.class_log_weights)
    found, distances = ExactSearch(metric).query(queried, k, exclude=exclude, n_jobs=1)
    taken = distinct[found]
    numbers = np.where(found < 0, -1, rows.numbers[taken])
    return numbers, distances, rows.cells[taken], hashes[order][found]


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


def rows_of_cells(rows: Rows, *, cells: Indices) -> Rows:
    """Return the rows of some cells."""
    return rows.take(np.isin(rows.cells, cells))
