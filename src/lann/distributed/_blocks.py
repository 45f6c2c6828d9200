"""Rows in blocks: arrays and tables of Dask, or of this process, as one task for each block of rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed
from numpy.typing import NDArray

from lann._support.types import Floats
from lann.distributed._tasks import constant, tasks_of

# Rows in a block of an array or table that is in the memory of this process.
BLOCK_ROWS = 10_000


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks.

    Attributes
    ----------
    parts : tuple of Delayed
        Arrays or tables of rows, or arrays of labels.
    lengths : tuple of int or None
        Number of rows of each block; None where that is not known before the blocks are computed.
    sample : array or table
        A few rows, without values that mean anything: the number, names and types of the columns.
    in_memory : bool
        Whether the rows are in the memory of this process.
    """

    parts: tuple[Delayed, ...]
    lengths: tuple[int, ...] | None
    sample: Any
    in_memory: bool

    def with_lengths(self, lengths: Sequence[int]) -> Blocks:
        """Return the blocks with their numbers of rows."""
        return Blocks(self.parts, tuple(lengths), self.sample, self.in_memory)


def is_of_dask(X: Any) -> bool:
    """Return whether X is an array or table of Dask."""
    return isinstance(X, da.Array | dd.DataFrame | dd.Series)


def blocks_of_rows(X: Any) -> Blocks:
    """Return the rows of an array or table in blocks.

    Parameters
    ----------
    X : dask array, dask DataFrame, or ndarray of shape (n_rows, n_features)
        An array in the memory of this process has numbers that were checked before.
    """
    if isinstance(X, dd.DataFrame):
        return Blocks(tasks_of(X), None, _empty_table(X), False)
    if isinstance(X, da.Array):
        if X.ndim != 2:
            raise ValueError(f"X must have two dimensions, rows and features; got shape {X.shape}.")
        if X.numblocks[1] > 1:
            X = X.rechunk({1: -1})
        return Blocks(tasks_of(X), _known(X.chunks[0]), np.empty((0, X.shape[1]), X.dtype), False)
    return _blocks_in_memory(X)


def _empty_table(X: dd.DataFrame) -> pd.DataFrame:
    """Return a table without rows that has the columns of a table of Dask; raise ValueError without any."""
    if not len(X.columns):
        raise ValueError("A table needs rows and columns; got 0 columns.")
    empty = pd.concat([pd.Series(dtype=dtype) for dtype in X.dtypes], axis=1)
    return empty.set_axis(X.columns, axis=1)


def blocks_of_labels(y: Any, rows: Blocks) -> Blocks:
    """Return labels in the blocks of their rows.

    Parameters
    ----------
    y : dask array, dask Series or array-like of shape (n_rows,)
    rows : Blocks
        Of the rows, with lengths unless y is of Dask.

    Raises
    ------
    ValueError
        If the labels are not in as many blocks as the rows, or the numbers of rows differ.
    """
    if isinstance(y, dd.DataFrame):
        if len(y.columns) != 1:
            raise ValueError(f"y must have one column of labels; got {len(y.columns)} columns.")
        y = y[y.columns[0]]
    if isinstance(y, da.Array):
        y = _one_dimensional(y)
        lengths = _known(y.chunks[0])
        if lengths is not None and rows.lengths is not None and lengths != rows.lengths:
            if sum(lengths) != sum(rows.lengths):
                raise ValueError(_DIFFER.format(sum(rows.lengths), sum(lengths)))
            y, lengths = y.rechunk((rows.lengths,)), rows.lengths
        found = Blocks(tasks_of(y), lengths, np.empty(0, y.dtype), False)
    elif isinstance(y, dd.Series):
        found = Blocks(tasks_of(y), None, np.empty(0), False)
    else:
        return _labels_in_memory(y, rows)
    if len(found.parts) != len(rows.parts):
        raise ValueError(
            f"X has {len(rows.parts)} blocks and y has {len(found.parts)}; give both with the same "
            "partitions, or as arrays whose chunks are known."
        )
    return found


_DIFFER = "X has {} rows and y has {} labels; there has to be a label for each row."


def _one_dimensional(y: da.Array) -> da.Array:
    if y.ndim == 2 and y.shape[1] == 1:
        return y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, a label for each row; got an array of shape {y.shape}.")
    return y


def _labels_in_memory(y: Any, rows: Blocks) -> Blocks:
    if rows.lengths is None:
        raise ValueError(
            "The lengths of the blocks of X are not known; give y as an array or series of Dask with the "
            "same blocks, or call X.compute_chunk_sizes() first."
        )
    if y is None:
        raise ValueError("y is None; a classifier needs a label for each row.")
    labels = np.asarray(y)
    if labels.ndim == 2 and labels.shape[1] == 1:
        labels = labels[:, 0]
    if labels.ndim != 1:
        raise ValueError(f"y must have one dimension, a label for each row; got shape {labels.shape}.")
    if len(labels) != sum(rows.lengths):
        raise ValueError(_DIFFER.format(sum(rows.lengths), len(labels)))
    bounds = np.cumsum([0, *rows.lengths])
    parts = tuple(constant(labels[a:b]) for a, b in pairwise(bounds))
    return Blocks(parts, rows.lengths, labels[:0], True)


def _blocks_in_memory(X: Floats) -> Blocks:
    """Return the blocks of an array of numbers, which was checked before."""
    starts = range(0, len(X), BLOCK_ROWS)
    parts = tuple(constant(X[start : start + BLOCK_ROWS]) for start in starts)
    return Blocks(parts, tuple(min(BLOCK_ROWS, len(X) - start) for start in starts), X[:0], True)


def _known(lengths: Sequence[Any]) -> tuple[int, ...] | None:
    return None if np.isnan(np.array(lengths, float)).any() else tuple(int(n) for n in lengths)


def array_of_blocks(
    parts: Sequence[Delayed], lengths: Sequence[int] | None, width: tuple[int, ...], dtype: Any
) -> da.Array:
    """Return the array whose blocks of rows are the results of tasks.

    Parameters
    ----------
    parts : sequence of Delayed
    lengths : sequence of int or None
        Number of rows of each; None is unknown.
    width : tuple of int
        The shape of a row, () for one number.
    dtype : dtype
    """
    sizes: Sequence[Any] = [np.nan] * len(parts) if lengths is None else lengths
    empty = np.empty((0,) * (1 + len(width)), dtype)
    arrays = [
        da.from_delayed(part, shape=(size, *width), dtype=dtype, meta=empty)
        for part, size in zip(parts, sizes, strict=True)
    ]
    return da.concatenate(arrays, allow_unknown_chunksizes=True) if len(arrays) > 1 else arrays[0]


def labels_as_array(y: Any) -> NDArray[Any]:
    """Return a block of labels as an array; objects that are all text become an array of text."""
    labels = np.asarray(y)
    if labels.dtype.kind == "O" and all(isinstance(label, str) for label in labels.tolist()):
        return labels.astype(str)
    return labels
