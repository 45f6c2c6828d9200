import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings
from lann.training.monitor import Monitor
from lann.training.points import PointStage, learn_points, like_neighbors
from lann.training.run import Run

EPSILON = 0.05


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    plain = Levels.plain(X, rng.integers(0, 2, 30), 2)
    return plain.replace(
        class_log_weights=0.5 * rng.normal(size=(2, 3)), point_log_weights=0.5 * rng.normal(size=X.shape)
    )


def a_batch(seed=1):
    rng = np.random.default_rng(seed)
    rows = rng.choice(30, 10, replace=False)
    candidates = np.stack([np.delete(np.arange(30), i)[rng.permutation(29)[:12]] for i in rows])
    return rows, candidates, rng.random(candidates.shape) < 0.8, np.array([1.0, 1.0, 0.0])


@pytest.mark.parametrize("loss", ["shares", "softmax"])
@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
def test_the_loss_is_that_of_its_definition(reference, levels, loss, n_neighbors):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=n_neighbors, power=2.0)
    rows, candidates, alive, scales = a_batch()
    candidates[:, 3] = -1  # a missing candidate
    alive[0] = False  # a query that sees nobody
    loss, _ = PointStage(levels, settings).loss(rows, candidates, alive, scales, EPSILON)
    expected = reference.batch_loss(
        levels.points, levels.weights, levels.labels,
        rows, candidates, alive, scales, EPSILON, settings, 2,
    )  # fmt: skip
    assert loss == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("loss", ["shares", "softmax"])
def test_the_gradient_equals_finite_differences(reference, levels, loss):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=5, power=2.0)
    batch = a_batch()
    _, gradient = PointStage(levels, settings).loss(*batch, EPSILON)
    expected = reference.slopes(
        lambda log: PointStage(levels.replace(point_log_weights=log), settings).loss(*batch, EPSILON)[0],
        levels.point_log_weights,
        step=1e-5,
    )
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(gradient, expected, rtol=1e-3, atol=1e-8)


def test_a_stage_that_took_no_step_gives_back_what_it_got(levels):
    np.testing.assert_allclose(
        PointStage(levels, Settings()).levels().point_log_weights, levels.point_log_weights, atol=1e-12
    )


@pytest.mark.parametrize("fixed_norm", [False, True])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e6])
def test_steps_of_any_size_stay_inside_the_constraint(levels, rate, fixed_norm):
    stage = PointStage(levels, Settings(fixed_norm=fixed_norm))
    neighbors = np.tile(np.array([1, 2, 3, -1, -1]), (30, 1))
    for seed in range(6):
        _, gradient = stage.loss(*a_batch(seed), EPSILON)
        stage.step(gradient, rate, 0.03, neighbors)
        weights = stage.levels().weights
        assert np.all(np.isfinite(weights))
        assert np.all(weights > 0)
        if fixed_norm:
            np.testing.assert_allclose(weights.sum(axis=1), 3.0)
        else:
            assert np.abs(np.log(weights)).max() <= 6.0 + 1e-9


def test_learning_lowers_the_loss_and_touches_nothing_else(levels):
    monitor = Monitor(3)
    learned = learn_points(levels, Settings(), Run(3, np.random.default_rng(0), monitor))
    assert monitor.losses[-1] < monitor.losses[0]
    assert learned.curves is levels.curves
    np.testing.assert_array_equal(learned.class_log_weights, levels.class_log_weights)
    assert not np.allclose(learned.point_log_weights, levels.point_log_weights)


def test_the_same_generator_gives_the_same_bits(levels):
    one, other = (
        learn_points(levels, Settings(n_jobs=n), Run(1, np.random.default_rng(3), Monitor(1))) for n in (1, 2)
    )
    np.testing.assert_array_equal(one.point_log_weights, other.point_log_weights)


def test_like_neighbors_are_the_nearest_of_the_same_label():
    labels = np.array([0, 1, 0, 0, 1, 0, 0, 0, 0])
    candidates = np.array([[1, 2, 3, 4, 5, 6, 7, 8], [4, 0, 2, 3, -1, -1, -1, -1]])
    found = like_neighbors(labels, np.array([0, 1]), candidates)
    np.testing.assert_array_equal(found, [[2, 3, 5, 6, 7], [4, -1, -1, -1, -1]])


def test_a_missing_candidate_is_not_a_like_neighbor():
    # The last point has the row's label; -1 must not be read as it.
    found = like_neighbors(np.array([0, 1, 0]), np.array([0]), np.array([[-1, 1]]))
    np.testing.assert_array_equal(found, [[-1] * 5])
