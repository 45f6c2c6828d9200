"""Graphs of tasks that Dask runs: on the workers of the current client, or on threads of this process."""

from __future__ import annotations

import sys
import uuid
from collections.abc import Callable, Sequence
from functools import partial
from typing import Any

import dask
import numpy as np
from dask.delayed import Delayed, delayed
from dask.highlevelgraph import HighLevelGraph

Key = tuple[str, int]


def constant(value: Any) -> Delayed:
    """Return a task that returns a value, so that it is sent to each worker once and not with every task."""
    return delayed(value, pure=False, traverse=False)


def same(value: Any) -> Any:
    """Return the value."""
    return value


def tasks_of(collection: Any) -> tuple[Delayed, ...]:
    """Return the blocks of an array, a table or a series of Dask as tasks that others can depend on.

    Blocks that are on the workers already stay there as long as these tasks exist.
    """
    parts = collection.to_delayed(optimize_graph=not _is_persisted(collection))
    # Dask drops what is on the workers already from graphs; tasks of its own still refer to it.
    return tuple(delayed(same, pure=False)(part) for part in list(np.ravel(parts)))


def _is_persisted(collection: Any) -> bool:
    if "distributed" not in sys.modules:
        return False
    from distributed import futures_of

    return len(futures_of(collection)) > 0


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


def compute(results: Sequence[Any]) -> list[Any]:
    """Compute results, or lists of them, and return them to this process."""
    return list(dask.compute(*results))


def persist(results: Sequence[Delayed]) -> list[Delayed]:
    """Start to compute results, which stay on the workers."""
    return list(dask.persist(*results))
