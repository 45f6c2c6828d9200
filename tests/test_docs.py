"""The documentation: its blocks run and print what the pages say, and every public name has a page."""

import importlib
import importlib.util
import inspect
import re
from pathlib import Path

import matplotlib.pyplot as plt
import pytest
from sklearn.base import BaseEstimator

from lann._support.doc_links import SITE
from tests.test_docstrings import HAS_NEWEST, MET_BY_USERS, PACKAGES

DOCS = Path(__file__).parents[1] / "docs"
_spec = importlib.util.spec_from_file_location("run_blocks", DOCS / "run_blocks.py")
run_blocks = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(run_blocks)
PAGES = run_blocks.pages()
WITH_COMMANDS = [page for page in PAGES if "```console\n$ " in page.read_text("utf-8")]
LONGEST_PAGE_OF_THE_GUIDE = 200


def name_of(page):
    return page.relative_to(DOCS.parent).as_posix()


def words(text):
    """Return the words of a text: how tables are aligned differs between versions."""
    return text.split()


@pytest.mark.parametrize("page", PAGES, ids=name_of)
def test_blocks_of_python_run(page, tmp_path):
    text = run_blocks.run_page(page, tmp_path, console=lambda commands, folder: commands)
    plt.close("all")
    assert len(text) > 100
    if HAS_NEWEST:
        assert words(text) == words(page.read_text("utf-8"))


@pytest.mark.slow
@pytest.mark.parametrize("page", WITH_COMMANDS, ids=name_of)
def test_commands_run(page, tmp_path):
    failed = []

    def run(commands, folder):
        for command in run_blocks.COMMAND.findall(commands):
            if "titanic" not in command and run_blocks.run_command(command, folder) is None:
                failed.append(command)
        return commands

    run_blocks.run_page(page, tmp_path, console=run)
    assert failed == []


def test_pages_of_the_guide_are_short():
    guide = sorted((DOCS / "guide").glob("*.md"))
    lengths = {name_of(page): len(page.read_text("utf-8").splitlines()) for page in guide}
    assert len(lengths) > 10
    assert {name: n for name, n in lengths.items() if n > LONGEST_PAGE_OF_THE_GUIDE} == {}


def documented_names():
    """Return the names in the lists of the API reference."""
    found = set()
    for page in (DOCS / "api").glob("*.rst"):
        module = None
        for line in page.read_text("utf-8").splitlines():
            if match := re.fullmatch(r"\.\. currentmodule:: (\S+)", line):
                module = match[1]
            elif module and (match := re.fullmatch(r"   (\w+)", line)):
                found.add(f"{module}.{match[1]}")
    return found


def value_of(name):
    """Return what a full name stands for."""
    module, _, attribute = name.rpartition(".")
    return getattr(importlib.import_module(module), attribute)


def test_every_public_name_has_a_page():
    modules = ["lann", "lann.streams.river", *(f"lann.{name}" for name in PACKAGES)]
    public = {f"{name}.{one}" for name in modules for one in importlib.import_module(name).__all__}
    met = {f"{module}.{name}" for module, names in MET_BY_USERS.items() for name in names}
    documented = documented_names()
    # A name that two packages export has one page.
    values = [value_of(name) for name in documented]
    missing = {
        name for name in (public | met) - documented if not any(value_of(name) is one for one in values)
    }
    assert len(documented) > 100
    assert missing == set()


def test_links_between_pages_lead_somewhere():
    broken = [
        f"{name_of(page)}: {link}"
        for page in [DOCS.parent / "README.md", DOCS.parent / "CONTRIBUTING.md", *DOCS.rglob("*.md")]
        for link in re.findall(r"\]\(([^)#:\s]+)(?:#[^)]*)?\)", page.read_text("utf-8"))
        if "_build" not in page.parts
        # The gallery is written by `make docs`.
        if not (page.parent / link).exists() and "gallery/" not in link
    ]
    assert broken == []


def test_diagrams_of_estimators_link_to_their_pages():
    pages = {f"{SITE}/api/generated/{name}.html" for name in documented_names()}
    values = [value_of(name) for name in documented_names()]
    estimators = [one for one in values if inspect.isclass(one) and issubclass(one, BaseEstimator)]
    assert len(estimators) > 15
    for estimator in estimators:
        (link,) = set(re.findall(r'href="(https://lann[^"#]*)', estimator()._repr_html_()))
        assert link in pages
