"""faiss as plain kNN: exhaustive, and by a navigable graph."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin

from benchmarks.common.arrays import Indices, Labels
from benchmarks.engine import Values, seconds_of
from benchmarks.scale.planted import N_CLASSES, Rows

K = 5
N_LISTED = 50
LINKS, BUILD_WIDTH, SEARCH_WIDTH = 16, 40, 128
N_FOR_RECALL = 1_000
BLOCK = 10_000


class FaissNeighbors(ClassifierMixin, BaseEstimator):
    """
    Five neighbors with equal votes.

    Parameters
    ----------
    graph
        Whether to search by a graph.
    n_jobs
        Number of threads.
    """

    def __init__(self, graph: bool, n_jobs: int) -> None:
        self.graph = graph
        self.n_jobs = n_jobs

    def fit(self, X: Rows, y: Labels) -> FaissNeighbors:
        faiss: Any = import_module("faiss")
        faiss.omp_set_num_threads(self.n_jobs)
        if self.graph:
            self.index_ = faiss.IndexHNSWFlat(X.shape[1], LINKS)
            self.index_.hnsw.efConstruction = BUILD_WIDTH
            self.index_.hnsw.efSearch = SEARCH_WIDTH
        else:
            self.index_ = faiss.IndexFlatL2(X.shape[1])
        self.index_.add(X)
        self.y_ = y
        return self

    def neighbors(self, X: Rows, k: int) -> Indices:
        return self.index_.search(X, k)[1]

    def predict(self, X: Rows) -> Labels:
        labels = self.y_[self.neighbors(X, K)]
        counts = (labels[:, :, None] == np.arange(N_CLASSES)).sum(axis=1)
        return counts.argmax(axis=1)


def make(name: str, n_jobs: int, seed: int) -> FaissNeighbors:
    return FaissNeighbors(name == "faiss-hnsw", n_jobs)


def warm_up() -> None:
    """Nothing has to be compiled."""


def further(model: FaissNeighbors, X: Rows, X_test: Rows) -> Values:
    """Time the list of 50 neighbors of every training row, and measure its recall."""
    if not model.graph:
        return {}

    def list_all() -> None:
        for start in range(0, len(X), BLOCK):
            model.neighbors(X[start : start + BLOCK], N_LISTED)

    seconds = seconds_of(list_all)
    some = X[:N_FOR_RECALL]
    exact = FaissNeighbors(False, model.n_jobs).fit(X, model.y_).neighbors(some, N_LISTED)
    found = model.neighbors(some, N_LISTED)
    hits = [len(np.intersect1d(one, other)) for one, other in zip(found, exact, strict=True)]
    return {"list_seconds": seconds, "recall": float(np.sum(hits) / exact.size)}
