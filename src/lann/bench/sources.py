"""A digest of the code behind an estimator of this library: what was measured with other code is stale."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterator
from functools import cache
from importlib.util import find_spec
from pathlib import Path

ROOT = "lann"


@cache
def code_digest(module: str) -> str:
    """
    Digest a module of this library and all that it imports of the library, however indirectly.

    Comments, layout and docstrings do not count. A module of another library has an empty digest: for those
    there are version numbers.
    """
    if not module.startswith(f"{ROOT}."):
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
    """The modules of this library that a module imports; some of the names may turn out to be none."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module and f"{node.module}.".startswith(f"{ROOT}."):
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names if alias.name.startswith(f"{ROOT}."))


def _file_of(name: str) -> Path | None:
    # The package itself only lists the public names, and lists all of them.
    if name == ROOT:
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
