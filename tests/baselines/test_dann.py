"""DANN measures by the published formula at every query."""

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import DANN
from lann.datasets import make_licorice


def published_metric(query, X, y, *, n_metric_neighbors, epsilon, shrinkage, n_iter):
    """Compute Λ at one query, step by step as published."""
    n_features = X.shape[1]
    metric = np.eye(n_features)
    for _ in range(n_iter):
        distances = np.array([np.sqrt((x - query) @ metric @ (x - query)) for x in X])
        near = np.argsort(distances)[:n_metric_neighbors]
        weights = (1 - (distances[near] / distances[near].max()) ** 3) ** 3
        total = weights.sum()
        mean = sum(w * X[j] for w, j in zip(weights, near, strict=True)) / total
        B, W = np.zeros((n_features, n_features)), np.zeros((n_features, n_features))
        for label in np.unique(y[near]):
            members = [(w, X[j]) for w, j in zip(weights, near, strict=True) if y[j] == label]
            class_total = sum(w for w, _ in members)
            if class_total == 0:
                continue
            class_mean = sum(w * x for w, x in members) / class_total
            B += class_total / total * np.outer(class_mean - mean, class_mean - mean)
            W += sum(w * np.outer(x - class_mean, x - class_mean) for w, x in members) / total
        W = (1 - shrinkage) * W + shrinkage * np.trace(W) / n_features * np.eye(n_features)
        root = inv(sqrtm(W).real)
        metric = root @ (root @ B @ root + epsilon * np.eye(n_features)) @ root
    return metric


@pytest.mark.parametrize("max_iter", [1, 2, 3])
@pytest.mark.parametrize("epsilon", [0.5, 1.0])
def test_metric_equals_the_published_formula(iris, max_iter, epsilon):
    X, y = iris
    clf = DANN(n_metric_neighbors=40, alpha=epsilon, shrinkage=0.2, max_iter=max_iter).fit(X[::2], y[::2])
    queries = X[1::20]
    for query, omega in zip(queries, clf.model_.maps_at(queries), strict=True):
        expected = published_metric(
            query, X[::2], y[::2], n_metric_neighbors=40, epsilon=epsilon, shrinkage=0.2, n_iter=max_iter
        )
        np.testing.assert_allclose(omega.T @ omega, expected, rtol=1e-6, atol=1e-6 * np.abs(expected).max())


def test_max_iter_0_is_plain_knn(iris):
    X, y = iris
    clf, knn = DANN(max_iter=0).fit(X[::2], y[::2]), KNeighborsClassifier(5).fit(X[::2], y[::2])
    np.testing.assert_allclose(clf.kneighbors(X[1::2])[0], knn.kneighbors(X[1::2])[0])


def test_better_than_knn_if_relevant_directions_vary():
    X, y = make_licorice(1200, noise=0.05, random_state=0)
    knn = KNeighborsClassifier(5).fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert DANN(n_metric_neighbors=60).fit(X[:600], y[:600]).score(X[600:], y[600:]) > knn + 0.02
