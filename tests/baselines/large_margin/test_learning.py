"""Learning decreases the loss, and the penalty keeps maps near their initial values."""

import numpy as np
import pytest

from lann.baselines._class_neighbors import nearest_same_class
from lann.baselines._large_margin.learning import learn_maps, penalize_change
from lann.baselines._large_margin.loss import LargeMarginLoss
from lann.baselines._lbfgs import IterationSettings

INITIAL = np.tile(np.eye(4), (2, 1, 1))


@pytest.fixture
def loss():
    rng = np.random.default_rng(0)
    X, labels = rng.normal(size=(60, 4)), rng.integers(0, 4, 60)
    return LargeMarginLoss(X, labels, nearest_same_class(X, labels, 3), np.arange(60) % 2, push_weight=0.5)


def test_penalty_is_the_squared_change(reference, loss):
    maps = 0.5 * np.random.default_rng(1).normal(size=(2, 4, 4))
    objective = penalize_change(loss, INITIAL, 0.7)
    value, (gradient,) = objective(maps)
    assert value == pytest.approx(loss(maps)[0] + 0.7 * np.sum((maps - INITIAL) ** 2))
    expected = reference.slopes(lambda changed: objective(changed)[0], maps)
    np.testing.assert_allclose(gradient, expected, rtol=1e-4, atol=1e-6)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_learning_decreases_the_loss_and_alpha_the_change(loss):
    changes = []
    for alpha in (0.0, 100.0, 1e5):
        minimum = learn_maps(loss, INITIAL, alpha, IterationSettings(30, 1e-6, "test"))
        assert minimum.losses[-1] < loss(INITIAL)[0]
        changes.append(np.linalg.norm(minimum.arrays[0] - INITIAL))
    assert changes[0] > changes[1] > changes[2]
