"""The methods that benchmarks compare. A method in one of these lists has a row in every table."""

from __future__ import annotations

from collections.abc import Sequence
from importlib import import_module
from typing import Any

from benchmarks.common.methods import anchors, baselines, lann, scikit_learn
from benchmarks.common.methods.method import Method
from benchmarks.engine import choose

__all__ = ["METHODS", "Method", "choose_methods", "make_estimator", "package_version", "split_missing"]

METHODS: list[Method] = [*scikit_learn.METHODS, *anchors.METHODS, *baselines.METHODS, *lann.METHODS]
"""All methods, in the order of the tables."""


def choose_methods(
    names: Sequence[str] = (), *, quick: bool = False, available: Sequence[Method] | None = None
) -> list[Method]:
    """
    Return some methods.

    Parameters
    ----------
    names
        Their names; by default all, or with `quick` all that are quick.
    available
        The methods to choose from, by default `METHODS`.
    """
    available = METHODS if available is None else available
    chosen = choose(names, [method.name for method in available], "method")
    return [method for method in available if method.name in chosen and (names or method.quick or not quick)]


def split_missing(methods: Sequence[Method]) -> tuple[list[Method], dict[str, str]]:
    """Return the methods that can be measured here, and the reasons why the others cannot."""
    reasons = {method.name: method.missing for method in methods}
    missing = {name: reason for name, reason in reasons.items() if reason is not None}
    return [method for method in methods if method.name not in missing], missing


def package_version(method: Method) -> dict[str, str]:
    """Return the version of the package that a method needs, for its fingerprint; empty if it needs none."""
    if method.needs is None:
        return {}
    return {method.needs: import_module(method.needs).__version__}


def make_estimator(name: str, n_jobs: int, seed: int, available: Sequence[Method] | None = None) -> Any:
    """Return the estimator of a method, not fitted; `available` is as in `choose_methods`."""
    (method,) = choose_methods([name], available=available)
    return method.make(n_jobs, seed)
