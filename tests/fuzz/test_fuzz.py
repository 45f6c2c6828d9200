"""Short slices of the harness, and what it notices."""

import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest
from sklearn.utils.validation import check_array

from lann import LANNClassifier
from tests.common.estimators import public_estimators
from tests.fuzz.children import STATUS, run_cases
from tests.fuzz.outcomes import (
    CRASH,
    FOREIGN,
    HANG,
    REJECTED,
    RIGHT,
    WRONG,
    Outcome,
    Part,
    WrongResult,
    try_case,
)

ROOT = Path(__file__).parents[2]
X, y = np.eye(4), np.array([0, 1, 0, 1])


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="children are forked")
@pytest.mark.parametrize("part", ["inputs", "model-files"])
def test_a_slice_of_the_harness(part):
    """In a process of its own: children that are forked from one with OpenMP threads could hang."""
    command = [sys.executable, "-m", "tests.fuzz", part, "--cases", "150", "--seed", "0"]
    ended = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    counts = {
        text.split(" ", 1)[1]: int(text.split()[0]) for text in ended.stdout.split(": ")[-1].split(", ")
    }
    assert counts["right"] > 10
    assert counts["rejected"] > 40


def test_every_public_estimator_is_tried():
    from tests.fuzz.inputs import SUBJECTS

    assert {subject.cls for subject in SUBJECTS} == set(public_estimators().values())


def wrong():
    raise WrongResult("Probabilities are NaN.")


def foreign():
    raise ValueError("This is a sentence, but neither of lann nor of scikit-learn.")


ACTIONS = [
    (lambda: None, RIGHT),
    (wrong, WRONG),
    (lambda: LANNClassifier(n_neighbors=-1).fit(X, y), REJECTED),
    (lambda: check_array([[np.nan]]), REJECTED),
    (foreign, FOREIGN),
    (lambda: {}["x"], FOREIGN),
    (lambda: np.ones(2**60), FOREIGN),
]


@pytest.mark.parametrize(("action", "kind"), ACTIONS)
def test_outcomes(action, kind):
    assert try_case("a case", action).kind == kind


BEHAVIORS = ["right", "crash", "hang", "memory", "right"]


def misbehave(seed, number):
    """Do what the number says."""
    behavior = BEHAVIORS[number]
    if behavior == "crash":
        os._exit(3)
    if behavior == "hang":
        time.sleep(1000)
    if behavior == "memory":
        np.ones(2**32)
    return Outcome(RIGHT, f"seed {seed}")


@pytest.mark.skipif(not STATUS.exists(), reason="the limit of memory needs /proc")
@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of forks
def test_children_that_crash_hang_or_take_memory():
    part = Part(misbehave, seconds=3.0, memory=2**28)
    outcomes = dict(run_cases(part, 7, n_children=1, is_over=lambda number: number >= len(BEHAVIORS)))
    assert [outcomes[number].kind for number in range(5)] == [RIGHT, CRASH, HANG, FOREIGN, RIGHT]
    assert outcomes[0].name == "seed 7"
