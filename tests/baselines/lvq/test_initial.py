"""Initial prototypes are centers of the classes, and initial axes the features or principal axes."""

import numpy as np

from lann.baselines._lvq.initial import initial_axes, initial_prototypes


def test_one_prototype_is_the_mean_of_its_class(blobs):
    X, y = blobs
    prototypes, labels = initial_prototypes(X, y, 1, np.random.default_rng(0))
    assert labels.tolist() == [0, 1, 2]
    np.testing.assert_allclose(prototypes, [X[y == label].mean(axis=0) for label in range(3)])


def test_several_prototypes_are_centers_within_their_class():
    X = np.array([[0.0], [0.2], [5.0], [5.2], [9.0], [9.2]])
    prototypes, labels = initial_prototypes(X, np.array([0, 0, 0, 0, 1, 1]), 2, np.random.default_rng(0))
    assert labels.tolist() == [0, 0, 1, 1]
    np.testing.assert_allclose(sorted(prototypes[:2, 0]), [0.1, 5.1])
    np.testing.assert_allclose(sorted(prototypes[2:, 0]), [9.0, 9.2])


def test_a_class_has_at_most_one_prototype_per_distinct_row():
    X = np.array([[0.0], [0.0], [1.0], [4.0]])
    prototypes, labels = initial_prototypes(X, np.array([0, 0, 0, 1]), 3, np.random.default_rng(0))
    assert labels.tolist() == [0, 0, 1]
    assert sorted(prototypes[:2, 0]) == [0.0, 1.0]


def test_axes_are_the_features_or_the_first_principal_axes():
    rng = np.random.default_rng(0)
    direction = np.array([3.0, 0.0, 4.0]) / 5.0
    X = rng.normal(size=(200, 1)) * direction + 0.1 * rng.normal(size=(200, 3))
    assert np.array_equal(initial_axes(X, 3), np.eye(3))
    axes = initial_axes(X, 2)
    np.testing.assert_allclose(axes @ axes.T, np.eye(2), atol=1e-12)
    np.testing.assert_allclose(axes[0], direction, atol=0.05)
