import pytest

from benchmarks.engine import PairedTimes, time_in_turns


def test_ratios_are_those_of_the_turns():
    times = PairedTimes(ours=[1.0, 2.0], other=[2.0, 2.0])
    assert times.ratios == [0.5, 1.0]
    assert times.inverse_ratios == [2.0, 1.0]
    assert times.ratio_std == pytest.approx(0.5 / 2**0.5)
    assert PairedTimes([1.0], [2.0]).ratio_std == 0


@pytest.mark.parametrize("warm_up", [True, False])
def test_both_sides_run_in_turns(warm_up):
    calls = []
    times = time_in_turns(
        lambda: calls.append("ours"), lambda: calls.append("other"), repeats=3, warm_up=warm_up
    )
    assert calls == ["ours", "other"] * (3 + warm_up)
    assert len(times.ours) == len(times.other) == 3
