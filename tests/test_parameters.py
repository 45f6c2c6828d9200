import numpy as np
import pytest

from lann._parameters import check_choice, check_number


@pytest.mark.parametrize("value", ["a", "b", None])
def test_a_choice_that_is_there(value):
    assert check_choice("letter", value, ("a", "b", None)) is None


@pytest.mark.parametrize("value", ["c", 0, "", True, ["a"], np.array(["a", "b"])])
def test_another_choice_gets_a_sentence(value):
    with pytest.raises(ValueError, match=r"^letter must be one of 'a', 'b', None; got .*\.$"):
        check_choice("letter", value, ("a", "b", None))


@pytest.mark.parametrize("value", [0.5, 1, np.float32(0.25), np.int64(1), "auto", None])
def test_a_number_within_its_limits(value):
    assert check_number("size", value, low=0, high=1, open_low=True, also=["auto", None]) is None


@pytest.mark.parametrize("value", [0, -1, 1.5, np.nan, np.inf, "half", True, [0.5], 1j])
def test_another_number_gets_a_sentence(value):
    with pytest.raises(
        ValueError, match=r"^size must be a number above 0 and at most 1, or 'auto', or None; got .*\.$"
    ):
        check_number("size", value, low=0, high=1, open_low=True, also=["auto", None])


@pytest.mark.parametrize("value", [2.0, "2", 0, True])
def test_integers_are_integers(value):
    with pytest.raises(ValueError, match=r"^count must be an integer of at least 1; got .*\.$"):
        check_number("count", value, low=1, integer=True)


def test_an_open_upper_limit():
    with pytest.raises(ValueError, match=r"^share must be a number of at least 0 and below 1; got 1\.$"):
        check_number("share", 1, low=0, high=1, open_high=True)


def test_without_an_upper_limit_infinity_is_still_no_number_to_work_with():
    with pytest.raises(ValueError, match=r"^size must be a number"):
        check_number("size", np.inf, low=0)
