import numpy as np
import pytest

from lann import _native
from lann.search import Partition


@pytest.fixture
def points():
    rng = np.random.default_rng(0)
    return rng.normal(size=(40, 3))[rng.integers(40, size=3000)] * 5 + rng.normal(size=(3000, 3))


def test_points_are_in_the_cell_of_the_nearest_center(points):
    weights = np.array([1.0, 4.0, 0.25])
    partition = Partition.fit(points, 30, np.random.default_rng(1), weights=weights)
    coordinates = (points - partition.offset) * partition.scale
    distances = np.square(coordinates[:, None] - partition.centers).sum(axis=2)
    np.testing.assert_array_equal(partition.assign(points), distances.argmin(axis=1))
    np.testing.assert_array_equal(partition.nearest(points, 7), np.argsort(distances, axis=1)[:, :7])
    np.testing.assert_allclose(partition.scale**2 / partition.scale[0] ** 2, weights)


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_smallest_positions(n):
    values = np.random.default_rng(0).integers(8, size=(50, 40)).astype(float)
    found = np.empty((50, n), np.int32)
    _native.smallest_positions(values, found)
    np.testing.assert_array_equal(found, np.argsort(values, axis=1, kind="stable")[:, :n])
