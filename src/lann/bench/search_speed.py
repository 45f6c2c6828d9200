"""Exact search with a metric per point against Euclidean brute force, and shortlists against kNN."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from lann.bench.timing import Figure, duel
from lann.classifier import LANNClassifier
from lann.metrics import DiagonalMetric
from lann.search import ExactSearch

N_QUERIES = 2048
K = 5
# points, features, times faster than scikit-learn, times faster than faiss
SIZES = ((100_000, 16, 3.0, 2.0), (100_000, 50, 3.0, 2.0), (20_000, 256, 1.5, 2.0))


def exact_search(n_jobs: int, repeats: int) -> Iterator[Figure]:
    """Local metrics against scikit-learn's and faiss's Euclidean search, and the bare product."""
    import faiss

    rng = np.random.default_rng(0)
    for n_points, n_features, over_sklearn, over_faiss in SIZES:
        points = rng.normal(size=(n_points, n_features))
        weights = np.exp(0.5 * rng.normal(size=(n_points, n_features)))
        queries = rng.normal(size=(N_QUERIES, n_features))
        search = ExactSearch(DiagonalMetric(points, weights))
        name = f"{n_points // 1000}k × {n_features}"
        task = "exact search, a metric per point"

        ours = partial(search.query, queries, K, n_jobs=n_jobs)
        brute = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=n_jobs).fit(points)
        yield duel(ours, partial(brute.kneighbors, queries), repeats=repeats).figure(
            task, name, "times faster than scikit-learn, Euclidean", over_sklearn, more_is_better=True
        )
        flat = faiss.IndexFlatL2(n_features)
        flat.add(points.astype(np.float32))
        single = queries.astype(np.float32)
        before = faiss.omp_get_max_threads()
        faiss.omp_set_num_threads(n_jobs)
        yield duel(ours, partial(flat.search, single, K), repeats=repeats).figure(
            task, name, "times faster than faiss flat, Euclidean", over_faiss, more_is_better=True
        )
        faiss.omp_set_num_threads(before)
        left, _ = search.metric.lift_queries(queries, np.float32)
        right = search.metric.lift_points(np.float32)
        yield duel(ours, partial(np.matmul, left, right.T), repeats=repeats).figure(
            task, name, "of the bare float32 product", 2.5, more_is_better=False
        )


def shortlist_predict(n_jobs: int, repeats: int) -> Iterator[Figure]:
    """`predict` with defaults against brute-force kNN."""
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=20_000)
    X = rng.normal(size=(20_000, 16)) + 2.0 * rng.normal(size=(5, 16))[y]
    queries = X[rng.choice(len(X), N_QUERIES)] + 0.1 * rng.normal(size=(N_QUERIES, 16))
    lann = LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
    knn = KNeighborsClassifier(K, algorithm="brute", n_jobs=n_jobs).fit(X, y)
    yield duel(lambda: lann.predict(queries), lambda: knn.predict(queries), repeats=repeats).figure(
        "predict, default shortlist",
        "20k × 16",
        "times faster than brute-force kNN",
        1.0,
        more_is_better=True,
    )
