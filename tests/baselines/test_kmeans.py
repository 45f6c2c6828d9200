"""Cluster centers are the means of their rows, and the same for the same seed."""

import numpy as np

from lann.baselines._kmeans import cluster_centers, squared_distances


def test_centers_of_separate_clusters_are_their_means():
    rng = np.random.default_rng(0)
    centers = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    X = np.concatenate([center + 0.1 * rng.normal(size=(25, 2)) for center in centers])
    expected = X.reshape(4, 25, 2).mean(axis=1)
    np.testing.assert_allclose(sorted(cluster_centers(X, 4, rng).tolist()), sorted(expected.tolist()))


def test_every_center_is_the_mean_of_its_rows():
    rng = np.random.default_rng(1)
    X = rng.normal(size=(300, 5))
    centers = cluster_centers(X, 7, np.random.default_rng(0))
    nearest = squared_distances(X, centers).argmin(axis=1)
    for number, center in enumerate(centers):
        np.testing.assert_allclose(center, X[nearest == number].mean(axis=0))
    assert np.array_equal(centers, cluster_centers(X, 7, np.random.default_rng(0)))


def test_at_most_one_center_per_distinct_row():
    X = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    centers = cluster_centers(X, 5, np.random.default_rng(0))
    assert sorted(centers.tolist()) == [[0.0, 1.0], [2.0, 3.0]]


def test_distances_equal_the_formula():
    rng = np.random.default_rng(2)
    X, centers = rng.normal(size=(8, 3)), rng.normal(size=(4, 3))
    expected = [[np.sum((row - center) ** 2) for center in centers] for row in X]
    np.testing.assert_allclose(squared_distances(X, centers), expected)
