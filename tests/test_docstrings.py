"""Docstrings: examples run, and those of public names follow numpydoc."""

import dataclasses
import doctest
import importlib
import inspect
import pkgutil
from pathlib import Path

import pandas as pd
import pytest
import sklearn
from numpydoc.validate import validate
from packaging.version import Version

import lann
from lann.columns.schema import Feature, TableSchema
from lann.metric import Encoding, FeatureCurves
from lann.vote import VoteChoice

# GL: sections; SS: summary; PR: parameters; RT: returns; EX: examples. See numpydoc.validate.ERROR_MSGS.
RULES = {
    "GL03", "GL05", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR08", "PR09", "PR10", "RT01", "RT04", "RT05",
}  # fmt: skip


def modules_with_examples():
    """Return the modules with examples, found in their text: collection imports none of them."""
    root = Path(lann.__path__[0])
    files = [path for path in sorted(root.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
    names = [".".join(path.relative_to(root.parent).with_suffix("").parts) for path in files]
    return [name.removesuffix(".__init__") for name in names]


# Their figures depend on the trees of scikit-learn, or their tables on how pandas prints gaps.
OF_NEWEST_VERSIONS = (
    "lann.explain._explained_row",
    "lann.explain._words",
    "lann.report._evaluation.evaluate",
    "lann.report._evaluation.findings",
    "lann.tables._reading",
)
HAS_NEWEST = Version(sklearn.__version__) >= Version("1.8") and Version(pd.__version__) >= Version("3")


@pytest.mark.parametrize("name", modules_with_examples())
def test_examples_run(name):
    if name in OF_NEWEST_VERSIONS and not HAS_NEWEST:
        pytest.skip("the output is that of scikit-learn 1.8 and pandas 3, or later")
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


# Packages that the library uses itself, and whose names are not for users.
INTERNAL = ("_markup", "_support", "cli", "columns", "metric", "model", "search", "training", "vote")
# What users meet of these: the attributes `vote_`, `curves_`, `encoding_` and `schema_`.
MET_BY_USERS = (Encoding, Feature, FeatureCurves, TableSchema, VoteChoice)


def public_names():
    """Return the full name and the object of everything that `lann` and its packages export to users."""
    packages = [m.name for m in pkgutil.iter_modules(lann.__path__) if m.ispkg and m.name not in INTERNAL]
    found = {}
    for package in (lann, *(importlib.import_module(f"lann.{name}") for name in packages)):
        for name in package.__all__:
            value = getattr(package, name)
            if inspect.isclass(value) or inspect.isfunction(value):
                found[f"{value.__module__}.{value.__qualname__}"] = value
    return found | {f"{value.__module__}.{value.__qualname__}": value for value in MET_BY_USERS}


PUBLIC = public_names()


def public_methods(cls):
    """Return the public methods that a class defines itself."""
    return [
        name
        for name, value in vars(cls).items()
        if not name.startswith("_") and (inspect.isfunction(value) or isinstance(value, classmethod))
    ]


def violations(name, *, ignore=()):
    return [error for error in validate(name)["errors"] if error[0] in RULES - set(ignore)]


def is_result(value):
    """Return whether a class is a record: users read its attributes and do not construct it."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, tuple))


@pytest.mark.parametrize("name", PUBLIC)
def test_public_names_follow_numpydoc(name):
    value = PUBLIC[name]
    assert violations(name, ignore={"PR01", "PR02"} if is_result(value) else ()) == []
    for method in public_methods(value) if inspect.isclass(value) else ():
        assert violations(f"{name}.{method}") == [], method


@pytest.mark.parametrize("name", [name for name, value in PUBLIC.items() if inspect.isfunction(value)])
def test_public_functions_have_an_example(name):
    assert ">>>" in inspect.getdoc(PUBLIC[name])


@pytest.mark.parametrize(
    "package", [lann, *(importlib.import_module(f"lann.{n}") for n in ("explain", "baselines"))]
)
def test_unknown_names_are_not_found(package):
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018
    assert set(package.__all__) <= set(dir(package))
