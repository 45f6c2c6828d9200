"""Distances, nearest rows and votes of the kernels agree with the slow reference."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

from lann.streams._neighbors import extend_nearest, squared_distances, vote, vote_weights
from lann.vote import HUGE
from tests.streams import reference


@pytest.mark.parametrize("n_features", [1, 3, 4, 9, 54])
@pytest.mark.parametrize("gaps", [False, True])
def test_distances(n_features, gaps):
    rng = np.random.default_rng(n_features)
    X, x = rng.normal(size=(n_features, 1300)), rng.normal(size=n_features)
    if gaps:
        X[rng.random(X.shape) < 0.3] = np.nan
    found = np.full(1300, -1.0)
    squared_distances(X, 100, 1250, x, gaps, found)
    assert (found[:100] == -1).all()
    assert (found[1250:] == -1).all()
    np.testing.assert_array_equal(found[100:1250], reference.distances_to(x, X[:, 100:1250].T))
    expected = nan_euclidean_distances(x[None], X[:, 100:1250].T)[0] ** 2
    some = found[100:1250] < HUGE
    np.testing.assert_allclose(found[100:1250][some], expected[some], rtol=1e-10)
    np.testing.assert_array_equal(np.isnan(expected), ~some)


def test_a_distance_does_not_depend_on_the_position_of_the_row():
    rng = np.random.default_rng(0)
    row, x = rng.normal(size=7), rng.normal(size=7)
    found = np.empty(1100)
    squared_distances(np.repeat(row[:, None], 1100, axis=1), 0, 1100, x, False, found)
    assert len(np.unique(found)) == 1


def test_nearest_are_those_of_a_stable_sort():
    rng = np.random.default_rng(0)
    for k in (1, 4, 30):
        distances = rng.integers(0, 12, size=60).astype(float)
        nearest, lengths = np.empty(k, np.int64), np.empty(k)
        n_found = extend_nearest(distances, 40, 60, nearest, lengths, 0)
        n_found = extend_nearest(distances, 10, 40, nearest, lengths, n_found)
        assert n_found == k
        expected = 10 + np.argsort(distances[10:], kind="stable")[:k]
        np.testing.assert_array_equal(nearest, expected)
        np.testing.assert_array_equal(lengths, distances[expected])


def test_fewer_rows_than_neighbors():
    nearest, lengths = np.empty(5, np.int64), np.empty(5)
    assert extend_nearest(np.array([2.0, 1.0]), 0, 2, nearest, lengths, 0) == 2
    assert nearest[:2].tolist() == [1, 0]


@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([0.0, 0.0, 0.0], [1, 1, 1]),
        ([0.0, 1.0, 4.0], [1e9, 2, 1]),
        ([1e-300, 1e-300, 1e300], [1e9, 1e9, 1]),
        ([1.0, 4.0, 16.0], [4, 2, 1]),
        ([HUGE, HUGE, HUGE], [1, 1, 1]),
    ],
)
def test_weights_are_finite_and_relative_to_the_farthest(lengths, expected):
    weights = np.empty(3)
    vote_weights(np.array(lengths), 3, weights)
    np.testing.assert_allclose(weights, expected)
    scaled = np.empty(3)
    vote_weights(np.array(lengths) * 1e-12, 3, scaled)
    np.testing.assert_allclose(scaled, expected)


def test_the_lower_class_wins_a_tie():
    support, weights = np.zeros(4), np.empty(4)
    lengths = np.array([1.0, 1.0, 4.0, 4.0])
    assert vote(np.array([3, 1, 1, 3]), lengths, 4, weights, support) == 1
    assert vote(np.array([3, 1, 3, 2]), lengths, 4, weights, support) == 3
    assert vote(np.array([3, 1, 1, 3]), lengths, 0, weights, support) == -1
    assert not support.any()
