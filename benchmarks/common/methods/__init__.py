"""The methods that benchmarks compare. A method in one of these lists has a row in every table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from benchmarks.common.methods import baselines, lann, scikit_learn
from benchmarks.common.methods.method import Method
from benchmarks.engine import choose

__all__ = ["METHODS", "Method", "choose_methods", "make_estimator"]

METHODS: list[Method] = [*scikit_learn.METHODS, *baselines.METHODS, *lann.METHODS]
"""All methods, in the order of the tables."""


def choose_methods(names: Sequence[str] = (), *, quick: bool = False) -> list[Method]:
    """Return the methods with these names; by default all, or with `quick` all that are quick."""
    chosen = choose(names, [method.name for method in METHODS], "method")
    return [method for method in METHODS if method.name in chosen and (names or method.quick or not quick)]


def make_estimator(name: str, n_jobs: int, seed: int) -> Any:
    """Return the estimator of a method, not fitted."""
    (method,) = choose_methods([name])
    return method.make(n_jobs, seed)
