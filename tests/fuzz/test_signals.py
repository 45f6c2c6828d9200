"""Interrupts at random moments: a short slice of the part "signals"."""


def test_interrupts_leave_nothing_behind(run_harness):
    counts = run_harness("signals", n_cases=48)
    assert counts["right"] == 48
