"""The lowest versions that are declared are those that `make test-lowest` installs."""

import tomllib
from itertools import chain
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[1]


@pytest.fixture(scope="module")
def settings():
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def declared_floors(settings):
    """Return the floors of each package that is declared, as often as it is."""
    project, groups = settings["project"], chain.from_iterable(settings["dependency-groups"].values())
    extras = chain.from_iterable(project["optional-dependencies"].values())
    lines = [*project["dependencies"], *extras, *(line for line in groups if isinstance(line, str))]
    floors = {}
    for requirement in map(Requirement, lines):
        if requirement.name == project["name"]:
            continue  # its own extras
        (specifier,) = requirement.specifier
        assert specifier.operator == ">=", f"{requirement} has no floor, or more than that"
        floors.setdefault(canonicalize_name(requirement.name), set()).add(Version(specifier.version))
    return floors


def constraints():
    """Return the exact version of each package in constraints/lowest.txt."""
    found = {}
    for line in (ROOT / "constraints" / "lowest.txt").read_text().splitlines():
        text = line.partition("#")[0].strip()
        if text:
            requirement = Requirement(text)
            (specifier,) = requirement.specifier
            assert specifier.operator == "==", line
            name = canonicalize_name(requirement.name)
            assert name not in found, line
            found[name] = Version(specifier.version)
    return found


def test_every_package_has_one_floor(settings):
    several = {name: floors for name, floors in declared_floors(settings).items() if len(floors) > 1}
    assert several == {}


def test_the_constraints_are_the_declared_floors(settings):
    floors = {name: min(versions) for name, versions in declared_floors(settings).items()}
    assert len(floors) > 25
    assert constraints() == floors
