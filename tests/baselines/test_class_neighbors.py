"""Nearest rows of the same class and of other classes equal those by sorting all distances."""

import numpy as np

from lann.baselines._class_neighbors import nearest_other_class, nearest_same_class


def reference_neighbors(X, labels, k, same_class):
    neighbors = np.full((len(X), k), -1)
    for i, row in enumerate(X):
        allowed = [j for j in range(len(X)) if j != i and (labels[j] == labels[i]) == same_class]
        allowed.sort(key=lambda j: (np.sum((X[j] - row) ** 2), j))
        neighbors[i, : len(allowed[:k])] = allowed[:k]
    return neighbors


def test_neighbors_equal_the_reference():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(50, 3)), rng.integers(0, 3, 50)
    X[7] = X[3]
    labels[:2], labels[2] = 3, 4  # a class of two rows, and a class of one
    for k in (1, 4, 30):
        assert np.array_equal(nearest_same_class(X, labels, k), reference_neighbors(X, labels, k, True))
        assert np.array_equal(nearest_other_class(X, labels, k), reference_neighbors(X, labels, k, False))
    assert (nearest_same_class(X, labels, 4)[2] == -1).all()
    assert nearest_same_class(X, labels, 4)[0].tolist() == [1, -1, -1, -1]
