"""Fitted classifiers of every kind, and queries, for the tests of the explorer."""

from __future__ import annotations

import numpy as np
import pandas as pd
from sklearn.datasets import make_classification
from sklearn.preprocessing import scale

from lann import LANNClassifier
from lann.baselines import DANN, GMLVQ, LGRLVQ, LMNN, MultiMetricLMNN, PublishedLANN
from lann.columns.inputs import read_queries


def mixed_table(n: int, seed: int) -> tuple[pd.DataFrame, np.ndarray]:
    """Numbers, a threshold, categories, bools and dates, with gaps; three classes."""
    rng = np.random.default_rng(seed)
    table = pd.DataFrame(
        {
            "size": rng.normal(size=n).round(2),
            "wait": rng.exponential(size=n),
            "color": rng.choice(list("uvwxyz"), n),
            "depth": rng.normal(size=n),
            "open": rng.integers(0, 2, n).astype(bool),
            "day": pd.Timestamp("2024-01-01") + pd.to_timedelta(rng.integers(0, 300, n), "D"),
            "side": rng.choice(["left", "right"], n),
        }
    )
    score = table["size"] + 1.5 * table["color"].isin(["u", "v"]) + table["wait"] * table["open"]
    y = np.array(["high", "low", "mid"])[(score + 0.3 * rng.normal(size=n) > 1) + (table["depth"] > 1) * 1]
    for name, share in (("wait", 0.15), ("color", 0.1), ("depth", 0.1)):
        table[name] = table[name].where(rng.random(n) > share)
    return table, y


def _mixed(classifier, weights=None):
    table, y = mixed_table(500, 0)
    clf = classifier.fit(table, y) if weights is None else classifier.fit(table, y, sample_weight=weights)
    new, _ = mixed_table(60, 1)
    new.loc[:9, "color"] = "unseen"
    new.loc[5:20, "size"] = np.nan  # which no training row has
    return clf, read_queries(clf, new)


def _numbers(classifier, n=600, n_features=20, dtype=np.float64):
    X, y = make_classification(n, n_features, n_informative=6, n_classes=3, random_state=0)
    X = scale(X).astype(dtype)
    return classifier.fit(X, y), X[:60].astype(float) + 0.1


def _ties():
    """Integers, nothing learned: many rows are equally far."""
    rng = np.random.default_rng(0)
    X = rng.integers(0, 3, (500, 18)).astype(float)
    return LANNClassifier(max_iter=0).fit(X, X.sum(axis=1) > 18), rng.integers(0, 3, (60, 18)).astype(float)


def _cells():
    """So many rows that they are searched in cells."""
    X = np.random.default_rng(0).normal(size=(50_000, 3))
    clf = LANNClassifier(max_iter=0).fit(X, X[:, 0] * X[:, 1] > 0)
    return clf, np.concatenate([X[:30] + 0.01, 50 * X[:3]])


WEIGHTS = np.random.default_rng(2).integers(1, 5, 500).astype(float)
CASES = {
    "mixed": lambda: _mixed(LANNClassifier(random_state=0)),
    "full": lambda: _mixed(LANNClassifier(metric="full", max_iter=3, random_state=0)),
    "low rank": lambda: _mixed(LANNClassifier(metric="low_rank", max_iter=3, random_state=0)),
    "weighted": lambda: _mixed(LANNClassifier(class_weight="balanced", random_state=0), WEIGHTS),
    "one vote": lambda: _mixed(LANNClassifier(7, random_state=0)),
    "plain": lambda: _mixed(LANNClassifier(max_iter=0)),
    "numbers": lambda: _numbers(LANNClassifier(n_candidates=None, random_state=0)),
    "single": lambda: _numbers(LANNClassifier(random_state=0), dtype=np.float32),
    "ties": _ties,
    "cells": _cells,
    "published": lambda: _numbers(PublishedLANN(max_iter=2), n_features=8),
    "LMNN": lambda: _numbers(LMNN(max_iter=5, tol=1.0), n_features=8),
    "groups": lambda: _numbers(MultiMetricLMNN(max_iter=5, tol=1.0, weights="distance"), n_features=8),
    "GMLVQ": lambda: _numbers(GMLVQ(max_iter=5, tol=1.0), n_features=8),
    "LGRLVQ": lambda: _numbers(LGRLVQ(max_iter=5, tol=1.0), n_features=8),
}
# The page does not know metrics that depend on the query.
WITHOUT_MODEL = {"DANN": lambda: _numbers(DANN(), n=200, n_features=8)}
