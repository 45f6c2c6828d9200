"""LightGBM."""

from __future__ import annotations

from typing import Any

from benchmarks.engine import Values
from benchmarks.scale.planted import Rows


def make(name: str, n_jobs: int, seed: int) -> Any:
    from lightgbm import LGBMClassifier

    size: dict[str, Any] = {"n_estimators": 500, "num_leaves": 255} if name == "lightgbm-large" else {}
    return LGBMClassifier(n_jobs=n_jobs, random_state=seed, verbose=-1, **size)


def warm_up() -> None:
    """Nothing has to be compiled."""


def further(model: Any, X: Rows, X_test: Rows) -> Values:
    return {}
