"""The methods that `lann bench paper` measures: one `register(...)` call adds a row to every table."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any

PROVIDERS = ("lann.bench.sklearn_methods", "lann.bench.baseline_methods", "lann.bench.lann_methods")
"""The modules that register methods when they are imported, in the order of the tables.

They belong to `lann.bench`, as what they measure must not know of the benchmarks.
"""

_registry: dict[str, Method] = {}


@dataclass(frozen=True)
class Method:
    """
    A row of the tables.

    Parameters
    ----------
    name
        What the row is called in the terminal and after ``--method``: lower case, digits and hyphens.
    label
        What it is called in documents.
    make
        From the number of threads and a seed to an estimator that is not fitted.
    description
        One sentence: the estimator and its settings.
    group
        The heading under which the row stands.
    published
        The column of the paper's table that the row is to be held against, if there is one.
    quick
        Whether ``--quick`` measures it.
    """

    name: str
    label: str
    make: Callable[[int, int], Any]
    description: str
    group: str
    published: str | None = None
    quick: bool = True


def register(method: Method) -> Method:
    """Add a method to the tables, at the end of its group."""
    if not re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", method.name):
        raise ValueError(f"A method's name is of lower-case words joined by hyphens; got {method.name!r}.")
    if method.name in _registry:
        raise ValueError(f"There is a method {method.name!r} already.")
    _registry[method.name] = method
    return method


def all_methods() -> list[Method]:
    """Every registered method, group by group."""
    for provider in PROVIDERS:
        import_module(provider)
    groups = list(dict.fromkeys(method.group for method in _registry.values()))
    return sorted(_registry.values(), key=lambda method: groups.index(method.group))


def choose_methods(names: list[str] | None, *, quick: bool = False) -> list[Method]:
    """The methods of these names, or all (with `quick`: all that are quick), in the order of the tables."""
    known = all_methods()
    if not names:
        return [method for method in known if method.quick or not quick]
    for name in names:
        if name not in {method.name for method in known}:
            raise ValueError(
                f"There is no method {name!r}; the methods are {', '.join(method.name for method in known)}."
            )
    return [method for method in known if method.name in names]
