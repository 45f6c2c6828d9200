"""Exact search with a metric per point against Euclidean brute force, and shortlists against kNN."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors

from benchmarks.engine import Found, time_in_turns
from benchmarks.speed._internals import exact_search, float32_factors
from benchmarks.speed.figures import times_as_fast, times_as_long
from lann import LANNClassifier

N_QUERIES = 2048
K = 5
# Number of points and features; targets: times as fast as scikit-learn, as faiss.
SIZES = ((100_000, 16, 3.0, 2.0), (100_000, 50, 3.0, 2.0), (20_000, 256, 1.5, 2.0))
PREDICT_SHAPE = (20_000, 16)


def shape_name(n_rows: int, n_features: int) -> str:
    """Return the name of generated data: "100k × 16"."""
    return f"{n_rows / 1000:g}k × {n_features}"


def time_search(size: tuple[int, int, float, float], n_jobs: int, repeats: int) -> Found:
    """Compare local metrics with the Euclidean search of scikit-learn and faiss, and with the product."""
    import faiss

    n_points, n_features, over_sklearn, over_faiss = size
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_points, n_features))
    weights = np.exp(0.5 * rng.normal(size=(n_points, n_features)))
    queries = rng.normal(size=(N_QUERIES, n_features))
    search = exact_search(points, weights)
    task = "exact search, a metric per point"
    ours = partial(search.query, queries, K, n_jobs=n_jobs)

    brute = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=n_jobs).fit(points)
    found = {
        "times as fast as scikit-learn, Euclidean": times_as_fast(
            task, time_in_turns(ours, partial(brute.kneighbors, queries), repeats=repeats), over_sklearn
        )
    }
    flat = faiss.IndexFlatL2(n_features)
    flat.add(points.astype(np.float32))
    single = queries.astype(np.float32)
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    found["times as fast as faiss flat, Euclidean"] = times_as_fast(
        task, time_in_turns(ours, partial(flat.search, single, K), repeats=repeats), over_faiss
    )
    faiss.omp_set_num_threads(before)
    left, right = float32_factors(search, queries)
    found["times as long as the float32 product"] = times_as_long(
        task, time_in_turns(ours, partial(np.matmul, left, right.T), repeats=repeats), 2.5
    )
    return found


def time_predict(n_jobs: int, repeats: int) -> Found:
    """Compare `predict` with defaults to brute-force kNN."""
    n_rows, n_features = PREDICT_SHAPE
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n_rows)
    X = rng.normal(size=(n_rows, n_features)) + 2.0 * rng.normal(size=(5, n_features))[y]
    queries = X[rng.choice(len(X), N_QUERIES)] + 0.1 * rng.normal(size=(N_QUERIES, n_features))
    lann = LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
    knn = KNeighborsClassifier(K, algorithm="brute", n_jobs=n_jobs).fit(X, y)
    times = time_in_turns(lambda: lann.predict(queries), lambda: knn.predict(queries), repeats=repeats)
    return {"times as fast as brute-force kNN": times_as_fast("predict, default shortlist", times, 1.0)}
