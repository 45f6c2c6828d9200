"""Interrupts at random moments: a short slice of the part "signals"."""

import signal

import pytest

from tests.fuzz.outcomes import FOREIGN, RIGHT, WRONG, Outcome
from tests.fuzz.signals.commands import INPUTS, OLD, check_files
from tests.fuzz.signals.details import COMPLETE, INTERRUPTED
from tests.fuzz.signals.part import _Interrupted


def test_interrupts_leave_nothing_behind(run_harness):
    counts = run_harness("signals", n_cases=48)
    assert counts["right"] == 48
    assert counts[INTERRUPTED] > 10


@pytest.fixture
def output(tmp_path):
    for name in (*INPUTS, "new.csv"):
        (tmp_path / name).write_bytes(OLD)
    return tmp_path / "new.csv"


def test_files_are_the_old_or_the_complete_new_ones(output):
    interrupted, complete = Outcome(RIGHT, "", INTERRUPTED), Outcome(RIGHT, "", COMPLETE)
    assert check_files(interrupted, output, b"new").kind == RIGHT
    assert check_files(complete, output, b"new").kind == WRONG
    output.write_bytes(b"new")
    assert check_files(complete, output, b"new").kind == RIGHT
    output.write_bytes(b"ne")
    assert check_files(interrupted, output, b"new").kind == WRONG
    output.write_bytes(OLD)
    output.with_name(".lann-1.tmp").write_bytes(b"")
    assert check_files(interrupted, output, b"new").kind == WRONG


class Failing:
    """An object whose deletion raises an exception, which Python ignores."""

    def __del__(self):
        raise SystemError


def test_exceptions_that_python_ignores_are_found():
    assert _Interrupted("", Failing, 60.0).run().kind == FOREIGN
    assert _Interrupted("", lambda: None, 60.0).run() == Outcome(RIGHT, "", COMPLETE)


def test_an_interrupt_that_is_lost_is_found():
    def lose():
        try:
            signal.raise_signal(signal.SIGALRM)
        except KeyboardInterrupt:
            return

    def interrupt():
        signal.raise_signal(signal.SIGALRM)

    assert _Interrupted("", lose, 60.0).run().kind == WRONG
    assert _Interrupted("", interrupt, 60.0).run() == Outcome(RIGHT, "", INTERRUPTED)
    assert signal.getitimer(signal.ITIMER_REAL) == (0.0, 0.0)
