import pytest

from lann.bench.timing import Duel, Figure, duel


def test_the_best_times_are_compared():
    fights = Duel(ours=[2.0, 1.0], other=[4.0, 6.0])
    faster = fights.figure("search", "toy", "times faster", 3.0, more_is_better=True)
    assert (faster.ratio, faster.seconds, faster.other_seconds) == (4.0, 1.0, 4.0)
    assert faster.reached
    slower = fights.figure("fit", "toy", "of the other", 0.2, more_is_better=False)
    assert slower.ratio == 0.25
    assert not slower.reached


def test_the_spread_is_that_of_the_turns():
    figure = Duel([1.0, 1.0], [2.0, 4.0]).figure("t", "d", "m", 1.0, more_is_better=True)
    assert figure.std == pytest.approx(2**0.5)


def test_both_sides_run_in_turns_after_a_warm_up():
    calls = []
    fights = duel(lambda: calls.append("ours"), lambda: calls.append("other"), repeats=3)
    assert calls == ["ours", "other"] * 4
    assert len(fights.ours) == len(fights.other) == 3
    assert all(seconds >= 0 for seconds in fights.ours + fights.other)


def test_figures_for_programs_say_whether_the_target_is_reached():
    figure = Figure("task", "data", "method", 1.0, None, 0.5, 0.0, 1.0, more_is_better=False)
    assert figure.as_dict() | {"mean": 0.5, "reached": True, "data_set": "data"} == figure.as_dict()
