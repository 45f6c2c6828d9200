import numpy as np
import pytest

from lann.training._matrix_kernels import (
    Descent,
    MatrixPoints,
    PairSlopes,
    descend,
    matrix_gradient,
    mix_matrices,
    pair_distances,
    write_mean_squares,
)


@pytest.fixture
def metric():
    rng = np.random.default_rng(0)
    return MatrixPoints(
        rng.normal(size=(6, 3)),
        rng.uniform(0.5, 2.0, size=(6, 3)),
        np.eye(3, 2) + 0.3 * rng.normal(size=(6, 3, 2)),
        rng.uniform(0.5, 2.0, size=6),
    )


def squared_distance(metric, query, j, mask):
    u = metric.roots[j] * mask * (metric.points[j] - metric.points[query])
    return metric.scales[j] * np.sum((metric.matrices[j].T @ u) ** 2)


def test_distances_of_pairs(metric):
    queries, neighbors = np.array([0, 1, 2, 3]), np.array([4, 4, 5, 0])
    mask, out = np.array([1.0, 0.0, 1.0]), np.full(4, -1.0)
    pair_distances(np.array([0, 1, 3]), queries, neighbors, mask, metric, out)
    for pair in (0, 1, 3):
        expected = squared_distance(metric, queries[pair], neighbors[pair], mask)
        assert out[pair] == pytest.approx(expected, rel=1e-12)
    assert out[2] == -1.0


def test_a_step_is_that_of_the_gradient_and_the_regularization(metric):
    pairs = PairSlopes(
        np.array([4, 5]), np.array([0, 2, 3]), np.array([0, 1, 2]), np.array([0.3, -0.2, 0.1]), np.ones(3)
    )
    start = metric.matrices.copy()
    gradient = np.empty((3, 2))
    by_scale = 5.0 * matrix_gradient(0, pairs, metric, gradient)
    second = np.zeros(6)
    found = descend(pairs, metric, Descent(5.0, 0.4, 0.1, 0.99, 2.0), second)
    assert found[0] == pytest.approx(by_scale)
    gradient = 5.0 * gradient + 0.4 * (start[4] - np.eye(3, 2))
    size = np.sum(gradient**2) / 3
    assert second[4] == pytest.approx(0.01 * size)
    expected = start[4] - 0.1 * gradient / (np.sqrt(2.0 * second[4]) + 1e-4)
    np.testing.assert_allclose(metric.matrices[4], expected, rtol=1e-12)
    np.testing.assert_array_equal(metric.matrices[:4], start[:4])


def test_mean_squares_are_the_mean_squared_singular_values(metric):
    out = np.full(6, -1.0)
    write_mean_squares(np.array([1, 4]), metric.matrices, out)
    values = np.linalg.svd(metric.matrices)[1]
    np.testing.assert_allclose(out[[1, 4]], np.sum(values[[1, 4]] ** 2, axis=1) / 3)
    assert np.all(out[[0, 2, 3, 5]] == -1.0)


def test_matrices_are_mixed_one_after_another():
    matrices = np.array([0.0, 2.0, 4.0])[:, None, None] * np.ones((3, 2, 2))
    mix_matrices(matrices, np.array([[1, 2], [0, -1], [-1, -1]]), 0.5)
    np.testing.assert_allclose(matrices[:, 0, 0], [1.5, 1.75, 4.0])
