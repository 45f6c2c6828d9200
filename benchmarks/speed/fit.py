"""Fits against a random forest, the online pass against a NumPy loop, and fits within a grid search."""

from __future__ import annotations

from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from benchmarks.common.arrays import Floats, Indices, Labels
from benchmarks.common.datasets import DataSet
from benchmarks.engine import Found, time_in_turns
from benchmarks.speed._internals import online_pass
from benchmarks.speed.figures import times_as_fast, times_as_long
from lann import LANNClassifier
from lann.datasets import load

FIT_SETS = ("digits", "letter-recognition", "pen-digits")
ONLINE_SETS = ("digits", "letter-recognition")
# Of more rows than this, the NumPy loop takes half a minute: it is run once, without warm-up.
FEW_ROWS = 5_000


def training_quarter(data: DataSet) -> DataSet:
    """Return a stratified quarter of the rows, as in the paper's protocol."""
    splitter = StratifiedShuffleSplit(1, train_size=0.25, random_state=0)
    rows, _ = next(splitter.split(data.X, data.y))
    return DataSet(data.name, data.X[rows], data.y[rows], "")


def name_with_shape(data: DataSet) -> str:
    return f"{data.name} {data.X.shape[0]} × {data.X.shape[1]}"


def time_fit(data: DataSet, n_jobs: int, repeats: int) -> Found:
    """Compare `fit` with defaults to a forest of 300 trees."""
    X, y = StandardScaler().fit_transform(data.X), data.y
    times = time_in_turns(
        partial(LANNClassifier(n_jobs=n_jobs, random_state=0).fit, X, y),
        partial(RandomForestClassifier(300, n_jobs=n_jobs, random_state=0).fit, X, y),
        repeats=repeats,
    )
    return {"times as long as a forest of 300 trees": times_as_long("fit, defaults", times, 2.0)}


def time_online(data: DataSet, n_jobs: int, repeats: int) -> Found:
    """Compare one epoch of the published algorithm to a NumPy loop that computes the same."""
    X, y = StandardScaler().fit_transform(data.X), data.y
    rows = np.random.default_rng(0).permutation(len(X))
    ours = partial(online_pass, X, y, rows, k=5, rate=0.01, n_jobs=n_jobs)
    ours()
    times = time_in_turns(
        ours,
        partial(plain_online_pass, X, y, rows, k=5, rate=0.01),
        repeats=repeats if len(X) < FEW_ROWS else 1,
        warm_up=False,
    )
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


def time_grid_search(repeats: int) -> Found:
    """Compare a grid search with two joblib workers to the same with one."""
    X, y = load("digits", return_X_y=True)
    grid = {"alpha": [0.5, 2.0]}

    def search(n_jobs: int) -> GridSearchCV:
        return GridSearchCV(LANNClassifier(random_state=0), grid, cv=3, n_jobs=n_jobs, refit=False).fit(X, y)

    times = time_in_turns(lambda: search(2), lambda: search(1), repeats=repeats)
    return {"n_jobs=2, times as long as n_jobs=1": times_as_long("grid search over LANN", times, 1.0)}
