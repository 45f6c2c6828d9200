"""Every public name is documented, and the examples in docstrings run and print what they say."""

import doctest
import importlib
import inspect
import pkgutil

import pytest

import lann

MODULES = [
    module.name
    for module in pkgutil.walk_packages(lann.__path__, prefix="lann.")
    if not module.name.startswith("lann.cli")
]


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name):
    module = importlib.import_module(name)
    result = doctest.testmod(module, optionflags=doctest.NORMALIZE_WHITESPACE, extraglobs={})
    assert result.failed == 0


@pytest.mark.parametrize("name", MODULES)
def test_every_module_opens_with_a_sentence(name):
    assert importlib.import_module(name).__doc__


@pytest.mark.parametrize("name", lann.__all__)
def test_every_public_name_is_documented(name):
    thing = getattr(lann, name)
    assert inspect.getdoc(thing)
    if inspect.isclass(thing):
        public = [m for n, m in inspect.getmembers(thing) if not n.startswith("_") and inspect.isfunction(m)]
        assert all(inspect.getdoc(method) for method in public)
        assert ">>>" in inspect.getdoc(thing)


def test_every_parameter_of_the_classifier_is_documented():
    text = inspect.getdoc(lann.LANNClassifier)
    assert all(f"{name} : " in text for name in lann.LANNClassifier().get_params())


def test_unknown_names_are_not_found():
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        lann.nothing  # noqa: B018
    assert set(lann.__all__) <= set(dir(lann))
