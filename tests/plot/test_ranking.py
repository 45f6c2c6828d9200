import numpy as np

from lann.plot._ranking import largest_first, natural_order


def test_largest_first_keeps_ties_in_order():
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]


def test_largest_first_returns_the_wanted_number():
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0]), 2).tolist() == [1, 3]


def test_numbers_in_names_are_ordered_by_value():
    assert natural_order(["10", "9", "008", "0"]) == [3, 2, 1, 0]
    assert natural_order(["b 1", "a 10", "a 2", "a"]) == [3, 2, 1, 0]
    assert natural_order(["2" + "0" * 5000, "1" + "0" * 5000]) == [1, 0]
