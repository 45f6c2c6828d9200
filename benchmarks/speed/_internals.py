"""The internals of `lann` that are timed by themselves; no other module of this benchmark imports any."""

from __future__ import annotations

import numpy as np

from benchmarks.common.arrays import Floats, Indices, Labels
from lann import LANNClassifier
from lann.metrics import DiagonalMetric, Levels
from lann.model import LocalModel, RowMemory
from lann.search import CellIndex, CellSearch, ExactSearch
from lann.training import OnlineSettings, Settings, extend
from lann.training._online_weights import OnlineWeights


def exact_search(points: Floats, weights: Floats) -> ExactSearch:
    """Return an exact search among points of which each has its own feature weights."""
    return ExactSearch(DiagonalMetric(points, weights))


def float32_factors(search: ExactSearch, queries: Floats) -> tuple[Floats, Floats]:
    """Return the two matrices whose product is the core of an exact search, in single precision."""
    return search.metric.lift_queries(queries, np.float32)[0], search.metric.lift_points(np.float32)


def compile_cell_search(points: Floats) -> None:
    """Compile or load the kernels of the search of cells, which a fit on many rows uses."""
    metric = DiagonalMetric(points, np.ones(points.shape))
    search = CellSearch(metric, CellIndex.build(metric))
    search.query(points, 5, exclude=np.arange(len(points)))


def online_pass(X: Floats, y: Labels, rows: Indices, *, k: int, rate: float, n_jobs: int) -> Floats:
    """Return the weights after one epoch of the published algorithm, as the library computes it."""
    n_classes = int(y.max()) + 1
    rule = OnlineSettings(n_neighbors=k).loss_rule(n_classes, 1.0)
    updates = OnlineWeights(Levels.plain(X, y, n_classes), rule, 1e-3, "norm", n_jobs=n_jobs)
    updates.train_pass(rows, rate)
    return updates.metric.weights


def add_by_rebuilding(classifier: LANNClassifier, X: Floats, y: Labels) -> None:
    """Add rows and train on them as `partial_fit` does, in a model that is built again from all rows.

    That is copies of all arrays, estimates of typical distances, and the search for many queries.
    """
    model = classifier.model_
    labels = np.searchsorted(classifier.classes_, y)
    rule = model.vote_rule
    memory = RowMemory(model.levels)
    extended = extend(memory, X, labels, Settings(n_jobs=classifier.n_jobs)).memory
    rebuilt = LocalModel(
        extended.levels,
        n_candidates=model.n_candidates,
        n_neighbors=model.n_neighbors,
        power=rule.power,
        floor=rule.floor,
        n_jobs=classifier.n_jobs,
    )
    rebuilt.prepare_search()
    classifier.model_ = rebuilt
