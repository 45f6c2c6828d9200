"""New points go where their neighbors pull them: to the minimum, among the majority."""

import numpy as np
import pytest
from scipy.optimize import minimize

from lann.embedding.placement import place_among


def cost(place, own_places, distances, scale):
    return np.sum(np.log1p(((place - own_places) ** 2).sum(axis=1) / scale**2) / distances)


@pytest.fixture
def scattered():
    rng = np.random.default_rng(0)
    places = rng.normal(size=(60, 2)) * 3
    neighbors = np.array([rng.choice(60, 8, replace=False) for _ in range(40)])
    return neighbors, np.sort(rng.uniform(0.2, 4.0, size=(40, 8)), axis=1), places


def test_no_better_place_near_by(scattered):
    """The result is a minimum, found by a general solver too, and no worse than any neighbor's place."""
    neighbors, distances, places = scattered
    found = place_among(neighbors, distances, places, 1.3)
    for place, own, far in zip(found, neighbors, distances, strict=True):
        here = cost(place, places[own], far, 1.3)
        better = minimize(cost, place, (places[own], far, 1.3), method="Nelder-Mead", options={"xatol": 1e-9})
        assert here == pytest.approx(better.fun, rel=1e-6)
        assert here <= min(cost(start, places[own], far, 1.3) for start in places[own]) + 1e-12


def test_goes_among_the_majority_not_between():
    places = np.array([[0.0, 0.0], [0.1, 0.0], [0.0, 0.1], [20.0, 0.0], [20.1, 0.0]])
    place = place_among(np.arange(5)[None], np.ones((1, 5)), places, 1.0)[0]
    assert np.linalg.norm(place - places[:3].mean(axis=0)) < 0.3


def test_nearer_neighbors_pull_more():
    places = np.array([[0.0, 0.0], [1.0, 0.0]])
    near_first = place_among(np.array([[0, 1]]), np.array([[0.1, 1.0]]), places, 5.0)[0]
    assert near_first[0] < 0.2


def test_at_distance_zero_it_is_that_point():
    places = np.array([[3.0, 1.0], [3.0, 1.0], [3.0, 1.0], [7.0, 7.0]])
    found = place_among(np.array([[0, 1, 2, 3]]), np.array([[0.0, 0.0, 0.0, 1.0]]), places, 1.0)
    assert np.array_equal(found, [[3.0, 1.0]])


@pytest.mark.parametrize("size", [1e-300, 1e-150, 1e150, 1e300])
def test_any_size_of_distances(scattered, size):
    neighbors, distances, places = scattered
    np.testing.assert_allclose(
        place_among(neighbors, distances * size, places, 1.3),
        place_among(neighbors, distances, places, 1.3),
        atol=1e-5,
    )


def test_each_by_itself_and_on_any_number_of_threads(scattered):
    neighbors, distances, places = scattered
    together = place_among(neighbors, distances, places, 1.3)
    alone = [place_among(neighbors[[i]], distances[[i]], places, 1.3)[0] for i in range(40)]
    assert np.array_equal(together, alone)
    many = np.tile(np.arange(40), 300)
    assert np.array_equal(
        place_among(neighbors[many], distances[many], places, 1.3, n_jobs=2), together[many]
    )


def test_nothing_to_place():
    assert place_among(np.empty((0, 3), int), np.empty((0, 3)), np.zeros((5, 2)), 1.0).shape == (0, 2)
