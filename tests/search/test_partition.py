import numpy as np
import pytest

from lann.search import Partition
from lann.search._cells import smallest_positions


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


def test_centers_are_near_the_means_of_their_cells(points):
    partition = Partition.fit(points, 30, np.random.default_rng(1))
    cells = partition.assign(points)
    assert partition.n_cells == 30
    assert np.bincount(cells, minlength=30).min() > 0
    within = np.square((points - partition.offset) * partition.scale - partition.centers[cells]).sum()
    random = points[np.random.default_rng(2).choice(3000, 30, replace=False)]
    others = Partition((random - partition.offset) * partition.scale, partition.offset, partition.scale)
    cells = others.assign(points)
    assert within < 0.75 * np.square((points - others.offset) * others.scale - others.centers[cells]).sum()


def test_the_same_bits_for_any_number_of_threads(points):
    one, two = (Partition.fit(points, 50, np.random.default_rng(0), n_jobs=n) for n in (1, 2))
    np.testing.assert_array_equal(one.centers, two.centers)
    np.testing.assert_array_equal(one.assign(points, n_jobs=1), one.assign(points, n_jobs=2))


def test_copies_and_few_points():
    partition = Partition.fit(np.repeat([[1.0, 2.0], [3.0, 4.0]], 50, axis=0), 20, np.random.default_rng(0))
    assert partition.n_cells == 2
    one = Partition.fit(np.full((5, 2), 7.0), 3, np.random.default_rng(0))
    assert one.n_cells == 1
    np.testing.assert_array_equal(one.assign(np.empty((0, 2))), [])


@pytest.mark.parametrize("n", [1, 2, 9, 40])
def test_smallest_positions(n):
    values = np.random.default_rng(0).integers(8, size=(50, 40)).astype(float)
    np.testing.assert_array_equal(
        smallest_positions(values, n), np.argsort(values, axis=1, kind="stable")[:, :n]
    )


def test_many_cells_are_measured_block_by_block(monkeypatch):
    rng = np.random.default_rng(2)
    points = rng.normal(size=(60, 3))
    partition = Partition.fit(points, 8, rng)
    nearest = partition.nearest(points, 3)
    monkeypatch.setattr("lann.search._cells.LARGEST_BLOCK", 5 * partition.n_cells)
    np.testing.assert_array_equal(partition.nearest(points, 3), nearest)
    assert partition.nearest(points[:0], 3).shape == (0, 3)


def test_points_at_any_distance_have_nearest_cells():
    rng = np.random.default_rng(3)
    partition = Partition.fit(rng.normal(size=(60, 3)), 8, rng)
    far = np.array([[1e308, -1e308, 0.0], [np.inf, 0.0, 0.0], [np.nan, 1.0, 1.0], [1e200, 1e200, 1e200]])
    nearest = partition.nearest(far, partition.n_cells)
    np.testing.assert_array_equal(np.sort(nearest, axis=1), np.tile(np.arange(partition.n_cells), (4, 1)))
    np.testing.assert_array_equal(partition.assign(far), nearest[:, 0])
