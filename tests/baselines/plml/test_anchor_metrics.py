"""The loss of PLML's metrics is its definition, triplet by triplet, and its gradient is right."""

import numpy as np
import pytest

from lann.baselines._plml import anchor_metrics
from lann.baselines._plml.anchor_metrics import BasisObjective


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    points = rng.normal(size=(14, 3))
    weights = rng.dirichlet([0.3] * 4, size=14)
    weights[weights < 0.1] = 0.0  # some points use only some anchors
    like, unlike = rng.integers(0, 14, (14, 2)), rng.integers(0, 14, (14, 3))
    like[0] = -1  # alone in its class
    like[1, 1] = unlike[2, 2] = -1
    maps = rng.normal(size=(4, 2, 3))
    return points, weights, like, unlike, maps


def objective(problem, **options):
    points, weights, like, unlike, _ = problem
    return BasisObjective(points, weights, like, unlike, **{"pull": 0.3, "alpha": 0.7} | options)


def hinge(z):
    return 0.0 if z < 0 else z * z / 2 if z < 1 else z - 0.5


def by_hand(points, weights, like, unlike, maps, pull, alpha):
    metrics = [own.T @ own for own in maps]
    mixed = [sum(w * M for w, M in zip(row, metrics, strict=True)) for row in weights]

    def distance(i, j):
        return (points[i] - points[j]) @ mixed[i] @ (points[i] - points[j])

    pairs = [(i, j) for i in range(len(points)) for j in like[i] if j >= 0]
    triplets = [(i, j, k) for i, j in pairs for k in unlike[i] if k >= 0]
    return (
        np.mean([hinge(1 + distance(i, j) - distance(i, k)) for i, j, k in triplets])
        + pull * np.mean([distance(i, j) for i, j in pairs])
        + alpha * np.mean([np.sum(M**2) for M in metrics]) / points.shape[1]
    )


@pytest.mark.parametrize("steps", [1, 40, 2**20])
def test_the_loss_is_its_definition(problem, steps, monkeypatch):
    monkeypatch.setattr(anchor_metrics, "STEPS", steps)  # blocks of one point, of a few, and of all
    loss, _ = objective(problem)(problem[-1])
    assert loss == pytest.approx(by_hand(*problem, pull=0.3, alpha=0.7))


@pytest.mark.parametrize(("pull", "alpha"), [(0.0, 0.0), (0.3, 0.0), (0.0, 0.7), (0.3, 0.7)])
def test_the_gradient_equals_finite_differences(problem, pull, alpha, reference):
    loss = objective(problem, pull=pull, alpha=alpha)
    _, (gradient,) = loss(problem[-1])
    expected = reference.slopes(lambda maps: loss(maps)[0], problem[-1], step=1e-5)
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(gradient, expected, rtol=1e-5, atol=1e-7)


def test_no_neighbors_of_the_same_class_leave_only_the_penalty(problem):
    points, weights, like, unlike, maps = problem
    loss, (gradient,) = BasisObjective(points, weights, np.full_like(like, -1), unlike, pull=1.0, alpha=0.0)(
        maps
    )
    assert loss == 0.0
    assert not gradient.any()


def test_threads_do_not_change_a_bit(problem, monkeypatch):
    monkeypatch.setattr(anchor_metrics, "STEPS", 40)
    one, two = objective(problem, n_jobs=1)(problem[-1]), objective(problem, n_jobs=2)(problem[-1])
    assert one[0] == two[0]
    assert np.array_equal(one[1][0], two[1][0])
