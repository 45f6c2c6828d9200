import numpy as np
import pytest

from lann._support.validation import (
    N_JOBS,
    RANDOM_STATE,
    Integer,
    Number,
    OneOf,
    SubsetOf,
    validate,
    validate_parameters,
)

LETTERS = OneOf("a", "b", None)
SHARE = (Number(0, 1, closed="right"), OneOf("auto", None))


@pytest.mark.parametrize("value", ["c", 0, "", True, ["a"], np.array(["a", "b"])])
def test_another_choice_gets_a_sentence(value):
    with pytest.raises(ValueError, match=r"^letter must be one of 'a', 'b', None; got .*\.$"):
        validate("letter", value, LETTERS)


@pytest.mark.parametrize(
    ("constraints", "values"),
    [
        ([LETTERS], ["a", "b", None]),
        (SHARE, [0.5, 1, np.float32(0.25), np.int64(1), "auto", None]),
        ([SubsetOf(("a", "b"))], [("a",), ["a", "b"], ()]),
        (N_JOBS, [None, 1, -1, np.int64(2)]),
    ],
)
def test_valid_values(constraints, values):
    assert [validate("parameter", value, *constraints) for value in values] == [None] * len(values)


@pytest.mark.parametrize("value", [0, -1, 1.5, np.nan, np.inf, "half", True, [0.5], 1j])
def test_another_number_gets_a_sentence(value):
    with pytest.raises(
        ValueError, match=r"^size must be a number above 0 and at most 1, or 'auto', or None; got .*\.$"
    ):
        validate("size", value, *SHARE)


@pytest.mark.parametrize("value", [2.0, "2", 0, True])
def test_integers_are_integers(value):
    with pytest.raises(ValueError, match=r"^count must be an integer of at least 1; got .*\.$"):
        validate("count", value, Integer(1))


@pytest.mark.parametrize("value", ["a", ("a", "c"), None])
def test_another_subset_gets_a_sentence(value):
    with pytest.raises(ValueError, match=r"^letters must be a tuple of some of \('a', 'b'\); got .*\.$"):
        validate("letters", value, SubsetOf(("a", "b")))


@pytest.mark.parametrize("value", [0, 1.5, "all", True])
def test_another_number_of_threads_gets_a_sentence(value):
    with pytest.raises(ValueError, match=r"^n_jobs must be None, or an integer other than 0; got .*\.$"):
        validate("n_jobs", value, *N_JOBS)


def test_a_function_may_raise_its_own_sentence():
    with pytest.raises(ValueError, match="cannot be used to seed"):
        validate("random_state", "today", *RANDOM_STATE)


def test_a_table_is_checked_in_its_order():
    class Estimator:
        first, second = 1, "c"

    table = {"first": [Integer(1)], "second": [LETTERS]}
    with pytest.raises(ValueError, match=r"^second must be"):
        validate_parameters(Estimator(), table)
    Estimator.first = 0
    with pytest.raises(ValueError, match=r"^first must be"):
        validate_parameters(Estimator(), table)
