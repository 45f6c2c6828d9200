"""Shards as ordinary classifiers, one for each model file of a folder, written and read by tasks."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import fields
from typing import Any

import numpy as np

import lann.classifier
from lann.distributed._classifier import SHARED_ATTRIBUTES, DaskLANN, evenly_spaced
from lann.distributed._rows import count_cells
from lann.distributed._search import ShardedModel
from lann.distributed._shard import SearchPlan, Shard
from lann.distributed._tasks import TaskGraph, compute, constant, map_tasks, persist
from lann.metric import Levels
from lann.search import Partition

# Rows of the classifier that has what all shards share.
FEW_ROWS = 32
Write = Callable[[lann.classifier.LANNClassifier, str], Any]
Read = Callable[[str], lann.classifier.LANNClassifier]


def write_shards(fitted: DaskLANN, write: Write, names: Sequence[str], shared_name: str) -> list[Any]:
    """Write the ordinary classifier of each shard, on the worker that holds it.

    Parameters
    ----------
    fitted : DaskLANN
    write : callable
        Called with an ordinary classifier and a name.
    names : sequence of str
        A name for each shard.
    shared_name : str
        The name for a classifier of a few rows, with what all shards share.

    Returns
    -------
    written : list of object
        What `write` has returned, the one with `shared_name` first.
    """
    local, model = fitted._make_local(), fitted.model_
    few = model.take(evenly_spaced(fitted.n_samples_fit_, FEW_ROWS))
    graph, common = TaskGraph(), constant(local)
    keys = [
        graph.add(_write_shard, shard, common, write=write, name=name)
        for shard, name in zip(model.shards, names, strict=True)
    ]
    return [write(local(few), shared_name), *compute(graph.results(keys))]


def _write_shard(shard: Shard, local: Any, write: Write, name: str) -> Any:
    return write(local(shard), name)


def read_shards(
    shared: lann.classifier.LANNClassifier, read: Read, names: Sequence[str], further: dict[str, Any]
) -> DaskLANN:
    """Return the classifier of a cluster whose shards were written.

    Parameters
    ----------
    shared : lann.LANNClassifier
        The classifier with what all shards share.
    read : callable
        From a name to an ordinary classifier; called on the workers.
    names : sequence of str
        Of the shards.
    further : dict
        Parameters and fitted attributes that the ordinary classifier does not have.

    Raises
    ------
    ValueError
        If a shard does not belong to the others.
    """
    index = shared.model_.index
    if index is None:
        raise ValueError("it has no cells, and is not the shared part of a model in shards")
    n_cells, n_rows = index.partition.n_cells, shared.model_.n_arrived
    levels = shared.model_.levels.subset(np.empty(0, np.int64))
    graph, common = TaskGraph(), constant((levels, index.partition))
    shards = persist(graph.results([graph.add(read_shard, common, read=read, name=name) for name in names]))
    counts = np.array(compute(map_tasks(count_cells, shards, n_cells=n_cells)))  # (n_shards, n_cells)
    if (np.count_nonzero(counts, axis=0) > 1).any() or counts.sum() != n_rows:
        raise ValueError(f"its shards do not have the {n_rows} rows of the model, each of them once")
    shard_of_cell = np.where(counts.any(axis=0), counts.argmax(axis=0), -1)
    fitted = DaskLANN(rows_per_shard=further["rows_per_shard"])
    common = shared.get_params().keys() & fitted.get_params().keys()
    fitted.set_params(**{name: getattr(shared, name) for name in common})
    fitted.__dict__ |= {name: value for name, value in vars(shared).items() if name in SHARED_ATTRIBUTES}
    sizes, n_candidates = counts.sum(axis=0), shared.model_.n_candidates
    plan = SearchPlan(index.partition, sizes, shard_of_cell, index.n_probed, n_candidates)
    without_rows = levels.replace(point_matrices=None)
    fitted.model_ = ShardedModel(without_rows, plan, tuple(shards), shared.model_.vote_rule)
    fitted.n_samples_fit_, fitted.n_shards_ = n_rows, len(names)
    fitted.tile_losses_ = further["tile_losses_"]
    return fitted


def read_shard(shared: tuple[Levels, Partition], read: Read, name: str) -> Shard:
    """Read a shard, and check that it belongs to a model with given shared levels and partition."""
    levels, partition = shared
    model = read(name).model_
    own, index = model.levels, model.index
    has_same_parts = all(
        np.shape(getattr(own, part))[1:] == np.shape(getattr(levels, part))[1:]
        for part in ("X", "components", "point_matrices", "row_weights")
    )
    is_same = has_same_parts and np.array_equal(own.class_log_weights, levels.class_log_weights)
    if index is None or not is_same or not _is_same_partition(index.partition, partition):
        raise ValueError(f"its shard {name} is of another model")
    joined = levels.replace(
        X=own.X, labels=own.labels, point_log_weights=own.point_log_weights, point_matrices=own.point_matrices
    )
    return Shard(joined, model.arrivals, index.cells)


def _is_same_partition(first: Partition, second: Partition) -> bool:
    return all(np.array_equal(getattr(first, f.name), getattr(second, f.name)) for f in fields(Partition))
