"""Nearest of the same class and of others, against sorting all distances."""

import numpy as np

from lann.baselines._class_neighbors import nearest_other_class, nearest_same_class


def reference(points, labels, k, same):
    found = np.full((len(points), k), -1)
    for i, point in enumerate(points):
        fit = [j for j in range(len(points)) if j != i and (labels[j] == labels[i]) == same]
        fit.sort(key=lambda j: (np.sum((points[j] - point) ** 2), j))
        found[i, : len(fit[:k])] = fit[:k]
    return found


def test_equal_sorting_all_distances():
    rng = np.random.default_rng(0)
    points, labels = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    points[7] = points[3]
    labels[:2], labels[2] = 3, 4  # a pair, and a class of its own
    for k in (1, 4, 30):
        assert np.array_equal(nearest_same_class(points, labels, k), reference(points, labels, k, True))
        assert np.array_equal(nearest_other_class(points, labels, k), reference(points, labels, k, False))
    assert (nearest_same_class(points, labels, 4)[2] == -1).all()
    assert nearest_same_class(points, labels, 4)[0].tolist() == [1, -1, -1, -1]
