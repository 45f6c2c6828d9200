"""What a measurement depends on: if any of it has changed, the measurement is out of date."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import lann

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROOTS = ("lann", "benchmarks")
"""The packages whose code counts. Their own ``__init__`` modules only list names."""

IGNORED = ("benchmarks.engine.", "benchmarks.common.methods.")
"""Modules that do not count: the engine does not measure, and estimators are described one by one."""


def fingerprint(measured_by: str, *estimators: Any, **values: Any) -> dict[str, Any]:
    """
    Describe what a measurement depends on, beside the number of the repeat.

    Parameters
    ----------
    measured_by
        Name of the module that measures. Its code counts, and the code of `lann` and of the benchmarks that
        it imports.
    *estimators
        Their classes and parameters count, those of nested estimators included; for estimators of `lann`,
        their code, too.
    **values
        Whatever else the measurement depends on, as JSON: the number of threads, the digest of the data.
    """
    return {
        "lann": lann.__version__,
        "scikit-learn": version("scikit-learn"),
        "measured by": code_digest(measured_by),
        "estimators": [_describe(estimator) for estimator in estimators],
        **values,
    }


def data_digest(*arrays: NDArray[Any]) -> str:
    """Return a digest of the shape and the values of arrays."""
    digest = hashlib.sha256()
    for array in arrays:
        digest.update(repr((array.shape, str(array.dtype))).encode())
        digest.update(array.tobytes())
    return digest.hexdigest()


def _describe(estimator: Any) -> dict[str, Any]:
    parameters = estimator.get_params(deep=True)
    nested = [value for value in parameters.values() if hasattr(value, "get_params")]
    modules = sorted({type(one).__module__ for one in [estimator, *nested]})
    return {
        "class": _name_of(type(estimator)),
        "parameters": {name: _as_text(value) for name, value in sorted(parameters.items())},
        "code": [code_digest(module) for module in modules],
    }


def _as_text(value: Any) -> str:
    if hasattr(value, "get_params"):
        return _name_of(type(value))  # its parameters are listed by themselves
    if callable(value):
        return _name_of(value)  # its repr has an address
    return repr(value)


def _name_of(thing: Any) -> str:
    return f"{thing.__module__}.{getattr(thing, '__qualname__', type(thing).__qualname__)}"


@cache
def code_digest(module: str) -> str:
    """
    Return a digest of a module and of all modules of `ROOTS` that it imports, directly or not.

    Comments, layout and docstrings do not count. The digest of a module of another package is empty.
    """
    if module.partition(".")[0] not in ROOTS:
        return ""
    trees: dict[str, ast.Module] = {}
    waiting = [module]
    while waiting:
        name = waiting.pop()
        path = _file_of(name)
        if name in trees or path is None:
            continue
        trees[name] = ast.parse(path.read_bytes())
        waiting.extend(_imported(trees[name]))
    digest = hashlib.sha256()
    for name in sorted(trees):
        digest.update(f"{name}\n{ast.dump(_without_docstrings(trees[name]))}\n".encode())
    return digest.hexdigest()


def _imported(tree: ast.Module) -> Iterator[str]:
    """Yield the modules of `ROOTS` that a module imports; some of the names may be functions or classes."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.partition(".")[0] in ROOTS:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.partition(".")[0] in ROOTS)


def _file_of(name: str) -> Path | None:
    if name in ROOTS or f"{name}.".startswith(IGNORED):
        return None
    try:
        spec = find_spec(name)
    except ModuleNotFoundError:  # a class or a function of a module
        return None
    return Path(spec.origin) if spec is not None and spec.origin else None


def _without_docstrings(tree: ast.Module) -> ast.Module:
    for node in ast.walk(tree):
        if isinstance(
            node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef
        ) and ast.get_docstring(node, clean=False):
            del node.body[0]
    return tree
