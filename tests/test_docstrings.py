"""Docstrings: examples run, and those of public names follow numpydoc."""

import dataclasses
import doctest
import importlib
import inspect
from pathlib import Path

import pandas as pd
import pytest
import sklearn
from numpydoc.validate import validate
from packaging.version import Version

import lann

# GL: sections; SS: summary; PR: parameters; RT: returns. See numpydoc.validate.ERROR_MSGS.
RULES = {
    "GL03", "GL05", "GL06", "GL07", "GL08", "SS01", "SS02", "SS03", "SS04", "SS05", "SS06",
    "PR01", "PR02", "PR03", "PR04", "PR05", "PR06", "PR08", "PR09", "PR10", "RT01", "RT04", "RT05",
}  # fmt: skip
ROOT = Path(lann.__path__[0])
# Found in the files: collection imports none of the modules.
WITH_EXAMPLES = [path for path in sorted(ROOT.rglob("*.py")) if ">>> " in path.read_text("utf-8")]
# Packages that the library uses itself, and whose names are not for users.
INTERNAL = ("_markup", "_support", "cli", "columns", "metric", "model", "search", "training", "vote")
PACKAGES = sorted(path.parent.name for path in ROOT.glob("*/__init__.py") if path.parent.name not in INTERNAL)
# What users meet of internal packages: the attributes `vote_`, `curves_`, `encoding_` and `schema_`.
MET_BY_USERS = {
    "lann.columns.schema": ["Feature", "TableSchema"],
    "lann.metric": ["Encoding", "FeatureCurves"],
    "lann.vote": ["VoteChoice"],
}


# Their figures depend on the trees of scikit-learn, or their tables on how pandas prints gaps.
OF_NEWEST_VERSIONS = ("explain", "report", "tables")
HAS_NEWEST = Version(sklearn.__version__) >= Version("1.8") and Version(pd.__version__) >= Version("3")


@pytest.mark.parametrize("path", WITH_EXAMPLES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_examples_run(path):
    if path.relative_to(ROOT).parts[0] in OF_NEWEST_VERSIONS and not HAS_NEWEST:
        pytest.skip("the output is that of scikit-learn 1.8 and pandas 3, or later")
    name = ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(".__init__")
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.NORMALIZE_WHITESPACE)
    assert result.attempted > 0
    assert result.failed == 0


def violations(name, *, ignore=()):
    return [f"{name}: {error}" for error in validate(name)["errors"] if error[0] in RULES - set(ignore)]


def is_result(value):
    """Return whether a class is a record: users read its attributes and do not construct it."""
    return inspect.isclass(value) and (dataclasses.is_dataclass(value) or issubclass(value, tuple))


@pytest.mark.parametrize("name", ["lann", *(f"lann.{name}" for name in PACKAGES), *MET_BY_USERS])
def test_public_names_follow_numpydoc(name):
    module = importlib.import_module(name)
    names = MET_BY_USERS.get(name) or module.__all__
    values = [value for value in (getattr(module, n) for n in names) if callable(value)]
    assert values
    for value in values:
        full_name = f"{value.__module__}.{value.__qualname__}"
        assert violations(full_name, ignore={"PR01", "PR02"} if is_result(value) else ()) == []
        if inspect.isfunction(value):
            assert ">>>" in inspect.getdoc(value), full_name
            continue
        for method, member in vars(value).items():
            if not method.startswith("_") and (inspect.isfunction(member) or isinstance(member, classmethod)):
                assert violations(f"{full_name}.{method}") == []


@pytest.mark.parametrize("name", ["lann", "lann.explain", "lann.baselines"])
def test_unknown_names_are_not_found(name):
    package = importlib.import_module(name)
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        package.nothing  # noqa: B018
    assert set(package.__all__) <= set(dir(package))
