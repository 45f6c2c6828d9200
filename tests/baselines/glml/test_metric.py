"""The metric of GLML minimizes the bias of the nearest-neighbor error, given class densities."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal

from lann.baselines._glml.gaussians import class_gaussians
from lann.baselines._glml.metric import bias_matrices, minimal_bias_metric


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


def test_two_classes_equal_the_published_formula(gaussians):
    gaussians, rng = gaussians
    gaussians = gaussians._replace(**{name: getattr(gaussians, name)[:2] for name in gaussians._fields})
    x = rng.normal(size=3)
    p1, p2 = density(gaussians, 0, x), density(gaussians, 1, x)
    h1, h2 = density_hessian(gaussians, 0, x), density_hessian(gaussians, 1, x)
    expected = p1**2 * h2 + p2**2 * h1 - p1 * p2 * (h1 + h2)
    assert_proportional(bias_matrices(gaussians, x[None])[0], expected)


def test_bias_matrices_are_not_0_if_densities_underflow(gaussians):
    matrix = bias_matrices(gaussians[0], np.array([[1e3, -1e3, 1e3]]))[0]
    assert np.isfinite(matrix).all()
    assert np.abs(matrix).max() > 0


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


def test_all_directions_count_the_same_if_the_bias_is_0():
    values, _ = minimal_bias_metric(np.zeros((2, 3, 3)))
    np.testing.assert_array_equal(values, np.ones((2, 3)))
