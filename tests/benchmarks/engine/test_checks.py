import pytest

from benchmarks.engine import Check, check, check_margins, difference, with_note
from benchmarks.engine.checks import check_above, check_at_least, check_at_most, check_below


@pytest.mark.parametrize(("passed", "status"), [(True, "ok"), (False, "SHORT"), (None, "not measured")])
def test_the_status_of_a_check(passed, status):
    assert check("it holds", passed, "3") == Check("it holds", "3", status)


@pytest.mark.parametrize(
    ("value", "status"), [(0.95, "ok"), (0.95 - 1e-12, "ok"), (0.949, "SHORT"), (None, "not measured")]
)
def test_a_value_at_the_limit_is_enough(value, status):
    assert check_at_least("enough", value, 0.95).status == status
    assert check_at_most("not too much", None if value is None else -value, -0.95).status == status


@pytest.mark.parametrize(
    ("value", "status", "measured"),
    [
        (0.9, "ok", "0.9000 against 0.8000"),
        (0.8 + 1e-12, "SHORT", "0.8000 against 0.8000"),
        (0.7, "SHORT", "0.7000 against 0.8000"),
        (None, "not measured", ""),
    ],
)
def test_an_equal_value_is_not_ahead(value, status, measured):
    assert check_above("more", value, 0.8) == Check("more", measured, status)
    opposite = check_below("less", None if value is None else -value, -0.8)
    assert opposite == Check("less", measured.replace("0.", "-0."), status)
    assert check_above("more", 0.8, None).status == check_below("less", 0.8, None).status == "not measured"


@pytest.mark.parametrize(
    ("margins", "options", "status", "measured"),
    [
        ({"x": 0.2, "y": 0.1}, {}, "ok", "narrowest: y, 0.1000"),
        ({"x": 0.2, "y": 0.0}, {}, "ok", "narrowest: y, 0.0000"),
        ({"x": 0.2, "y": 0.0}, {"strict": True}, "SHORT", "short: y by 0.0000"),
        ({"x": -0.2, "y": -0.1, "z": None}, {"unit": " s"}, "SHORT", "short: x by 0.2000 s, y by 0.1000 s"),
        ({"x": 0.2, "y": None}, {}, "not measured", "holds for the 1 measured; narrowest: x, 0.2000"),
        ({"x": 0.2}, {"missing": True}, "not measured", "holds for the 1 measured; narrowest: x, 0.2000"),
        ({"x": None}, {}, "not measured", ""),
        ({"x": 0.05}, {"least": 0.05}, "ok", "narrowest: x, 0.0500"),
        ({"x": 0.04}, {"least": 0.05}, "SHORT", "short: x by 0.0100"),
    ],
)
def test_every_margin_must_be_large_enough(margins, options, status, measured):
    assert check_margins("all", margins, **options) == Check("all", measured, status)


def test_a_note_is_added_to_what_was_measured():
    measured, missing = with_note([check("a", True, "0.9"), check("b", None)], "2 seeds")
    assert (measured.measured, missing.measured) == ("0.9 (2 seeds)", "")


def test_a_difference_needs_both_values():
    assert difference(3.0, 1.0) == 2.0
    assert difference(None, 1.0) is difference(1.0, None) is None
