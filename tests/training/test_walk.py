"""The walk itself is tested where it is used: losses and gradients in test_shared.py and test_points.py."""

import numpy as np

from lann.training.walk import mix_with_neighbors


def test_mixing_moves_toward_the_mean_of_the_neighbors():
    values = np.array([[0.0, 0.0], [2.0, 4.0], [4.0, 8.0]])
    neighbors = np.array([[1, 2], [0, -1], [-1, -1]])
    mixed = mix_with_neighbors(values, neighbors, 0.5)
    np.testing.assert_allclose(mixed, [[1.5, 3.0], [1.0, 2.0], [4.0, 8.0]])
    np.testing.assert_array_equal(values[0], [0.0, 0.0])
