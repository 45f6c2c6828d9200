"""Coordinates of new rows minimize the weighted sum, and lie among the majority of the neighbors."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lann.embedding._placement import coordinates_by_neighbors


def cost(row, neighbor_coordinates, distances, scale):
    return np.sum(np.log1p(((row - neighbor_coordinates) ** 2).sum(axis=1) / scale**2) / distances)


@pytest.fixture
def scattered():
    rng = np.random.default_rng(0)
    coordinates = rng.normal(size=(60, 2)) * 3
    neighbors = np.array([rng.choice(60, 8, replace=False) for _ in range(40)])
    return neighbors, np.sort(rng.uniform(0.2, 4.0, size=(40, 8)), axis=1), coordinates


def test_they_are_a_minimum(scattered):
    """A general solver finds the same minimum, which is no worse than the coordinates of any neighbor."""
    neighbors, distances, coordinates = scattered
    found = coordinates_by_neighbors(neighbors, distances, coordinates, 1.3)
    for row, own, far in zip(found, neighbors, distances, strict=True):
        here = cost(row, coordinates[own], far, 1.3)
        better = minimize(
            cost, row, (coordinates[own], far, 1.3), method="Nelder-Mead", options={"xatol": 1e-9}
        )
        assert here == pytest.approx(better.fun, rel=1e-6)
        assert here <= min(cost(start, coordinates[own], far, 1.3) for start in coordinates[own]) + 1e-12


def test_a_row_lies_among_the_majority_not_between_groups():
    coordinates = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [20.0, 0.0], [20.1, 0.0]])
    row = coordinates_by_neighbors(np.arange(5)[None], np.ones((1, 5)), coordinates, 1.0)[0]
    assert np.linalg.norm(row - coordinates[:3].mean(axis=0)) < 0.3


def test_nearer_neighbors_have_more_weight():
    coordinates = np.array([[0.0, 0.0], [1.0, 0.0]])
    near_first = coordinates_by_neighbors(np.array([[0, 1]]), np.array([[0.1, 1.0]]), coordinates, 5.0)[0]
    assert near_first[0] < 0.2


def test_a_training_row_keeps_its_coordinates():
    coordinates = np.array([[3.0, 1.0], [3.0, 1.0], [3.0, 1.0], [7.0, 7.0]])
    found = coordinates_by_neighbors(
        np.array([[0, 1, 2, 3]]), np.array([[0.0, 0.0, 0.0, 1.0]]), coordinates, 1.0
    )
    assert np.array_equal(found, [[3.0, 1.0]])


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_any_scale_of_distances(scattered, size):
    neighbors, distances, coordinates = scattered
    np.testing.assert_allclose(
        coordinates_by_neighbors(neighbors, distances * size, coordinates, 1.3),
        coordinates_by_neighbors(neighbors, distances, coordinates, 1.3),
        atol=1e-5,
    )


def test_rows_do_not_depend_on_each_other_or_on_threads(scattered):
    neighbors, distances, coordinates = scattered
    together = coordinates_by_neighbors(neighbors, distances, coordinates, 1.3)
    alone = [coordinates_by_neighbors(neighbors[[i]], distances[[i]], coordinates, 1.3)[0] for i in range(40)]
    assert np.array_equal(together, alone)
    many = np.tile(np.arange(40), 300)
    assert np.array_equal(
        coordinates_by_neighbors(neighbors[many], distances[many], coordinates, 1.3, n_jobs=2), together[many]
    )


def test_no_rows():
    assert coordinates_by_neighbors(np.empty((0, 3), int), np.empty((0, 3)), np.zeros((5, 2)), 1.0).shape == (
        0,
        2,
    )
