"""Fitting against a random forest, the online pass against a plain loop, and inside a grid search."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import numpy as np
from sklearn.ensemble import RandomForestClassifier
from sklearn.model_selection import GridSearchCV, StratifiedShuffleSplit
from sklearn.preprocessing import StandardScaler

from lann._types import Floats, Labels
from lann.bench.timing import Figure, Missing, duel
from lann.classifier import LANNClassifier
from lann.datasets import load
from lann.training import Settings
from lann.training.online import OnlineLearner


def forest_fit(n_jobs: int, repeats: int) -> Iterator[Figure | Missing]:
    """`fit` with defaults against 300 trees, on a quarter of the data as in the paper's table."""
    for name in ("digits", "letter-recognition", "pen-digits"):
        data = _scaled("fit, defaults", name, train_size=0.25)
        if isinstance(data, Missing):
            yield data
            continue
        X, y = data
        yield duel(
            partial(LANNClassifier(n_jobs=n_jobs, random_state=0).fit, X, y),
            partial(RandomForestClassifier(300, n_jobs=n_jobs, random_state=0).fit, X, y),
            repeats=repeats,
        ).figure(
            "fit, defaults",
            f"{name} {len(X)} × {X.shape[1]}",
            "of a forest of 300",
            2.0,
            more_is_better=False,
        )


def online_pass(n_jobs: int, repeats: int) -> Iterator[Figure | Missing]:
    """One epoch of the published algorithm against the same as a plain loop."""
    for name in ("digits", "letter-recognition"):
        data = _scaled("online pass, as published", name, train_size=None)
        if isinstance(data, Missing):
            yield data
            continue
        X, y = data
        rows = np.random.default_rng(0).permutation(len(X))

        # The loop takes half a minute on letter recognition: once is enough, and it needs no warm-up.
        ours = partial(fast_online_pass, X, y, rows, k=5, rate=0.01, n_jobs=n_jobs)
        ours()
        yield duel(
            ours,
            partial(plain_online_pass, X, y, rows, k=5, rate=0.01),
            repeats=repeats if len(X) < 5_000 else 1,
            warm_up=False,
        ).figure(
            "online pass, as published", f"{name} {len(X)} × {X.shape[1]}",
            "times faster than a plain NumPy loop", 20.0, more_is_better=True,
        )  # fmt: skip


def fast_online_pass(X: Floats, y: Labels, rows: Labels, *, k: int, rate: float, n_jobs: int) -> Floats:
    """The same as `plain_online_pass`, as the library does it."""
    weights = np.ones(X.shape)
    settings = Settings(
        loss="softmax", temperature=1.0, power=1.0, smoothing=0.0, fixed_norm=True, n_jobs=n_jobs
    )
    learner = OnlineLearner(X, y, weights, y.max() + 1, settings, k=k, epsilon=1e-3, relative=False)
    learner.exhaustive_pass(rows, rate)
    return weights


def plain_online_pass(
    X: Floats,
    y: Labels,
    rows: Labels,
    *,
    k: int,
    rate: float,
    temperature: float = 1.0,
    epsilon: float = 1e-3,
) -> Floats:
    """The published algorithm as one would write it down: one point at a time, all points searched."""
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


def grid_search(repeats: int) -> Iterator[Figure]:
    """Two fits side by side in joblib against one after the other."""
    X, y = load("digits", return_X_y=True)
    grid = {"alpha": [0.5, 2.0]}

    def search(n_jobs: int) -> GridSearchCV:
        return GridSearchCV(LANNClassifier(random_state=0), grid, cv=3, n_jobs=n_jobs, refit=False).fit(X, y)

    yield duel(lambda: search(2), lambda: search(1), repeats=repeats).figure(
        "grid search over LANN",
        "digits 1797 × 64",
        "n_jobs=2, of one after the other",
        1.0,
        more_is_better=False,
    )


def _scaled(task: str, name: str, train_size: float | None) -> tuple[Floats, Labels] | Missing:
    try:
        X, y = load(name, return_X_y=True)
    except (OSError, ValueError) as error:
        return Missing(task, name, str(error))
    labels = np.unique(y, return_inverse=True)[1]
    if train_size is not None:
        split = StratifiedShuffleSplit(1, train_size=train_size, random_state=0)
        rows, _ = next(split.split(X, labels))
        X, labels = X[rows], labels[rows]
    return StandardScaler().fit_transform(X), labels
