"""The internals of `lann` that are measured by themselves; no other module of this benchmark imports any."""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Indices
from benchmarks.engine import Values, seconds_of
from benchmarks.scale.planted import Rows
from lann import LANNClassifier
from lann.model import LocalModel
from lann.search import ExactSearch, Shortlist


def exact_neighbors(classifier: LANNClassifier, X: Rows, k: int) -> Indices:
    """Return the k nearest rows; candidates come from an exact search of all rows under the class metrics."""
    model, queries = classifier.model_, np.asarray(X, dtype=np.float64)
    assert isinstance(model, LocalModel)
    if model.n_candidates is None:
        return model.kneighbors(queries, k, n_jobs=classifier.n_jobs)[0]
    search = Shortlist(ExactSearch(model.levels.class_metric()), model.metric, model.n_candidates)
    return search.query(model.transform(queries), k, n_jobs=classifier.n_jobs)[0]


def cell_figures(classifier: LANNClassifier, X: Rows) -> Values:
    """Return the number of cells, how many a query searches, and the time to find the cell of a row.

    There are none where the rows are so few that all are searched.
    """
    model = classifier.model_
    assert isinstance(model, LocalModel)
    index = model.index
    if index is None:
        return {}
    points = model.transform(np.asarray(X, dtype=np.float64))
    seconds = seconds_of(lambda: index.partition.assign(points, n_jobs=classifier.n_jobs))
    return {
        "n_cells": index.partition.n_cells,
        "n_probed": index.n_probed,
        "assign_seconds": seconds / len(points),
    }
