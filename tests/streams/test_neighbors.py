"""Distances, nearest rows and votes of the kernels agree with the slow reference."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import nan_euclidean_distances

from lann.streams._neighbors import squared_distances, vote_weights
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
