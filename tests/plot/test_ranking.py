import numpy as np

from lann.plot._ranking import largest_first


def test_largest_first_keeps_ties_in_order():
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0])).tolist() == [1, 3, 0, 2]


def test_largest_first_returns_the_wanted_number():
    assert largest_first(np.array([1.0, 3.0, 1.0, 2.0]), 2).tolist() == [1, 3]
