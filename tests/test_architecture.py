"""The shape of the code: private names stay where they are defined, and signatures stay short."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCE = ROOT / "src" / "lann"
FILES = sorted(SOURCE.rglob("*.py"))
PACKAGES = sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists())
# Private by spelling only: the interfaces of named tuples and of scikit-learn's callbacks.
PROTECTED = {"_replace", "_asdict", "_fields", "_init_callback_context"}
# Checks the state of models that come from files.
READS_STATE = "persist"


def package_of(path):
    """Return the name of the package that a file belongs to, or that of a module at the root."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def is_private(name):
    return name.startswith("_") and not (name.startswith("__") and name.endswith("__"))


def names_defined_in(tree):
    """Return the private attributes, methods, functions and fields that a module defines."""
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            found.add(node.name)
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "self":
            found.add(node.attr)
        elif isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
            found.add(node.id)
        elif isinstance(node, ast.ImportFrom):
            found.update(alias.name for alias in node.names)
    return {name for name in found if is_private(name)}


@cache
def tree_of(path):
    return ast.parse(path.read_text("utf-8"))


@pytest.mark.parametrize("package", sorted({package_of(path) for path in FILES} - {READS_STATE}))
def test_private_attributes_are_used_where_they_are_defined(package):
    own = [path for path in FILES if package_of(path) == package]
    defined = set().union(*(names_defined_in(tree_of(path)) for path in own))
    foreign = [
        f"{path.relative_to(SOURCE)}:{node.lineno}: {node.attr}"
        for path in own
        for node in ast.walk(tree_of(path))
        if isinstance(node, ast.Attribute)
        and is_private(node.attr)
        and node.attr not in defined | PROTECTED
        and not (isinstance(node.value, ast.Name) and node.value.id in ("self", "cls"))
    ]
    assert foreign == []


def imported_modules(tree):
    """Return the modules that a file imports, with the names from them."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_the_compiled_module_and_the_version_are_all_that_is_imported_from_the_root():
    imported = [name.split(".") for path in FILES for name in imported_modules(tree_of(path))]
    names = {parts[1] for parts in imported if parts[0] == "lann" and len(parts) == 2}
    assert names - {package_of(path) for path in FILES} == {"_native", "__version__"}


def foreign_private_modules(path, tree):
    """Return imports of private modules of other packages; those at the root are shared helpers."""
    home = package_of(path) if path.is_relative_to(SOURCE) else None
    for name in imported_modules(tree):
        match = re.match(r"lann\.(\w+)\.(_\w+)", name)
        if match and match.group(1) != home and match.group(1) not in ("_markup",):
            yield f"{path.relative_to(ROOT)}: {name}"


def test_private_modules_are_imported_by_their_own_package_only():
    files = [*FILES, *sorted((ROOT / "benchmarks").rglob("*.py")), *sorted((ROOT / "examples").glob("*.py"))]
    found = [
        line
        for path in files
        if ".originals" not in path.parts and "_internals" not in path.stem
        for line in foreign_private_modules(path, ast.parse(path.read_text("utf-8")))
    ]
    assert found == []


# Internal packages, whose modules are imported one by one; that of the command line has an entry point only.
@pytest.mark.parametrize(
    "package", [name for name in PACKAGES if name not in ("_markup", "_support", "cli", "columns")]
)
def test_modules_of_packages_that_export_names_are_private(package):
    public = [
        path.name
        for path in (SOURCE / package).iterdir()
        if (path.suffix == ".py" or (path / "__init__.py").exists())
        and not path.name.startswith("_")
        # Needs a package that is not installed by default.
        and path.relative_to(SOURCE).as_posix() != "streams/river.py"
    ]
    assert public == []


MOST_PARAMETERS = 8


def long_signatures(path):
    """Return functions with many parameters, except constructors, commands and displays."""
    for parent in ast.walk(tree_of(path)):
        for node in ast.iter_child_nodes(parent):
            if not isinstance(node, ast.FunctionDef) or node.name == "__init__":
                continue
            if any(ast.unparse(one) == "triton.jit" for one in node.decorator_list):
                continue  # takes arrays and their sizes one by one
            if package_of(path) == "cli" or (package_of(path) == "plot" and node.name.startswith("from_")):
                continue
            arguments = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs]
            count = len([a for a in arguments if a.arg not in ("self", "cls")])
            if count > MOST_PARAMETERS:
                yield f"{path.relative_to(SOURCE)}:{node.lineno}: {node.name} has {count}"


def test_signatures_are_short():
    # Data generators have a parameter for everything that can be generated.
    allowed = ("make_artificial_classification", "make_licorice", "make_local_relevance")
    found = [line for path in FILES for line in long_signatures(path) if not any(n in line for n in allowed)]
    assert found == []
