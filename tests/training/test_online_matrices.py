import numpy as np
import pytest

from lann.metric import Levels
from lann.training import OnlineSettings
from lann.training._online import (
    OnlineMatrices,
)

EPSILON = 0.01


def random_levels(seed=0, n_points=60):
    rng = np.random.default_rng(seed)
    levels = Levels.plain(rng.normal(size=(n_points, 3)), rng.integers(0, 3, n_points), 3)
    return levels.replace(class_log_weights=0.3 * rng.normal(size=(3, 3))), rng


def online(levels, constraint="bounded"):
    rule = OnlineSettings(n_neighbors=4).loss_rule(len(levels.class_log_weights), 1.0)
    return OnlineMatrices(levels, rule, EPSILON, constraint)


def plain_loop(reference, levels, rows, rate, *, norm):
    """The loop of the paper with matrices: search all points, take a step on each neighbor's Ω, restore."""
    matrices = np.tile(np.eye(3), (len(levels.X), 1, 1))
    roots, total = np.sqrt(levels.weights), 0.0
    for i in rows:
        own = roots[:, :, None] * matrices
        d = reference.matrix_distances(levels.points[i : i + 1], levels.points, own)
        near, d = reference.nearest(d, 4, exclude=[i])
        slopes, loss = reference.published_slopes(
            d[0] + EPSILON, levels.labels[near[0]], levels.labels[i], 1.0, 3
        )
        total += loss
        for j, slope in zip(near[0], slopes, strict=True):
            u = roots[j] * (levels.points[j] - levels.points[i])
            matrices[j] -= rate * slope * 2 * np.outer(u, u) @ matrices[j]
            if norm:
                matrices[j] *= np.sqrt(3 / np.sum((roots[j][:, None] * matrices[j]) ** 2))
            else:
                mean = np.sum(matrices[j] ** 2) / 3
                matrices[j] *= np.sqrt(np.clip(mean, np.exp(-6.0), np.exp(6.0)) / mean)
    return matrices, total / len(rows)


@pytest.mark.parametrize("constraint", ["norm", "bounded"])
@pytest.mark.parametrize("rate", [1e-3, 0.05, 1.0])
def test_a_pass_equals_the_plain_loop(reference, rate, constraint):
    levels, rng = random_levels()
    rows = rng.permutation(60)[: 60 if rate < 1 else 10]
    updates = online(levels, constraint)
    loss = updates.train_pass(rows, rate)
    matrices, expected = plain_loop(reference, levels, rows, rate, norm=constraint == "norm")
    assert loss == pytest.approx(expected, rel=1e-7)
    np.testing.assert_allclose(updates.levels().point_matrices, matrices, rtol=1e-6, atol=1e-7)


@pytest.fixture
def duplicates():
    """Duplicates with different labels, and zero distances."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(8, 2))[rng.integers(0, 8, 20)]
    return Levels.plain(X, rng.integers(0, 2, 20), 2), rng


@pytest.mark.parametrize("constraint", ["norm", "determinant", "bounded"])
@pytest.mark.parametrize("rate", [1e-6, 0.1, 1e3, 1e12, 1e200])
def test_matrices_obey_their_constraint_after_any_step(duplicates, rate, constraint):
    levels, rng = duplicates
    updates = online(levels, constraint)
    for _ in range(2):
        updates.train_pass(rng.permutation(20), rate)
        matrices = updates.levels().point_matrices
        assert np.all(np.isfinite(matrices))
        squares = np.mean(np.linalg.svd(matrices)[1] ** 2, axis=1)
        if constraint == "norm":
            np.testing.assert_allclose(squares, 1.0, rtol=1e-9)
        else:
            assert np.abs(np.log(squares)).max() <= 6.0 + 1e-9
