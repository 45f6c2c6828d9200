"""The harness notices what must not happen, and shows what reproduces it."""

import os
import time
import warnings

import numpy as np
import pytest
from sklearn.decomposition import PCA
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.utils.validation import check_array

from lann import LANNClassifier
from lann._support.validation import validate_parameters
from tests.fuzz.children import STATUS, run_cases
from tests.fuzz.outcomes import (
    CRASH,
    FAULTS,
    FOREIGN,
    HANG,
    REJECTED,
    RIGHT,
    WRONG,
    Outcome,
    WrongResult,
    try_case,
)
from tests.fuzz.parts import Part
from tests.fuzz.report import PartReport, failures, table

X, y = np.eye(4), np.array([0, 1, 0, 1])


def wrong():
    raise WrongResult("Probabilities are NaN.")


def foreign():
    raise ValueError("This is a sentence, but neither of lann nor of scikit-learn.")


def warn():
    warnings.warn("invalid value encountered in divide", RuntimeWarning, stacklevel=1)


ACTIONS = [
    (lambda: None, RIGHT),
    (wrong, WRONG),
    (lambda: LANNClassifier(n_neighbors=-1).fit(X, y), REJECTED),
    (lambda: check_array([[np.nan]]), REJECTED),
    (foreign, FOREIGN),
    (lambda: {}["x"], FOREIGN),
    # A TypeError, but of an operation in lann.
    (lambda: validate_parameters(1, None), FOREIGN),
    (warn, FOREIGN),
    # A warning that a computation went wrong, and then a sentence.
    (lambda: (warn(), LANNClassifier(n_neighbors=-1).fit(X, y)), FOREIGN),
    # Raised by scikit-learn, but not by its validation of input.
    (lambda: LinearDiscriminantAnalysis(solver="x").fit(np.eye(4), y), REJECTED),
    (lambda: PCA(n_components=9).fit(np.eye(4)), FOREIGN),
    (lambda: np.ones(2**60), FOREIGN),
]


@pytest.mark.parametrize(("action", "kind"), ACTIONS)
def test_outcomes(action, kind):
    outcome = try_case("a case", action)
    assert (outcome.kind, outcome.name) == (kind, "a case")


def test_exceptions_that_are_not_documented_are_foreign():
    action = ACTIONS[2][0]
    assert try_case("a case", action, allowed=(TypeError,)).kind == FOREIGN


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
    found = dict(run_cases(part, 7, n_children=1, is_over=lambda number: number >= len(BEHAVIORS)))
    assert [found[number].kind for number in range(5)] == [RIGHT, CRASH, HANG, FOREIGN, RIGHT]
    assert found[0].name == "seed 7"


def test_report_counts_and_reproduces():
    report = PartReport("inputs", 3)
    for number, outcome in enumerate([Outcome(RIGHT), Outcome(HANG, "fit"), Outcome(HANG, "fit")]):
        report.add(number, outcome)
    header, row = table([report]).splitlines()
    assert header.split()[:3] == ["part", "cases", "right"]
    assert row.split() == ["inputs", "3", "1", "0", "0", "0", "2", "0"]
    assert "hang (2 alike): fit" in failures([report])
    assert "python -m tests.fuzz inputs --seed 3 --case 1" in failures([report])
    assert len(FAULTS) == 4
