import numpy as np
import pytest

from lann.training._loss import LossRule
from lann.training._online_kernels import Nearest, clear, query_loss
from lann.vote import SHARES

LABELS = np.array([0, 1, 0, 1, 0])
RULE = LossRule(SHARES, 4, 2.0, 0.05, np.array([1.0, 3.0]))


def test_the_loss_counts_the_neighbors_that_were_found(reference):
    nearest = Nearest(
        np.array([3, 0, 2, -1]), np.array([0.5, 1.0, 2.0, np.inf]), np.empty(4, int), np.empty(4)
    )
    loss, n_near = query_loss(nearest, LABELS, 1, 0.1, RULE)
    assert n_near == 3
    np.testing.assert_array_equal(nearest.labels[:3], [1, 0, 0])

    def expected(distances):
        return 3.0 * reference.weighted_loss(
            "shares", distances, np.array([1, 0, 0]), 1, RULE.power, RULE.strength, RULE.class_weight
        )

    distances = np.array([0.6, 1.1, 2.1])
    assert loss == pytest.approx(expected(distances), rel=1e-12)
    np.testing.assert_allclose(nearest.slopes[:3], reference.slopes(expected, distances), rtol=1e-6)


def test_without_neighbors_there_is_no_loss():
    nearest = Nearest(np.array([3, 0]), np.array([0.5, 1.0]), np.empty(2, int), np.empty(2))
    clear(nearest)
    assert query_loss(nearest, LABELS, 1, 0.1, RULE) == (0.0, 0)
