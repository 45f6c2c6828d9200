"""Tasks that Dask runs on the workers of the current client or on threads, and rows in blocks."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import pairwise
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph
from sklearn.utils import column_or_1d

Key = tuple[str, int]
# Rows in a block of an array that is in the memory of this process.
BLOCK_ROWS = 10_000


def constant(value: Any) -> Delayed:
    """Return a task that returns a value, so that it is sent to each worker once and not with every task."""
    return delayed(value, pure=False, traverse=False)


class TaskGraph:
    """Tasks that are added one by one, in one layer of a graph: thousands of them cost milliseconds.

    Every task is a function without side effects of its inputs, so that Dask can run it again if the worker
    that holds its result is lost.
    """

    def __init__(self) -> None:
        self._name = f"lann-{uuid.uuid4().hex}"
        self._tasks: dict[Any, tuple[Any, ...]] = {}
        self._inputs: dict[Any, Any] = {}

    def add(self, function: Callable[..., Any], *inputs: Any, **constants: Any) -> Key:
        """Add a task; return its key.

        Parameters
        ----------
        function : callable
        *inputs : key, Delayed or list of these
            Tasks whose results are its positional arguments.
        **constants : object
            Further arguments, small ones.
        """
        name = getattr(function, "func", function).__name__  # that of a partial function, too
        key = (f"{name}-{self._name}", len(self._tasks))
        call = partial(function, **constants) if constants else function
        self._tasks[key] = (call, *(self._key_of(value) for value in inputs))
        return key

    def _key_of(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self._key_of(item) for item in value]
        if isinstance(value, Delayed):
            self._inputs[value.key] = value
            return value.key
        return value

    def results(self, keys: Sequence[Key]) -> list[Delayed]:
        """Return the results of some tasks, which Dask computes when they are needed."""
        graph = HighLevelGraph.from_collections(
            self._name, self._tasks, dependencies=list(self._inputs.values())
        )
        return [Delayed(key, graph, layer=self._name) for key in keys]


def map_tasks(
    function: Callable[..., Any], parts: Sequence[Delayed], *inputs: Any, **constants: Any
) -> list[Delayed]:
    """Return the result of a function for each of some tasks; see `TaskGraph.add`."""
    graph = TaskGraph()
    return graph.results([graph.add(function, part, *inputs, **constants) for part in parts])


def compute(results: Sequence[Any]) -> list[Any]:
    """Compute results, or lists of them, and return them to this process."""
    return list(dask.compute(*results))


def persist(results: Sequence[Delayed]) -> list[Delayed]:
    """Start to compute results, which stay on the workers."""
    return list(dask.persist(*results))


def _same(value: Any) -> Any:
    return value


def tasks_of(collection: Any) -> tuple[Delayed, ...]:
    """Return the blocks of an array, a table or a series of Dask as tasks that others can depend on.

    Blocks that are on the workers already stay there as long as these tasks exist.
    """
    is_persisted = "distributed" in sys.modules and len(sys.modules["distributed"].futures_of(collection)) > 0
    parts = collection.to_delayed(optimize_graph=not is_persisted)
    # Dask drops what is on the workers already from graphs; tasks of its own still refer to it.
    return tuple(delayed(_same, pure=False)(part) for part in list(np.ravel(parts)))


@dataclass(frozen=True)
class Blocks:
    """Rows in blocks.

    Attributes
    ----------
    parts : tuple of Delayed
        Arrays or tables of rows.
    lengths : tuple of int or None
        Number of rows of each block; None where that is not known before the blocks are computed.
    sample : array or table
        No rows, but the number, names and types of the columns.
    """

    parts: tuple[Delayed, ...]
    lengths: tuple[int, ...] | None
    sample: Any


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
        empty = pd.concat([pd.Series(dtype=dtype) for dtype in X.dtypes], axis=1)
        return Blocks(tasks_of(X), None, empty.set_axis(X.columns, axis=1))
    if not isinstance(X, da.Array):
        X = da.from_array(X, chunks=(BLOCK_ROWS, -1), name=False)
    if X.ndim != 2:
        raise ValueError(f"X must have two dimensions, rows and features; got shape {X.shape}.")
    X = X.rechunk({1: -1})
    return Blocks(tasks_of(X), _known(X.chunks[0]), np.empty((0, X.shape[1]), X.dtype))


def blocks_of_labels(y: Any, rows: Blocks) -> tuple[Delayed, ...]:
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
    if isinstance(y, dd.DataFrame) and len(y.columns) == 1:
        y = y[y.columns[0]]
    if not is_of_dask(y):
        if rows.lengths is None:
            raise ValueError(
                "The lengths of the blocks of X are not known; give y as an array or series of Dask with the "
                "same blocks, or call X.compute_chunk_sizes() first."
            )
        labels = column_or_1d(y)
        check_same([sum(rows.lengths)], [len(labels)])
        return tuple(constant(labels[a:b]) for a, b in pairwise(np.cumsum([0, *rows.lengths])))
    if y.ndim == 2 and y.shape[1] == 1:
        y = y[:, 0]
    if y.ndim != 1:
        raise ValueError(f"y must have one dimension, a label for each row; got an array of shape {y.shape}.")
    lengths = _known(y.chunks[0]) if isinstance(y, da.Array) else None
    if lengths is not None and rows.lengths is not None and lengths != rows.lengths:
        check_same([sum(rows.lengths)], [sum(lengths)])
        y = y.rechunk((rows.lengths,))
    parts = tasks_of(y)
    if len(parts) != len(rows.parts):
        raise ValueError(
            f"X has {len(rows.parts)} blocks and y has {len(parts)}; give both with the same "
            "partitions, or as arrays whose chunks are known."
        )
    return parts


def check_same(rows: Sequence[int], labels: Sequence[int]) -> None:
    """Raise ValueError unless blocks of rows and of labels have the same lengths."""
    if list(rows) != list(labels):
        raise ValueError(
            f"X has {sum(rows)} rows and y has {sum(labels)} labels; there has to be a label for each row, "
            "in the same blocks."
        )


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
