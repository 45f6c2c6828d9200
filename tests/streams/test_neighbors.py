"""Distances, nearest rows and votes of the compiled memories agree with the slow reference."""

import numpy as np
import pytest

from lann.streams import SAMKNN
from tests.streams import reference


@pytest.mark.parametrize("n_features", [1, 3, 4, 9, 54])
@pytest.mark.parametrize("gaps", [False, True])
def test_nearest_rows(n_features, gaps):
    rng = np.random.default_rng(n_features)
    X, x = rng.normal(size=(331, n_features)), rng.normal(size=n_features)
    if gaps:
        X[rng.random(X.shape) < 0.3] = np.nan
        X[:, 0] = np.where(np.isnan(X).all(axis=1), 0.0, X[:, 0])
    # The windows are as large as the memory, and no row is learned without its neighbors.
    clf = SAMKNN(150, min_window_size=1000).fit(X, np.arange(331) % 2)
    found = clf.explain_one(x)
    order, squared = reference.nearest_rows(x, X, 150)
    np.testing.assert_array_equal(331 - found.ages, order)
    np.testing.assert_allclose(found.distances, np.sqrt(squared), rtol=1e-10)
    weights = reference.vote_weights(squared)
    np.testing.assert_allclose(found.vote_shares, weights / weights.sum(), rtol=1e-10)


@pytest.mark.parametrize("scale", [1.0, 1e-6, 1e50])
@pytest.mark.parametrize(
    ("lengths", "expected"),
    [
        ([0.0, 0.0, 0.0], [1, 1, 1]),
        ([0.0, 1.0, 2.0], [1e9, 2, 1]),
        ([1e-60, 1e-60, 1.0], [1e9, 1e9, 1]),
        ([1.0, 2.0, 4.0], [4, 2, 1]),
        ([np.nan, np.nan, np.nan], [1, 1, 1]),
    ],
)
def test_weights_are_finite_and_relative_to_the_farthest(lengths, expected, scale):
    X = np.array(lengths)[:, None] * [scale, np.nan]
    X[np.isnan(X[:, 0]), 1] = 1.0
    clf = SAMKNN(3).partial_fit(X, [0, 1, 2])
    shares = clf.explain_one([0.0, np.nan]).vote_shares
    np.testing.assert_allclose(shares, np.array(expected) / np.sum(expected))
