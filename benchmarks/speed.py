"""Speed and memory of search, predict, fit, online updates and start, beside scikit-learn and faiss."""

from __future__ import annotations

import argparse
import json
import math
import statistics
import subprocess
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.neighbors import KNeighborsClassifier, NearestNeighbors
from sklearn.preprocessing import StandardScaler

from benchmarks.harness import (
    FOLDER,
    OK,
    SHORT,
    Benchmark,
    Found,
    Job,
    Report,
    Results,
    Table,
    Values,
    peak_memory,
    positive,
    reset_peak,
    seconds_of,
    time_in_turns,
)
from benchmarks.tabular import DataSet, load_sets
from lann import LANNClassifier
from lann._support.types import Floats, Indices, Labels
from lann.baselines import PublishedLANN

PARTS = ("search", "predict", "update", "online", "fit", "grid", "growth")
Times = tuple[list[float], list[float]]


def figure(
    task: str, value: float, target: float, more_is_better: bool, seconds: float, other: float = math.nan,
    std: float = 0.0, unit: str = "×",
) -> Values:  # fmt: skip
    """Return a figure, its target, and the seconds of both sides."""
    reached = value >= target if more_is_better else value <= target
    bound = f"{'≥' if more_is_better else '≤'} {target:g}{unit}"
    return {
        "task": task, "figure": value, "target": bound, "reached": reached, "seconds": seconds,
        "other_seconds": None if math.isnan(other) else other, "std": std, "unit": unit,
    }  # fmt: skip


def times_as_fast(task: str, times: Times, target: float) -> Values:
    """Compare the best times: how many times as fast ours is."""
    return _ratio(task, times, [other / ours for ours, other in zip(*times, strict=True)], target, True)


def times_as_long(task: str, times: Times, target: float) -> Values:
    """Compare the best times: how many times as long ours takes."""
    return _ratio(task, times, [ours / other for ours, other in zip(*times, strict=True)], target, False)


def _ratio(task: str, times: Times, ratios: list[float], target: float, more_is_better: bool) -> Values:
    ours, other = map(min, times)
    std = statistics.stdev(ratios) if len(ratios) > 1 else 0.0
    return figure(
        task, other / ours if more_is_better else ours / other, target, more_is_better, ours, other, std
    )


N_QUERIES = 2048
K = 5
# Training rows and features, and the least speed beside scikit-learn and faiss.
SEARCH_SIZES = ((100_000, 16, 3.0, 2.0), (100_000, 50, 3.0, 2.0), (20_000, 256, 1.5, 2.0))


def time_search(size: tuple[int, int, float, float], n_jobs: int, repeats: int) -> Found:
    """Time the exact search under a metric per row, beside Euclidean searches and a matrix product."""
    import faiss

    from lann.metric import DiagonalMetric
    from lann.search import ExactSearch

    n_points, n_features, over_sklearn, over_faiss = size
    rng = np.random.default_rng(0)
    points = rng.normal(size=(n_points, n_features))
    weights = np.exp(0.5 * rng.normal(size=(n_points, n_features)))
    queries = rng.normal(size=(N_QUERIES, n_features))
    search = ExactSearch(DiagonalMetric(points, weights))
    task = "exact search, a metric per point"
    ours = partial(search.query, queries, K, n_jobs=n_jobs)
    brute = NearestNeighbors(n_neighbors=K, algorithm="brute", n_jobs=n_jobs).fit(points)
    times = time_in_turns(ours, partial(brute.kneighbors, queries), repeats=repeats)
    found = {"times as fast as scikit-learn, Euclidean": times_as_fast(task, times, over_sklearn)}
    flat = faiss.IndexFlatL2(n_features)
    flat.add(points.astype(np.float32))
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(n_jobs)
    times = time_in_turns(ours, partial(flat.search, queries.astype(np.float32), K), repeats=repeats)
    found["times as fast as faiss flat, Euclidean"] = times_as_fast(task, times, over_faiss)
    faiss.omp_set_num_threads(before)
    left, right = search.metric.lift_queries(queries, np.float32)[0], search.metric.lift_points(np.float32)
    times = time_in_turns(ours, partial(np.matmul, left, right.T), repeats=repeats)
    found["times as long as the float32 product"] = times_as_long(task, times, 2.5)
    return found


def time_predict(n_jobs: int, repeats: int) -> Found:
    """Time predictions beside brute-force kNN."""
    n_rows, n_features = 20_000, 16
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n_rows)
    X = rng.normal(size=(n_rows, n_features)) + 2.0 * rng.normal(size=(5, n_features))[y]
    queries = X[rng.choice(len(X), N_QUERIES)] + 0.1 * rng.normal(size=(N_QUERIES, n_features))
    lann = LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, y)
    knn = KNeighborsClassifier(K, algorithm="brute", n_jobs=n_jobs).fit(X, y)
    times = time_in_turns(lambda: lann.predict(queries), lambda: knn.predict(queries), repeats=repeats)
    return {"times as fast as brute-force kNN": times_as_fast("predict, default shortlist", times, 1.0)}


def time_fit(data: DataSet, n_jobs: int, repeats: int) -> Found:
    """Time a fit on a quarter of the rows, beside a forest."""
    splitter = StratifiedShuffleSplit(1, train_size=0.25, random_state=0)
    rows, _ = next(splitter.split(data.X, data.y))
    X, y = StandardScaler().fit_transform(data.X[rows]), data.y[rows]
    ours = LANNClassifier(n_jobs=n_jobs, random_state=0)
    forest = RandomForestClassifier(300, n_jobs=n_jobs, random_state=0)
    times = time_in_turns(partial(ours.fit, X, y), partial(forest.fit, X, y), repeats=repeats)
    return {"times as long as a forest of 300 trees": times_as_long("fit, defaults", times, 2.0)}


def time_online(data: DataSet, n_jobs: int, repeats: int) -> Found:
    """Time the online pass of the published algorithm beside a NumPy loop."""
    X, y = StandardScaler().fit_transform(data.X), data.y
    rows = np.random.default_rng(0).permutation(len(X))
    same = {"constraint": "norm", "temperature": 1.0, "learning_rate": 0.01 / X.shape[1]}
    ours = partial(PublishedLANN(**same, max_iter=1, n_jobs=n_jobs, random_state=0).fit, X, y)
    ours()
    other = partial(plain_online_pass, X, y, rows, k=K, rate=0.01)
    times = time_in_turns(ours, other, repeats=repeats if len(X) < 5000 else 1, warm_up=False)
    return {"times as fast as a NumPy loop": times_as_fast("online pass, as published", times, 20.0)}


def plain_online_pass(
    X: Floats,
    y: Labels,
    rows: Indices,
    *,
    k: int,
    rate: float,
    temperature: float = 1.0,
    epsilon: float = 1e-3,
) -> Floats:
    """Return the weights after one epoch of the published algorithm, computed row by row."""
    weights = np.ones(X.shape)
    n_features = X.shape[1]
    for i in rows:
        distances = (weights * (X - X[i]) ** 2).sum(axis=1)
        distances[i] = np.inf
        near = np.argpartition(distances, k)[:k]
        d = distances[near] + epsilon
        scores = np.bincount(y[near], weights=1.0 / d, minlength=y.max() + 1) / temperature
        probabilities = np.exp(scores - scores.max())
        probabilities /= probabilities.sum()
        same = y[near] == y[i]
        slopes = np.where(same, 1.0 - probabilities[y[i]], -probabilities[y[near]]) / (temperature * d**2)
        roots = np.sqrt(weights[near])
        roots -= rate * slopes[:, None] * 2.0 * roots * (X[near] - X[i]) ** 2
        weights[near] = roots**2 * (n_features / (roots**2).sum(axis=1, keepdims=True))
    return weights


def time_grid_search(data: DataSet, repeats: int) -> Found:
    """Time a grid search with two processes beside one with a single process."""

    def search(n_jobs: int) -> GridSearchCV:
        grid = {"alpha": [0.5, 2.0]}
        return GridSearchCV(LANNClassifier(random_state=0), grid, cv=3, n_jobs=n_jobs, refit=False).fit(
            data.X, data.y
        )

    times = time_in_turns(lambda: search(2), lambda: search(1), repeats=repeats)
    return {"n_jobs=2, times as long as n_jobs=1": times_as_long("grid search over LANN", times, 1.0)}


SMALL, LARGE, N_FEATURES = 5_000, 200_000, 20


def measure_growth(n_jobs: int) -> Found:
    """Measure how time and memory of a fit grow with the rows, each fit in a process of its own."""
    found = []
    for n_rows in (SMALL, LARGE):
        code = f"from benchmarks.speed import fit_in_process; fit_in_process({n_rows}, {n_jobs})"
        found.append(json.loads(_run(code)))
    small, large = found
    exponent = math.log(large["seconds"] / small["seconds"]) / math.log(LARGE / SMALL)
    task, seconds = "fit, defaults", (large["seconds"], small["seconds"])
    memory = figure(task, large["megabytes"] / 1e3, 1.0, False, large["seconds"], unit=" GB")
    return {
        "time grows as m to the power": figure(task, exponent, 1.3, False, *seconds, unit=""),
        "peak memory above the data": memory,
    }


def fit_in_process(n_rows: int, n_jobs: int) -> None:
    """Fit on generated rows, and print seconds and peak memory; small fits before it load the kernels."""
    for size in (500, n_rows):
        rng = np.random.default_rng(0)
        which = rng.integers(12, size=size)
        X = np.random.default_rng(1).normal(size=(12, N_FEATURES))[which] + 0.7 * rng.normal(
            size=(size, N_FEATURES)
        )
        before = reset_peak()
        start = time.perf_counter()
        LANNClassifier(n_jobs=n_jobs, random_state=0).fit(X, which % 4)
        seconds = time.perf_counter() - start
    print(json.dumps({"seconds": seconds, "megabytes": (peak_memory() - before) / 1e6}))


def _run(code: str) -> str:
    command = [sys.executable, "-c", code]
    done = subprocess.run(command, capture_output=True, text=True, check=True, cwd=FOLDER.parent)
    return done.stdout


# Training rows and features, and the least rows per second.
UPDATE_SIZES = ((2_000, 20, 500.0), (1_800, 64, 500.0), (10_000, 20, 300.0), (60_000, 20, 100.0))
N_UPDATES = 200


@dataclass
class Stream:
    """A classifier, and rows that it predicts and learns one by one."""

    classifier: LANNClassifier
    X: Any
    y: Any
    position: int = 0

    def update(self) -> None:
        for row in (self.position + np.arange(N_UPDATES)) % len(self.X):
            self.classifier.predict(self.X[row : row + 1])
            self.classifier.partial_fit(self.X[row : row + 1], self.y[row : row + 1])
        self.position += N_UPDATES


def time_updates(size: tuple[int, int, float], n_jobs: int, repeats: int) -> Found:
    """Time predicting and learning rows one by one."""
    n_rows, n_features, per_second = size
    rng = np.random.default_rng(0)
    y = rng.integers(5, size=n_rows + 10 * N_UPDATES)
    X = rng.normal(size=(len(y), n_features)) + rng.normal(size=(5, n_features))[y]
    classifier = LANNClassifier(max_iter=2, n_jobs=n_jobs, random_state=0).fit(X[:n_rows], y[:n_rows])
    stream = Stream(classifier, X[n_rows:], y[n_rows:])
    stream.update()
    times = [seconds_of(stream.update) for _ in range(repeats)]
    speeds = [N_UPDATES / seconds for seconds in times]
    std = statistics.stdev(speeds) if len(speeds) > 1 else 0.0
    task = f"predict and learn {N_UPDATES} rows one by one"
    return {"rows per second": figure(task, max(speeds), per_second, True, min(times), std=std, unit="/s")}


class Speed(Benchmark):
    parts = PARTS
    slow_parts = ("update", "online", "grid", "growth")
    main_score = "figure"
    quick = f"1 repeat, and no {', '.join(slow_parts)}."

    @staticmethod
    def add_options(parser: argparse.ArgumentParser) -> None:
        text = "Turns of each side; the best time counts. Default: 5, with --quick 1."
        parser.add_argument("--repeats", type=positive, help=text)

    def jobs(self) -> Iterator[Job]:
        n_jobs = self.options.n_jobs
        repeats = self.options.repeats or (1 if self.options.quick else 5)
        runs: list[tuple[str, str, Any]] = []
        for size in SEARCH_SIZES:
            runs.append(("search", f"{size[0]} × {size[1]}", partial(time_search, size, n_jobs, repeats)))
        runs.append(("predict", "20000 × 16", partial(time_predict, n_jobs, repeats)))
        for shape in UPDATE_SIZES:
            runs.append(("update", f"{shape[0]} × {shape[1]}", partial(time_updates, shape, n_jobs, repeats)))
        for data in self._load("online", ("digits", "letter-recognition")):
            runs.append(("online", data.name, partial(time_online, data, n_jobs, repeats)))
        for data in self._load("fit", ("digits", "letter-recognition", "pen-digits")):
            runs.append(("fit", data.name, partial(time_fit, data, n_jobs, repeats)))
        for data in self._load("grid", ("digits",)):
            runs.append(("grid", data.name, partial(time_grid_search, data, min(repeats, 2))))
        runs.append(("growth", f"{SMALL} to {LARGE} × {N_FEATURES}", partial(measure_growth, n_jobs)))
        return (Job(part, part, name, 0, run) for part, name, run in runs if part in self.chosen)

    def _load(self, part: str, names: tuple[str, ...]) -> list[DataSet]:
        found, skipped = load_sets(names if part in self.chosen else ())
        self.skipped.update(skipped)
        return found

    def report(self, results: Results) -> Report:
        rows: list[tuple[str, ...]] = []
        for (_, method, data), repeats in results.cells.items():
            values = repeats[0]
            other = values["other_seconds"]
            spread = f" ± {values['std']:.2f}" if values["std"] else ""
            rows.append((f"{values['task']}: {method}",))
            rows.append(
                (
                    data,
                    f"{values['figure']:.2f}{values['unit']}{spread}",
                    values["target"],
                    OK if values["reached"] else SHORT,
                    f"{values['seconds']:.3f}",
                    "" if other is None else f"{other:.3f}",
                )
            )
        table = Table("Speed and memory", ("", "figure", "target", "", "ours s", "other s"), rows)
        how = "Both sides run in one process, in turns; the best time of each counts."
        return Report(f"{how} {self.options.n_jobs} threads.", [table])


BENCHMARK = Speed
