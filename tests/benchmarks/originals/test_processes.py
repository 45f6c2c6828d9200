import subprocess
import sys

import pytest

from benchmarks.common.methods import METHODS
from benchmarks.originals.processes import PAIRS, Side, choose_pairs
from benchmarks.originals.programs import PROGRAMS


def side(code):
    return Side((sys.executable, "-c", code), "splits", 0, 1, 600.0)


def test_every_pair_has_a_program_and_a_method():
    assert {pair.original for pair in PAIRS} == set(PROGRAMS)
    assert {pair.ours for pair in PAIRS} <= {method.name for method in METHODS}


def test_pairs_are_chosen_by_either_side():
    assert choose_pairs(()) == list(PAIRS)
    assert [pair.original for pair in choose_pairs(("gmlvq", "pylmnn"))] == [
        "pylmnn", "sklearn-lvq-gmlvq", "sklvq-gmlvq"
    ]  # fmt: skip
    with pytest.raises(ValueError, match="no original program of lgrlvq"):
        choose_pairs(("lgrlvq",))
    with pytest.raises(ValueError, match="There is no method 'svm'; the methods are gmlvq,"):
        choose_pairs(("svm",))


def test_the_last_line_of_a_process_has_the_scores():
    code = "import json, sys; print('noise'); print(json.dumps({'method': sys.argv[1], 'accuracy': 0.5}))"
    assert side(code).measure("pylmnn", "wine-0-0") == {"accuracy": 0.5}


@pytest.mark.parametrize(
    ("code", "message"),
    [
        ("import sys; sys.exit('No such thing.')", "ended with code 1: No such thing."),
        ("", "ended with code 0: no error message"),
        ("""print('{"failure": "ValueError: Singular."}')""", "ValueError: Singular."),
    ],
)
def test_a_process_without_scores_raises(code, message):
    with pytest.raises(RuntimeError, match=message):
        side(code).measure("pylmnn", "wine-0-0")


def test_a_process_that_takes_too_long_raises(monkeypatch):
    def run(command, *, timeout, **settings):
        raise subprocess.TimeoutExpired(command, timeout)

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(RuntimeError, match="over 600 s"):
        side("").measure("pylmnn", "wine-0-0")
