import numpy as np
import pytest

from lann.training import Settings
from lann.training._point_stage import PointWeights


@pytest.fixture
def levels(small_levels):
    rng = np.random.default_rng(2)
    return small_levels.replace(point_log_weights=0.5 * rng.normal(size=(30, 3)))


@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
def test_the_loss_equals_its_definition(reference, make_batch, levels, n_neighbors):
    settings, batch = Settings(n_neighbors=n_neighbors, power=2.0), make_batch()
    batch.candidates[:, 3] = -1  # a missing candidate
    batch.candidates[0] = -1  # a query without candidates
    found, _ = PointWeights(levels, settings).loss(batch)
    expected = reference.batch_loss(
        levels.points, levels.weights, levels.labels, batch, settings, row_weights=levels.row_weights
    )
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_gradient_equals_finite_differences(reference, make_batch, levels):
    settings, batch = Settings(n_neighbors=5, power=2.0), make_batch()
    _, gradient = PointWeights(levels, settings).loss(batch)
    expected = reference.slopes(
        lambda log: PointWeights(levels.replace(point_log_weights=log), settings).loss(batch)[0],
        levels.point_log_weights,
        step=1e-5,
    )
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-8)


def test_rows_that_are_not_own_measure_with_the_weights_of_their_class(reference, make_batch, levels):
    own, batch = np.arange(5, 20), make_batch()
    settings = Settings(n_neighbors=5, power=2.0)
    partly = levels.replace(point_log_weights=np.zeros((30, 3)))
    partly.point_log_weights[own] = levels.point_log_weights[own]
    parameters = PointWeights(levels, settings, own)
    expected, gradient = PointWeights(partly, settings).loss(batch)
    found, own_gradient = parameters.loss(batch)
    assert found == expected
    np.testing.assert_array_equal(own_gradient, gradient[own])
    np.testing.assert_allclose(parameters.levels().point_log_weights, partly.point_log_weights, atol=1e-12)
    parameters.step(own_gradient, 0.1, 0.0, np.full((15, 1), -1))
    moved = np.abs(parameters.levels().point_log_weights - partly.point_log_weights).max(axis=1)
    assert moved[own].max() > 0.01
    assert moved[np.setdiff1d(np.arange(30), own)].max() == 0.0
