"""Means of relevances."""

import numpy as np

from lann.explain.aggregate import mean_by_class


def test_means_over_the_points_of_each_class():
    relevances = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 0.0]])
    means = mean_by_class(relevances, np.array([0, 0, 2]), 3)
    np.testing.assert_array_equal(means, [[2.0, 3.0], [np.nan, np.nan], [5.0, 0.0]])
