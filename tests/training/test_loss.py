import numpy as np
import pytest

from lann.training._loss import LossRule, Neighbors, Targets, batch_loss
from lann.vote import SHARES, SOFTMAX

KINDS = {"shares": (SHARES, 0.05), "softmax": (SOFTMAX, 2.0)}
LABELS = np.array([0, 1, 2, 0, 1, 2, 0, 1])
WEIGHTS = np.array([1.0, 3.0, 0.5, 2.0, 1.0, 0.1, 4.0, 2.5])
TARGETS = Targets(LABELS, WEIGHTS)
ROWS = np.array([0, 4, 7])


def some_neighbors():
    """Two queries with neighbors, of which the first has only three, and one without."""
    rng = np.random.default_rng(0)
    indices = np.array([[1, 2, 3, -1], [0, 1, 2, 3], [-1, -1, -1, -1]])
    return Neighbors(indices, rng.uniform(0.5, 2.0, indices.shape), np.array([3, 4, 0]))


def rule_of(kind):
    code, strength = KINDS[kind]
    return LossRule(code, 4, 2.0, strength, 3)


def mean_loss(distances, kind):
    neighbors = some_neighbors()._replace(distances=distances.copy())
    return batch_loss(neighbors, ROWS, TARGETS, rule_of(kind))[0]


@pytest.mark.parametrize("kind", KINDS)
def test_the_loss_is_the_mean_over_the_queries(reference, kind):
    neighbors, rule = some_neighbors(), rule_of(kind)
    expected = 0.0
    for query in range(2):
        n_near, row = neighbors.counts[query], ROWS[query]
        near = neighbors.indices[query, :n_near]
        loss = reference.weighted_loss(
            kind, neighbors.distances[query, :n_near], LABELS[near], LABELS[row],
            rule.power, rule.strength, WEIGHTS[near], 3,
        )  # fmt: skip
        expected += WEIGHTS[row] * loss / 3
    assert mean_loss(neighbors.distances, kind) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_slopes_equal_finite_differences(reference, kind):
    neighbors = some_neighbors()
    expected = reference.slopes(lambda d: mean_loss(d, kind), neighbors.distances)
    _, slopes = batch_loss(neighbors, ROWS, TARGETS, rule_of(kind))
    assert np.abs(expected).max() > 1e-2
    np.testing.assert_allclose(slopes, expected, rtol=1e-5, atol=1e-8)
