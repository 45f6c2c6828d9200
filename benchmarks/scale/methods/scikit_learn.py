"""scikit-learn's methods."""

from __future__ import annotations

from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, RandomForestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from benchmarks.engine import Values
from benchmarks.scale.planted import Rows

N_TREES = 300


def make(name: str, n_jobs: int, seed: int) -> Any:
    """Return a method by its name; boosting has as many threads as OMP_NUM_THREADS says."""
    if name == "knn-brute":
        return KNeighborsClassifier(5, algorithm="brute", n_jobs=n_jobs)
    if name == "knn-tree":
        return KNeighborsClassifier(5, algorithm="kd_tree", n_jobs=n_jobs)
    if name in ("knn-1", "knn-5", "knn-1-scaled", "knn-5-scaled"):
        k = int(name.split("-")[1])
        # Exhaustive: on covertype a k-d tree predicts 30 rows in a second of processor time, this 450.
        neighbors = KNeighborsClassifier(k, algorithm="brute", n_jobs=n_jobs)
        return make_pipeline(StandardScaler(), neighbors) if name.endswith("-scaled") else neighbors
    if name == "forest":
        return RandomForestClassifier(N_TREES, n_jobs=n_jobs, random_state=seed)
    if name == "hist-boosting":
        return HistGradientBoostingClassifier(random_state=seed)
    if name == "hist-boosting-large":
        return HistGradientBoostingClassifier(max_iter=500, max_leaf_nodes=255, random_state=seed)
    raise ValueError(f"There is no method {name!r}.")


def warm_up() -> None:
    """Nothing has to be compiled."""


def further(model: Any, X: Rows, X_test: Rows) -> Values:
    return {}
