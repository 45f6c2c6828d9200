"""A small run of the fuzzer: hostile files are rejected or harmless; and it notices what must not happen."""

import os
import re
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from tests.fuzz import children
from tests.fuzz.children import CRASH, FAULT, HANG, MEMORY, OUTCOMES, RAISED, REJECTED, USED, try_files
from tests.fuzz.model_files.honest import honest_files
from tests.fuzz.model_files.mutations import MUTATIONS, mutate

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    return honest_files(tmp_path_factory.mktemp("honest"))


def test_changed_files_are_rejected_or_harmless():
    """In a process of its own: children that are forked from one with OpenMP threads could hang."""
    n_files = 3 * len(MUTATIONS)
    command = [sys.executable, "-m", "tests.fuzz", "--n-files", str(n_files), "--seed", "0"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    counts = {kind: int(count) for count, kind in re.findall(r"^ +(\d+) (.+)$", ended.stdout, re.MULTILINE)}
    assert list(counts) == list(OUTCOMES)
    assert counts[REJECTED] > 40
    assert counts[USED] > 8
    assert counts[REJECTED] + counts[USED] == n_files


def test_the_seed_determines_the_changes(files):
    for number in range(len(MUTATIONS)):
        assert mutate(files, 3, number) == mutate(files, 3, number)
    assert mutate(files, 3, 0) != mutate(files, 4, 0)


def test_honest_files_are_used(files, tmp_path):
    for content in files:
        (tmp_path / "m.lann").write_bytes(content)
        assert children.try_file(tmp_path / "m.lann") == (USED, "")


def misbehave(path):
    """Do what the content of a file says."""
    action = path.read_text()
    if action == "crash":
        os._exit(3)
    if action == "hang":
        time.sleep(1000)
    if action == "memory":
        np.ones(2**32)
    if action == "fault":
        raise KeyError("x")
    if action == "two sentences":
        raise ValueError(f"{path} is wrong.\nVery wrong.")
    if action == "without a name":
        raise ValueError("It is wrong.")
    if action == "rejected":
        raise ValueError(f"{path} is wrong.")
    return object(), None


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks
def test_what_must_not_happen_is_noticed(tmp_path, monkeypatch):
    def use_file(model, table):
        if (tmp_path / "child0.lann").read_text() == "raised":
            raise ValueError("There are too few rows.")

    monkeypatch.setattr("lann.persist.load_with_table", misbehave)
    monkeypatch.setattr(children, "use_file", use_file)
    expected = {
        "crash": CRASH, "used": USED, "hang": HANG, "memory": MEMORY, "fault": FAULT, "rejected": REJECTED,
        "two sentences": FAULT, "without a name": FAULT, "raised": RAISED,
    }  # fmt: skip
    actions = list(expected)
    outcomes = try_files(
        lambda number: (actions[number], actions[number].encode()),
        len(actions),
        folder=tmp_path,
        memory=2**28,
        seconds=1.0,
        n_children=1,
    )
    assert {outcome.change: outcome.kind for outcome in outcomes} == expected
