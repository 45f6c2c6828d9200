"""The loss of the metrics of the anchors and its gradient equal sums over all triplets."""

import numpy as np
import pytest

from lann.baselines._plml import anchor_metrics
from lann.baselines._plml.anchor_metrics import AnchorMetricLoss


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(14, 3))
    weights = rng.dirichlet([0.3] * 4, size=14)
    weights[weights < 0.1] = 0.0  # rows without some anchors
    same_class, other_class = rng.integers(0, 14, (14, 2)), rng.integers(0, 14, (14, 3))
    same_class[0] = -1  # the only row of its class
    same_class[1, 1] = other_class[2, 2] = -1
    maps = rng.normal(size=(4, 2, 3))
    return X, weights, same_class, other_class, maps


def make_loss(problem, **options):
    return AnchorMetricLoss(*problem[:4], **{"pull_weight": 0.3, "alpha": 0.7} | options)


def smooth_hinge(z):
    return 0.0 if z < 0 else z * z / 2 if z < 1 else z - 0.5


def reference_loss(X, weights, same_class, other_class, maps, pull_weight, alpha):
    metrics = [omega.T @ omega for omega in maps]
    means = [sum(w * M for w, M in zip(row, metrics, strict=True)) for row in weights]

    def distance(i, j):
        return (X[i] - X[j]) @ means[i] @ (X[i] - X[j])

    pairs = [(i, j) for i in range(len(X)) for j in same_class[i] if j >= 0]
    triplets = [(i, j, k) for i, j in pairs for k in other_class[i] if k >= 0]
    return (
        np.mean([smooth_hinge(1 + distance(i, j) - distance(i, k)) for i, j, k in triplets])
        + pull_weight * np.mean([distance(i, j) for i, j in pairs])
        + alpha * np.mean([np.sum(M**2) for M in metrics]) / X.shape[1]
    )


@pytest.mark.parametrize("differences", [1, 40, 2**20])
def test_loss_equals_the_sum_over_triplets(problem, differences, monkeypatch):
    monkeypatch.setattr(anchor_metrics, "DIFFERENCES", differences)  # blocks of one, a few and all rows
    loss, _ = make_loss(problem)(problem[-1])
    assert loss == pytest.approx(reference_loss(*problem, pull_weight=0.3, alpha=0.7))


@pytest.mark.parametrize(("pull_weight", "alpha"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)])
def test_gradient_equals_finite_differences(problem, pull_weight, alpha, reference):
    loss = make_loss(problem, pull_weight=pull_weight, alpha=alpha)
    _, (gradient,) = loss(problem[-1])
    expected = reference.slopes(lambda maps: loss(maps)[0], problem[-1], step=1e-5)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_only_the_regularization_is_left_without_same_class_neighbors(problem):
    X, weights, same_class, other_class, maps = problem
    none = np.full_like(same_class, -1)
    loss, (gradient,) = make_loss((X, weights, none, other_class), pull_weight=1.0, alpha=0.0)(maps)
    assert loss == 0.0
    assert not gradient.any()


def test_blocks_give_the_same_bits_with_any_n_jobs(problem, monkeypatch):
    monkeypatch.setattr(anchor_metrics, "DIFFERENCES", 40)
    one, two = make_loss(problem, n_jobs=1)(problem[-1]), make_loss(problem, n_jobs=2)(problem[-1])
    assert one[0] == two[0]
    assert np.array_equal(one[1][0], two[1][0])
