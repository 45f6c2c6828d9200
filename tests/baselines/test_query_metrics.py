"""DANN and GLML measure by the published formulas at every query."""

import numpy as np
import pytest
from scipy.linalg import inv, sqrtm
from scipy.stats import multivariate_normal
from sklearn.neighbors import KNeighborsClassifier

from lann.baselines import DANN, GLML
from lann.baselines._query_metrics import bias_matrices, class_gaussians, minimal_bias_metric
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


def test_dann_with_max_iter_0_is_plain_knn(iris):
    X, y = iris
    clf, knn = DANN(max_iter=0).fit(X[::2], y[::2]), KNeighborsClassifier(5).fit(X[::2], y[::2])
    np.testing.assert_allclose(clf.kneighbors(X[1::2])[0], knn.kneighbors(X[1::2])[0])


def test_dann_is_better_than_knn_if_relevant_directions_vary():
    X, y = make_licorice(1200, noise=0.05, random_state=0)
    knn = KNeighborsClassifier(5).fit(X[:600], y[:600]).score(X[600:], y[600:])
    assert DANN(n_metric_neighbors=60).fit(X[:600], y[:600]).score(X[600:], y[600:]) > knn + 0.02


@pytest.fixture(params=[2, 3])
def gaussians(request):
    n_classes = request.param
    rng = np.random.default_rng(n_classes)
    labels = np.repeat(np.arange(n_classes), [20, 30, 40][:n_classes])
    X = rng.normal(size=(len(labels), 3)) @ rng.normal(size=(3, 3)) + labels[:, None]
    return class_gaussians(X, labels, n_classes, shrinkage=0.2)[0], rng


def density(gaussians, c, x):
    covariance = np.linalg.inv(gaussians.precisions[c])
    return gaussians.priors[c] * multivariate_normal(gaussians.means[c], covariance).pdf(x)


def density_hessian(gaussians, c, x, step=1e-3):
    """Compute second derivatives by central differences."""
    n = len(x)
    hessian, steps = np.empty((n, n)), step * np.eye(n)
    for a in range(n):
        for b in range(n):
            hessian[a, b] = (
                density(gaussians, c, x + steps[a] + steps[b])
                - density(gaussians, c, x + steps[a] - steps[b])
                - density(gaussians, c, x - steps[a] + steps[b])
                + density(gaussians, c, x - steps[a] - steps[b])
            ) / (4 * step**2)
    return hessian


def assert_proportional(matrix, expected):
    factor = np.sum(matrix * expected) / np.sum(expected**2)
    assert factor > 0
    np.testing.assert_allclose(matrix, factor * expected, atol=1e-4 * np.abs(matrix).max())


def test_bias_matrices_equal_the_formula(gaussians):
    gaussians, rng = gaussians
    for x in rng.normal(size=(5, 3)):
        densities = [density(gaussians, c, x) for c in range(len(gaussians.priors))]
        expected = np.zeros((3, 3))
        for c, p in enumerate(densities):
            others = [other for number, other in enumerate(densities) if number != c]
            factor = sum(other**2 for other in others) - p * sum(others)
            expected += factor * density_hessian(gaussians, c, x)
        assert_proportional(bias_matrices(gaussians, x[None])[0], expected)


@pytest.mark.parametrize("signs", [(1, 1, 1, 1), (-1, -1, -1, -1), (1, -1, -1, -1), (1, 1, -1, -1)])
def test_no_metric_of_the_same_determinant_has_a_smaller_bias(signs):
    rng = np.random.default_rng(1)
    rotation = np.linalg.qr(rng.normal(size=(4, 4)))[0]
    B = (rotation * (np.array(signs) * [3.0, 1.0, 0.5, 2.0])) @ rotation.T

    def bias(metric):
        metric = metric / np.linalg.det(metric) ** 0.25
        return abs(np.trace(np.linalg.inv(metric) @ B))

    values, axes = minimal_bias_metric(B)
    smallest = bias((axes * values) @ axes.T)
    if len(set(signs)) == 2:
        assert smallest == pytest.approx(0.0, abs=1e-10)
    for _ in range(200):
        root = rng.normal(size=(4, 4))
        assert bias(root @ root.T) >= smallest - 1e-10


def test_metrics_have_determinant_1(iris):
    X, y = iris
    clf = GLML(alpha=0.3).fit(X, y)
    maps = clf.model_.maps_at(X[::10])
    np.testing.assert_allclose(np.linalg.slogdet(maps)[1], 0.0, atol=1e-8)


def narrow_and_wide_gaussian(n_samples, rng):
    """Draw two classes around the origin: the relevant direction at a query is that of the origin."""
    labels = rng.integers(0, 2, n_samples)
    return rng.normal(size=(n_samples, 10)) * (1.0 + labels)[:, None], labels


def test_glml_is_better_than_knn_if_relevant_directions_vary():
    rng = np.random.default_rng(0)
    X_train, y_train = narrow_and_wide_gaussian(300, rng)
    X_test, y_test = narrow_and_wide_gaussian(1000, rng)
    knn = KNeighborsClassifier(5).fit(X_train, y_train).score(X_test, y_test)
    assert GLML().fit(X_train, y_train).score(X_test, y_test) > knn + 0.1
