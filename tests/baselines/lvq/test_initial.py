"""Prototypes start within their classes, and axes where the points spread."""

import numpy as np

from lann.baselines._lvq.initial import starting_axes, starting_prototypes


def test_one_prototype_is_the_mean_of_its_class(blobs):
    prototypes, labels = starting_prototypes(*blobs, 1, np.random.default_rng(0))
    X, y = blobs
    assert labels.tolist() == [0, 1, 2]
    np.testing.assert_allclose(prototypes, [X[y == label].mean(axis=0) for label in range(3)])


def test_several_are_centers_within_the_class():
    points = np.array([[0.0], [0.2], [5.0], [5.2], [9.0], [9.2]])
    prototypes, labels = starting_prototypes(
        points, np.array([0, 0, 0, 0, 1, 1]), 2, np.random.default_rng(0)
    )
    assert labels.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(sorted(prototypes[:2, 0]), [0.1, 5.1])
    np.testing.assert_allclose(sorted(prototypes[2:, 0]), [9.0, 9.2])


def test_no_more_prototypes_than_different_points():
    points = np.array([[0.0], [0.0], [1.0], [4.0]])
    prototypes, labels = starting_prototypes(points, np.array([0, 0, 0, 1]), 3, np.random.default_rng(0))
    assert labels.tolist() == [0, 0, 1]
    assert sorted(prototypes[:2, 0]) == [0.0, 1.0]


def test_all_axes_are_the_features_and_few_the_widest_directions():
    rng = np.random.default_rng(0)
    along = np.array([3.0, 0.0, 4.0]) / 5.0
    points = rng.normal(size=(200, 1)) * along + 0.1 * rng.normal(size=(200, 3))
    assert np.array_equal(starting_axes(points, 3), np.eye(3))
    axes = starting_axes(points, 2)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(axes[0], along, atol=0.05)
