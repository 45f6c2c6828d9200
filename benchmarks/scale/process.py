"""One measurement of `scale` in a process of its own: data, methods, and what is measured."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, partial
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import log_loss
from sklearn.model_selection import train_test_split

from benchmarks.harness import Values, held_memory, peak_memory, reset_peak, seconds_of

Floats = NDArray[np.float64]
Labels = NDArray[np.int64]
Indices = NDArray[np.intp]
GIGA = 1e9
N_FOR_RECALL = 1000
BLOCK = 50_000
N_CLASSES = 3
LABEL_NOISE = 0.05
CEILING = 1 - LABEL_NOISE
"""The accuracy of the rule by which labels are planted: the best possible one."""
N_GATES, PARTS_OF_GATE = 2, 3
N_REGIONS = PARTS_OF_GATE**N_GATES
N_INFORMATIVE, N_RELEVANT = 6, 3
N_REDUNDANT = 4
N_FOR_THRESHOLDS = 20_000
TEST = 1
"""First number of the seed of test blocks; training blocks have 0."""
Rows = NDArray[np.float32]


@dataclass(frozen=True)
class Planted:
    """
    A planted task. Two features, the gates, divide the rows into nine regions.

    In each region, the label depends on three of six informative features: by their weighted sum, by the
    product of two of them plus the third, or by their distance from the origin, cut at the terciles. Four
    features are noisy mixtures of informative ones, all others are noise. All have the variance 1; their
    order is random.

    Parameters
    ----------
    n_features
        At least 12.
    seed
        Seed of the rule and of all rows.
    """

    n_features: int
    seed: int = 0

    @cached_property
    def _rule(self) -> _Rule:
        return _Rule(self.n_features, np.random.default_rng([self.seed, self.n_features]))

    def training_rows(self, n_rows: int) -> tuple[Rows, Labels]:
        """Return the first rows of the task, float32; fewer rows are the first ones of more."""
        return self._rows(n_rows, 0)

    def test_rows(self, n_rows: int) -> tuple[Rows, Labels]:
        """Return rows that are no training rows."""
        return self._rows(n_rows, TEST)

    def block(self, number: int, kind: int = 0) -> tuple[Rows, Labels]:
        """Return one block of rows."""
        rng = np.random.default_rng([self.seed, self.n_features, kind, number])
        return self._rule.sample(BLOCK, rng)

    def _rows(self, n_rows: int, kind: int) -> tuple[Rows, Labels]:
        X, y = np.empty((n_rows, self.n_features), np.float32), np.empty(n_rows, np.int64)
        for number, part in enumerate(block_slices(n_rows)):
            rows, labels = self.block(number, kind)
            X[part], y[part] = rows[: part.stop - part.start], labels[: part.stop - part.start]
        return X, y


def block_slices(n_rows: int) -> Iterator[slice]:
    """Yield the rows of each block."""
    for start in range(0, n_rows, BLOCK):
        yield slice(start, min(start + BLOCK, n_rows))


class _Rule:
    """Which features decide in each region, and how."""

    def __init__(self, n_features: int, rng: np.random.Generator) -> None:
        self.order = rng.permutation(n_features)
        self.n_noise = n_features - N_GATES - N_INFORMATIVE - N_REDUNDANT
        self.mixtures = rng.normal(size=(N_INFORMATIVE, N_REDUNDANT))
        self.mixtures /= np.linalg.norm(self.mixtures, axis=0) * np.sqrt(1.25)
        self.relevant = np.stack(
            [rng.permutation(N_INFORMATIVE)[:N_RELEVANT] for _ in range(N_REGIONS)]
        )  # (n_regions, n_relevant)
        self.weights = rng.choice([-1.0, 1.0], (N_REGIONS, N_RELEVANT)) * rng.uniform(
            0.5, 1.0, (N_REGIONS, N_RELEVANT)
        )
        scores = [
            self._score(r, rng.normal(size=(N_FOR_THRESHOLDS, N_INFORMATIVE))) for r in range(N_REGIONS)
        ]
        self.thresholds = np.quantile(scores, [1 / 3, 2 / 3], axis=1).T  # (n_regions, 2)

    def _score(self, region: int, informative: NDArray[np.float64]) -> NDArray[np.float64]:
        z = informative[:, self.relevant[region]]
        if region % 3 == 0:
            return z @ self.weights[region]
        if region % 3 == 1:
            return z[:, 0] * z[:, 1] + self.weights[region, 2] * z[:, 2]
        return (z**2).sum(axis=1)

    def sample(self, n_rows: int, rng: np.random.Generator) -> tuple[Rows, Labels]:
        gates = rng.uniform(-np.sqrt(3), np.sqrt(3), (n_rows, N_GATES))
        informative = rng.normal(size=(n_rows, N_INFORMATIVE))
        redundant = informative @ self.mixtures + np.sqrt(0.2) * rng.normal(size=(n_rows, N_REDUNDANT))
        X = np.empty((n_rows, len(self.order)), np.float32)
        n_known = N_GATES + N_INFORMATIVE + N_REDUNDANT
        X[:, self.order[:n_known]] = np.concatenate([gates, informative, redundant], axis=1)
        X[:, self.order[n_known:]] = rng.standard_normal((n_rows, self.n_noise), np.float32)
        parts = np.minimum((gates + np.sqrt(3)) / (2 * np.sqrt(3)) * PARTS_OF_GATE, PARTS_OF_GATE - 1)
        region = parts.astype(np.int64) @ PARTS_OF_GATE ** np.arange(N_GATES)
        y = np.empty(n_rows, np.int64)
        for r in range(N_REGIONS):
            inside = region == r
            y[inside] = np.searchsorted(self.thresholds[r], self._score(r, informative[inside]))
        noisy = rng.random(n_rows) < LABEL_NOISE
        y[noisy] = (y[noisy] + rng.integers(1, N_CLASSES, noisy.sum())) % N_CLASSES
        return X, y


def make_wide_rows(
    n_rows: int, n_test: int, n_features: int, seed: int
) -> tuple[Floats, Labels, Floats, Labels]:
    """Return two classes that differ in 20 features; blocks of 20 features are correlated."""
    rng = np.random.default_rng([seed, n_rows, n_features])
    n = n_rows + n_test
    y = np.arange(n) % 2
    shared = rng.normal(size=(n, -(-n_features // 20))).repeat(20, axis=1)[:, :n_features]
    X = np.sqrt(0.5) * shared + np.sqrt(0.5) * rng.normal(size=(n, n_features))
    informative = np.arange(0, n_features, max(n_features // 20, 1))[:20]
    X[:, informative] += (y[:, None] - 0.5) * rng.choice([-1.0, 1.0], len(informative))
    return X[:n_rows], y[:n_rows], X[n_rows:], y[n_rows:]


def read_covertype(seed: int, most_rows: int | None) -> tuple[Floats, Labels, Floats, Labels]:
    """Return 80 % of covertype for training and the rest for testing; `most_rows` are drawn at random."""
    from benchmarks.streams import FILES, read_stream
    from benchmarks.tabular import find_file

    path, missing = find_file(FILES["covtype"])
    if missing:
        raise ValueError(missing)
    X, y = read_stream(path)
    if most_rows is not None and most_rows < len(y):
        rows = np.random.default_rng(seed).permutation(len(y))[:most_rows]
        X, y = X[rows], y[rows]
    X, X_test, y, y_test = train_test_split(X, y, test_size=0.2, stratify=y, random_state=seed)
    return X, y, X_test, y_test


class FaissNeighbors(ClassifierMixin, BaseEstimator):
    """Five neighbors with equal votes, by exhaustive search or by a navigable graph."""

    def __init__(self, graph: bool, n_jobs: int) -> None:
        self.graph = graph
        self.n_jobs = n_jobs

    def fit(self, X: Rows, y: Labels) -> FaissNeighbors:
        faiss: Any = import_module("faiss")
        faiss.omp_set_num_threads(self.n_jobs)
        if self.graph:
            self.index_ = faiss.IndexHNSWFlat(X.shape[1], 16)
            self.index_.hnsw.efConstruction = 40
            self.index_.hnsw.efSearch = 128
        else:
            self.index_ = faiss.IndexFlatL2(X.shape[1])
        self.index_.add(X)
        self.y_ = y
        return self

    def neighbors(self, X: Rows, k: int) -> Indices:
        return self.index_.search(X, k)[1]

    def predict(self, X: Rows) -> Labels:
        labels = self.y_[self.neighbors(X, 5)]
        return (labels[:, :, None] == np.arange(N_CLASSES)).sum(axis=1).argmax(axis=1)


def make(name: str, n_jobs: int, seed: int) -> Any:
    """Return the estimator of a method; only what it needs is imported, since memory is measured."""
    if name == "lann":
        return import_module("lann").LANNClassifier(n_jobs=n_jobs, random_state=seed)
    if name.startswith("faiss"):
        return FaissNeighbors(name == "faiss-hnsw", n_jobs)
    large = name.endswith("-large")
    if name.startswith("lightgbm"):
        size: Values = {"n_estimators": 500, "num_leaves": 255} if large else {}
        return import_module("lightgbm").LGBMClassifier(n_jobs=n_jobs, random_state=seed, verbose=-1, **size)
    if name.startswith("knn"):
        kind = name.split("-")[1]
        algorithm, k = ("kd_tree" if kind == "tree" else "brute"), (int(kind) if kind.isdigit() else 5)
        neighbors = import_module("sklearn.neighbors").KNeighborsClassifier(
            k, algorithm=algorithm, n_jobs=n_jobs
        )
        scaler = import_module("sklearn.preprocessing").StandardScaler()
        return (
            import_module("sklearn.pipeline").make_pipeline(scaler, neighbors)
            if "scaled" in name
            else neighbors
        )
    ensemble = import_module("sklearn.ensemble")
    if name == "forest":
        return ensemble.RandomForestClassifier(300, n_jobs=n_jobs, random_state=seed)
    size = {"max_iter": 500, "max_leaf_nodes": 255} if large else {}
    return ensemble.HistGradientBoostingClassifier(random_state=seed, **size)


def warm_up(name: str = "lann") -> None:
    """Load or compile the kernels of LANN."""
    if name == "lann":
        X, y = Planted(12, seed=1000).training_rows(500)
        make("lann", 1, 0).fit(X, y).explain(X[:1])


def recall(found: Any, exact: Any) -> float:
    hits = [len(np.intersect1d(one, other)) for one, other in zip(found, exact, strict=True)]
    return float(np.sum(hits) / exact.size)


def measure_faiss(model: FaissNeighbors, X: Rows) -> Values:
    """Time lists of the 50 nearest training rows of every training row, and measure their recall."""
    seconds = seconds_of(lambda: [model.neighbors(X[i : i + 10_000], 50) for i in range(0, len(X), 10_000)])
    some = X[:N_FOR_RECALL]
    exact = FaissNeighbors(False, model.n_jobs).fit(X, model.y_).neighbors(some, 50)
    return {"list_seconds": seconds, "recall": recall(model.neighbors(some, 50), exact)}


def measure_lann(model: Any, X_test: Rows) -> Values:
    """Time explanations, and measure the recall of the search, which needs internals of lann."""
    from lann.search import ExactSearch, Shortlist

    explain = [seconds_of(partial(model.explain, X_test[row : row + 1])) for row in (0, 1)]
    found = np.asarray(model.kneighbors(X_test, return_distance=False))[:N_FOR_RECALL]
    local, queries = model.model_, np.asarray(X_test[:N_FOR_RECALL], dtype=np.float64)
    if local.n_candidates is None:
        exact = local.kneighbors(queries, found.shape[1], n_jobs=model.n_jobs)[0]
    else:
        search = Shortlist(ExactSearch(local.levels.class_metric()), local.metric, local.n_candidates)
        exact = search.query(local.transform(queries), found.shape[1], n_jobs=model.n_jobs)[0]
    values = {
        "explain_seconds": explain[0],
        "explain_again_seconds": explain[1],
        "recall": recall(found, exact),
        "n_neighbors": int(found.shape[1]),
    }
    if local.index is not None:
        partition = local.index.partition
        points = local.transform(np.asarray(X_test, dtype=np.float64))
        seconds = seconds_of(lambda: partition.assign(points, n_jobs=model.n_jobs))
        values |= {
            "n_cells": partition.n_cells,
            "n_probed": local.index.n_probed,
            "assign_seconds": seconds / len(points),
        }
    return values


def measure_fit(model: Any, X: Rows | Floats, y: Labels) -> Values:
    """Fit, and return the seconds and the memory: at most during the fit, and kept after it."""
    before = reset_peak()
    seconds = seconds_of(lambda: model.fit(X, y))
    peak = peak_memory()
    return {
        "fit_seconds": seconds,
        "peak_gb": peak / GIGA,
        "above_gb": (peak - before) / GIGA,
        "kept_gb": (held_memory() - before) / GIGA,
        "data_gb": (X.nbytes + y.nbytes) / GIGA,
    }


def run_rows(task: Values) -> Values:
    """Fit and predict planted rows."""
    warm_up(task["method"])
    planted = Planted(task["n_features"], task["seed"])
    X, y = planted.training_rows(task["n_rows"])
    X_test, y_test = planted.test_rows(task["n_queries"])
    model = make(task["method"], task["n_jobs"], task["seed"])
    values = measure_fit(model, X, y)
    values["one_row_seconds"] = seconds_of(lambda: model.predict(X_test[:1]))
    start = time.perf_counter()
    predicted = model.predict(X_test)
    values["rows_per_second"] = len(X_test) / (time.perf_counter() - start)
    values["rows_per_second_again"] = len(X_test) / seconds_of(lambda: model.predict(X_test))
    values |= {"accuracy": float(np.mean(predicted == y_test)), "peak_predict_gb": peak_memory() / GIGA}
    if task["method"] == "lann":
        values |= measure_lann(model, X_test)
    if task["method"] == "faiss-hnsw":
        values |= measure_faiss(model, X)
    return {"n_rows": len(X), "n_features": X.shape[1], **values}


def run_covertype(task: Values) -> Values:
    """Fit covertype, and score probabilities."""
    warm_up(task["method"])
    X, y, X_test, y_test = read_covertype(task["seed"], task["most_rows"])
    model = make(task["method"], task["n_jobs"], task["seed"])
    values = measure_fit(model, X, y)
    start = time.perf_counter()
    probabilities = np.asarray(model.predict_proba(X_test), dtype=np.float64)
    seconds = time.perf_counter() - start
    floored = (probabilities + 0.02 / probabilities.shape[1]) / 1.02
    classes = np.asarray(model.classes_)
    return {
        **values,
        "rows_per_second": len(X_test) / seconds,
        "accuracy": float(np.mean(y_test == classes[probabilities.argmax(axis=1)])),
        "log_loss": float(log_loss(y_test, probabilities, labels=classes)),
        "log_loss_floored": float(log_loss(y_test, floored, labels=classes)),
        "n_rows": len(X),
        "n_queries": len(X_test),
    }


def run_wide(task: Values) -> Values:
    """Fit a table with many more features than rows."""
    warm_up(task["method"])
    X, y, X_test, y_test = make_wide_rows(task["n_rows"], 500, task["n_features"], task["seed"])
    model = make(task["method"], task["n_jobs"], task["seed"])
    values = measure_fit(model, X, y)
    values["accuracy"] = float(np.mean(model.predict(X_test) == y_test))
    if task["method"] == "lann":
        values["explain_seconds"] = seconds_of(lambda: model.explain(X_test[:1]))
        values["explain_again_seconds"] = seconds_of(lambda: model.explain(X_test[1:2]))
    return values


def run_usps(task: Values) -> dict[str, Values]:
    """Fit LANN and a forest on usps in turns."""
    from benchmarks.tabular import load_set

    warm_up()
    rows = load_set("usps").task(task["seed"], task["split"])
    models = {name: make(name, task["n_jobs"], task["seed"]) for name in ("lann", "forest")}
    seconds: dict[str, list[float]] = {name: [] for name in models}
    for _ in range(2):
        for name, model in models.items():
            seconds[name].append(seconds_of(partial(model.fit, rows.X_train, rows.y_train)))
    return {
        name: {"fit_seconds": min(seconds[name]), "accuracy": float(model.score(rows.X_test, rows.y_test))}
        for name, model in models.items()
    }


CLIENT_THREADS = 2
"""Threads that train on the sample in this process, while the workers wait, whatever their number."""
N_FOR_WARM_UP = 60_000
"""Enough rows for the kernels that a fit on many rows uses."""


def dask_rows(planted: Planted, n_rows: int) -> tuple[Any, Any]:
    """Return X and y as Dask arrays, one chunk per block of rows, which the workers generate."""
    da, delayed = import_module("dask.array"), import_module("dask").delayed
    blocks, labels = [], []
    for number, rows_of_block in enumerate(block_slices(n_rows)):
        size = rows_of_block.stop - rows_of_block.start
        rows, y = (delayed(_first_of_block)(planted, number, size, part) for part in (0, 1))
        blocks.append(da.from_delayed(rows, (size, planted.n_features), np.float32))
        labels.append(da.from_delayed(y, (size,), np.int64))
    return da.concatenate(blocks), da.concatenate(labels)


def _first_of_block(planted: Planted, number: int, size: int, which: int) -> Any:
    """Return the first rows of a block (0) or their labels (1)."""
    return planted.block(number)[which][:size]


def run_dask(task: Values) -> Values:
    """Fit and predict with `n_workers` workers of Dask, or in this process if there are none."""
    planted = Planted(task["n_features"], task["seed"])
    X_test, y_test = planted.test_rows(task["n_queries"])
    if not task["n_workers"]:
        warm_up()
        X, y = planted.training_rows(task["n_rows"])
        return _time_dask(make("lann", 1, task["seed"]), X, y, X_test, y_test)[1]
    from distributed import Client, LocalCluster, wait

    from lann.distributed import DaskLANN

    workers = {"n_workers": task["n_workers"], "threads_per_worker": 1}
    with LocalCluster(**workers, dashboard_address=None) as cluster, Client(cluster) as client:
        client.run(warm_up)
        others = Planted(task["n_features"], task["seed"] + 1)
        DaskLANN(random_state=0).fit(*dask_rows(others, min(N_FOR_WARM_UP, task["n_rows"])))
        X, y = client.persist(list(dask_rows(planted, task["n_rows"])))
        wait([X, y])
        model = DaskLANN(n_jobs=CLIENT_THREADS, random_state=task["seed"])
        predicted, values = _time_dask(model, X, y, X_test, y_test)
        values["worker_peak_gb"] = max(client.run(peak_memory).values()) / GIGA
        values["same_gathered"] = float(np.mean(model.gather().predict(X_test) == predicted))
        return values


def _time_dask(model: Any, X: Any, y: Any, X_test: Rows, y_test: Labels) -> tuple[Any, Values]:
    fit_seconds = seconds_of(lambda: model.fit(X, y))
    start = time.perf_counter()
    predicted = np.asarray(model.predict(X_test))
    return predicted, {
        "fit_seconds": fit_seconds,
        "predict_seconds": time.perf_counter() - start,
        "accuracy": float(np.mean(predicted == y_test)),
        "peak_gb": peak_memory() / GIGA,
        "predicted": predicted.tolist(),
    }


RUNS = {"rows": run_rows, "covertype": run_covertype, "wide": run_wide, "usps": run_usps, "dask": run_dask}

if __name__ == "__main__":
    given = json.loads(sys.argv[1])
    print(json.dumps(RUNS[given["kind"]](given)))
