"""The internals of `lann` that are measured by themselves; no other module of this benchmark imports any."""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Indices
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
