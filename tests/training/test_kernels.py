from typing import NamedTuple

import numpy as np
import pytest

from lann import _native
from lann.training import Settings
from lann.training._loss import NOT_NEEDED, LossRule
from lann.vote import SHARES

SETTINGS = Settings(n_neighbors=5, power=2.0)


class Metric(NamedTuple):
    """Points, and the weights of classes with which they measure."""

    points: np.ndarray
    weights: np.ndarray
    labels: np.ndarray


@pytest.fixture
def metric(small_levels):
    return Metric(small_levels.X, np.exp(small_levels.class_log_weights), small_levels.labels)


@pytest.fixture
def targets(small_levels):
    return SETTINGS.targets(small_levels)


def loss_of(batch, metric, targets, by_weight=NOT_NEEDED, by_point=NOT_NEEDED):
    rule = LossRule(SHARES, 5, 2.0, SETTINGS.floor, 2)
    return _native.loss_and_gradients(*batch, *metric, targets, rule, by_weight, by_point)


def test_the_loss_equals_its_definition(reference, make_batch, metric, targets):
    labels, batch = targets.labels, make_batch()
    expected = reference.batch_loss(
        metric.points, metric.weights[labels], labels, batch, SETTINGS, row_weights=targets.weights
    )
    assert loss_of(batch, metric, targets) == pytest.approx(expected, rel=1e-9)


def test_gradients_equal_finite_differences(reference, make_batch, metric, targets):
    batch = make_batch()
    by_weight, by_point = np.zeros((2, 3)), np.zeros((30, 3))
    loss_of(batch, metric, targets, by_weight, by_point)
    expected = reference.slopes(
        lambda log: loss_of(batch, metric._replace(weights=np.exp(log)), targets), np.log(metric.weights)
    )
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(by_weight, expected, rtol=1e-4, atol=1e-8)
    expected = reference.slopes(
        lambda points: loss_of(batch, metric._replace(points=points), targets), metric.points
    )
    assert np.abs(expected).max() > 1e-3
    np.testing.assert_allclose(by_point, expected, rtol=1e-4, atol=1e-8)
