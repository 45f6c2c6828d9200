import numpy as np
import pytest

from lann.training._loss import LossRule, Targets
from lann.training._online_kernels import clear, new_nearest, query_loss
from lann.vote import SHARES

TARGETS = Targets(np.array([0, 1, 0, 1, 0]), np.array([1.0, 3.0, 0.5, 2.0, 1.0]))
RULE = LossRule(SHARES, 4, 2.0, 0.05, 2)


def test_the_loss_counts_the_neighbors_that_were_found(reference):
    nearest = new_nearest(4)
    nearest.indices[:], nearest.distances[:] = [3, 0, 2, -1], [0.5, 1.0, 2.0, np.inf]
    loss, n_near = query_loss(nearest, TARGETS, 1, 0.1, RULE)
    assert n_near == 3
    np.testing.assert_array_equal(nearest.labels[:3], [1, 0, 0])

    def expected(distances):
        return 3.0 * reference.weighted_loss(
            "shares", distances, np.array([1, 0, 0]), 1, RULE.power, RULE.strength,
            np.array([2.0, 1.0, 0.5]), 2,
        )  # fmt: skip

    distances = np.array([0.6, 1.1, 2.1])
    assert loss == pytest.approx(expected(distances), rel=1e-12)
    np.testing.assert_allclose(nearest.slopes[:3], reference.slopes(expected, distances), rtol=1e-6)


def test_without_neighbors_there_is_no_loss():
    nearest = new_nearest(2)
    clear(nearest)
    assert query_loss(nearest, TARGETS, 1, 0.1, RULE) == (0.0, 0)
