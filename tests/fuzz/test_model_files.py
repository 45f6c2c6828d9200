"""Hostile model files are rejected or harmless: a short slice of the part "model-files"."""

import pytest

from tests.fuzz.model_files.honest import honest_files
from tests.fuzz.model_files.mutations import MUTATIONS, mutate
from tests.fuzz.model_files.part import try_content
from tests.fuzz.outcomes import RIGHT


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return honest_files(tmp_path_factory.mktemp("honest"))


def test_changed_files_are_rejected_or_harmless(run_harness):
    counts = run_harness("model-files", n_cases=3 * len(MUTATIONS))
    assert counts["rejected"] > 40
    assert counts["right"] > 8


def test_the_seed_determines_the_changes(files):
    for number in range(len(MUTATIONS)):
        assert mutate(files, 3, number) == mutate(files, 3, number)
    assert mutate(files, 3, 0) != mutate(files, 4, 0)


def test_honest_files_are_used(files, tmp_path):
    for content in files:
        assert try_content("honest", content, tmp_path / "m.lann").kind == RIGHT
