"""Initial maps are principal axes, features or given, and the margin is the mean distance to targets."""

import numpy as np
import pytest

from lann.baselines._large_margin.initial import initial_components, mean_target_distance


def test_initial_maps():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(50, 3)) * [1.0, 5.0, 3.0] + 7.0
    axes = initial_components(X, "pca", 2)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(np.abs(axes), np.eye(3)[[1, 2]], atol=0.2)
    np.testing.assert_array_equal(initial_components(X, "identity", 2), np.eye(2, 3))
    np.testing.assert_array_equal(initial_components(X, "pca", None), np.eye(3))
    given = rng.normal(size=(2, 3))
    np.testing.assert_array_equal(initial_components(X, given.tolist(), None), given)


@pytest.mark.parametrize(
    ("init", "n_components", "message"),
    [
        ("pca", 4, "n_components=4 must be at most the number of features, 3"),
        (np.eye(2), None, r"init must have the shape \(n_components, 3\); got an array of shape \(2, 2\)"),
        (np.eye(3), 2, r"init must have the shape \(2, 3\); got an array of shape \(3, 3\)"),
    ],
)
def test_invalid_shapes_raise(init, n_components, message):
    with pytest.raises(ValueError, match=message):
        initial_components(np.ones((5, 3)), init, n_components)


def test_mean_target_distance():
    X = np.array([[0.0], [1.0], [3.0]])
    assert mean_target_distance(X, np.array([[1, 2], [0, -1], [-1, -1]])) == pytest.approx((1 + 9 + 1) / 3)
    assert mean_target_distance(np.zeros((2, 1)), np.array([[1], [0]])) == 1.0
    assert mean_target_distance(X, np.full((3, 2), -1)) == 1.0
