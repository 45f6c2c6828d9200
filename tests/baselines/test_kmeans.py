"""Cluster centers are means of what is nearest to them, and are found again with the same seed."""

import numpy as np

from lann.baselines._kmeans import cluster_centers, squared_distances


def test_centers_of_separate_clusters_are_their_means():
    rng = np.random.default_rng(0)
    middles = np.array([[0.0, 0.0], [10.0, 0.0], [0.0, 10.0], [10.0, 10.0]])
    points = np.concatenate([middle + 0.1 * rng.normal(size=(25, 2)) for middle in middles])
    centers = cluster_centers(points, 4, rng)
    expected = points.reshape(4, 25, 2).mean(axis=1)
    np.testing.assert_allclose(sorted(centers.tolist()), sorted(expected.tolist()))


def test_every_center_is_the_mean_of_its_points():
    rng = np.random.default_rng(1)
    points = rng.normal(size=(300, 5))
    centers = cluster_centers(points, 7, np.random.default_rng(0))
    nearest = squared_distances(points, centers).argmin(axis=1)
    for place, center in enumerate(centers):
        np.testing.assert_allclose(center, points[nearest == place].mean(axis=0))
    assert np.array_equal(centers, cluster_centers(points, 7, np.random.default_rng(0)))


def test_no_more_centers_than_different_points():
    points = np.repeat([[0.0, 1.0], [2.0, 3.0]], 10, axis=0)
    centers = cluster_centers(points, 5, np.random.default_rng(0))
    assert sorted(centers.tolist()) == [[0.0, 1.0], [2.0, 3.0]]


def test_distances_are_those_of_the_formula():
    rng = np.random.default_rng(2)
    points, centers = rng.normal(size=(8, 3)), rng.normal(size=(4, 3))
    expected = [[np.sum((point - center) ** 2) for center in centers] for point in points]
    np.testing.assert_allclose(squared_distances(points, centers), expected)
