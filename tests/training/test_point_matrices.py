import numpy as np
import pytest

from lann import _native
from lann.training import Settings, _initial
from lann.training._point_matrices import PointMatrices


@pytest.fixture(params=[3, 2], ids=["square", "low rank"])
def levels(small_levels, request):
    rng = np.random.default_rng(1)
    rank = request.param
    return small_levels.replace(point_matrices=np.eye(3, rank) + 0.3 * rng.normal(size=(30, 3, rank)))


@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
def test_the_loss_equals_its_definition(reference, make_batch, levels, n_neighbors):
    settings, batch = Settings(n_neighbors=n_neighbors, power=2.0), make_batch()
    batch.candidates[:, 3] = -1  # a missing candidate
    batch.candidates[0] = -1  # a query without candidates
    found, _ = PointMatrices(levels, settings).loss(batch)
    expected = reference.batch_loss(
        levels.points, levels.weights, levels.labels, batch, settings, levels.point_matrices,
        levels.row_weights,
    )  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-9)


def test_the_gradients_equal_finite_differences(reference, make_batch, levels):
    settings, batch = Settings(n_neighbors=5, power=2.0), make_batch()
    parameters = PointMatrices(levels, settings)
    _, pairs = parameters.loss(batch)
    points, roots, matrices, scales = parameters.metric
    moved, by_scale, own_by_scale = matrices.copy(), np.zeros(30), np.empty(len(pairs.neighbors))
    # Without penalty, and with second moments that stay 1: the step is the gradient itself.
    _native.descend(
        *pairs, points, roots, moved, scales, 1.0, 0.0, 1.0 + 1e-4, 1.0, 1.0, np.ones(30), own_by_scale
    )
    by_matrix, by_scale[pairs.neighbors] = matrices - moved, own_by_scale

    def loss_of(matrices):
        return PointMatrices(levels.replace(point_matrices=matrices), settings).loss(batch)[0]

    expected = reference.slopes(loss_of, levels.point_matrices, step=1e-5)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(by_matrix, expected, rtol=1e-3, atol=1e-8)
    expected = reference.slopes(
        lambda log: loss_of(np.exp(0.5 * log)[:, None, None] * levels.point_matrices), np.zeros(30), step=1e-5
    )
    np.testing.assert_allclose(by_scale, expected, rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize("single", [False, True], ids=["float64", "float32"])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e6])
def test_steps_of_any_size_stay_in_bounds(monkeypatch, make_batch, small_levels, rate, single):
    monkeypatch.setattr(_initial, "SINGLE_FROM", 0 if single else 2**24)
    parameters = PointMatrices(small_levels, Settings())
    neighbors = np.tile(np.array([1, 2, 3, -1, -1]), (30, 1))
    for seed in range(11):
        _, gradient = parameters.loss(make_batch(seed=seed))
        parameters.step(gradient, rate, 0.03, neighbors)
        matrices = parameters.levels().point_matrices
        assert matrices.dtype == (np.float32 if single else np.float64)
        assert np.all(np.isfinite(matrices))
        squares = np.mean(np.linalg.svd(matrices.astype(float))[1] ** 2, axis=1)
        assert np.abs(np.log(squares)).max() <= 6.0 + 1e-5
    assert not np.allclose(matrices, np.eye(3))
