import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings, matrices
from lann.training.matrices import MatrixStage, determinant_pull, learn_matrices
from lann.training.matrix_walk import point_gradient
from lann.training.monitor import Monitor
from lann.training.points import PointStage
from lann.training.run import Run

EPSILON = 0.05


@pytest.fixture
def levels():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 3))
    plain = Levels.plain(X, rng.integers(0, 2, 30), 2)
    return plain.replace(class_log_weights=0.5 * rng.normal(size=(2, 3)))


@pytest.fixture(params=[3, 2])
def with_maps(levels, request):
    rng = np.random.default_rng(1)
    return levels.replace(
        point_matrices=np.eye(3, request.param) + 0.3 * rng.normal(size=(30, 3, request.param))
    )


def a_batch(seed=1):
    rng = np.random.default_rng(seed)
    rows = rng.choice(30, 10, replace=False)
    candidates = np.stack([np.delete(np.arange(30), i)[rng.permutation(29)[:12]] for i in rows])
    return rows, candidates, rng.random(candidates.shape) < 0.8, np.array([1.0, 1.0, 0.0])


def gradients(stage, pull):
    """∂loss/∂A of all points, and ∂loss/∂log s."""
    by_map, by_scale = np.zeros(stage.maps.shape), np.zeros(len(stage.maps))
    for number, j in enumerate(pull.touched):
        by_scale[j] = point_gradient(
            j, pull.starts[number], pull.starts[number + 1], pull.queries, pull.slopes, pull.axes,
            stage.points, np.sqrt(stage.start.weights), stage.maps[j], np.exp(stage.log_scales[j]), by_map[j],
        )  # fmt: skip
    return by_map, by_scale


@pytest.mark.parametrize("loss", ["shares", "softmax"])
@pytest.mark.parametrize("n_neighbors", [1, 6, 50])
def test_the_loss_is_that_of_its_definition(reference, with_maps, loss, n_neighbors):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=n_neighbors, power=2.0)
    rows, candidates, alive, scales = a_batch()
    candidates[:, 3] = -1  # a missing candidate
    alive[0] = False  # a query that sees nobody
    found, _ = MatrixStage(with_maps, settings).loss(rows, candidates, alive, scales, EPSILON)
    expected = reference.batch_loss(
        with_maps.points, with_maps.weights, with_maps.labels, rows, candidates, alive, scales, EPSILON,
        settings, 2, with_maps.point_matrices,
    )  # fmt: skip
    assert found == pytest.approx(expected, rel=1e-9)


def test_at_the_start_the_loss_is_that_of_the_weights(levels):
    own, _ = MatrixStage(levels, Settings()).loss(*a_batch(), EPSILON)
    assert own == pytest.approx(PointStage(levels, Settings()).loss(*a_batch(), EPSILON)[0], rel=1e-12)


@pytest.mark.parametrize("loss", ["shares", "softmax"])
def test_the_gradients_equal_finite_differences(reference, with_maps, loss):
    settings = Settings(loss=loss, temperature=3.0, n_neighbors=5, power=2.0)
    batch = a_batch()
    stage = MatrixStage(with_maps, settings)
    by_map, by_scale = gradients(stage, stage.loss(*batch, EPSILON)[1])

    def loss_of(maps):
        return MatrixStage(with_maps.replace(point_matrices=maps), settings).loss(*batch, EPSILON)[0]

    expected = reference.slopes(loss_of, with_maps.point_matrices, step=1e-5)
    assert np.abs(expected).max() > 1e-4
    np.testing.assert_allclose(by_map, expected, rtol=1e-3, atol=1e-8)
    stretched = np.zeros(30)
    expected = reference.slopes(
        lambda log: loss_of(np.exp(0.5 * log)[:, None, None] * with_maps.point_matrices), stretched, step=1e-5
    )
    np.testing.assert_allclose(by_scale, expected, rtol=1e-3, atol=1e-8)


@pytest.mark.parametrize("shape", [(1, 1), (4, 4), (5, 2)])
def test_the_determinants_pull_equals_finite_differences(reference, shape):
    maps = np.eye(*shape) + 0.4 * np.random.default_rng(0).normal(size=(6, *shape))

    def potential(m):
        return -0.5 * np.sum(np.linalg.slogdet(m.swapaxes(1, 2) @ m)[1])

    np.testing.assert_allclose(
        determinant_pull(maps), reference.slopes(potential, maps), rtol=1e-4, atol=1e-6
    )


def test_the_determinants_pull_of_a_singular_matrix_is_finite():
    maps = np.array([[[1.0, 1.0], [1.0, 1.0]], [[0.0, 0.0], [0.0, 0.0]]])
    assert np.all(np.isfinite(determinant_pull(maps)))


def test_a_stage_that_took_no_step_gives_back_what_it_got(levels, with_maps):
    np.testing.assert_array_equal(
        MatrixStage(levels, Settings()).levels().point_matrices, np.tile(np.eye(3), (30, 1, 1))
    )
    np.testing.assert_allclose(
        MatrixStage(with_maps, Settings()).levels().point_matrices, with_maps.point_matrices, rtol=1e-12
    )


@pytest.mark.parametrize("single", [False, True])
@pytest.mark.parametrize("more", [{}, {"fixed_norm": True}, {"determinant": True}])
@pytest.mark.parametrize("rate", [1e-3, 1.0, 1e6])
def test_steps_of_any_size_stay_inside_the_constraint(monkeypatch, levels, rate, more, single):
    monkeypatch.setattr(matrices, "SINGLE_FROM", 0 if single else 2**24)
    stage = MatrixStage(levels, Settings(**more))
    neighbors = np.tile(np.array([1, 2, 3, -1, -1]), (30, 1))
    for seed in range(11):
        _, pull = stage.loss(*a_batch(seed), EPSILON)
        stage.step(pull, rate, 0.03, neighbors)
        learned = stage.levels()
        assert learned.point_matrices.dtype == (np.float32 if single else np.float64)
        assert np.all(np.isfinite(learned.point_matrices))
        if "fixed_norm" in more:
            own = learned.scaled_matrices().astype(np.float64)
            np.testing.assert_allclose(np.einsum("jar,jar->j", own, own), 3.0, rtol=1e-5)
        else:
            squares = np.mean(np.linalg.svd(learned.point_matrices.astype(float))[1] ** 2, axis=1)
            assert np.abs(np.log(squares)).max() <= 6.0 + 1e-5
    assert not np.allclose(learned.point_matrices, np.eye(3))


def test_learning_lowers_the_loss_and_touches_nothing_else(levels):
    monitor = Monitor(3)
    learned = learn_matrices(levels, Settings(), Run(3, np.random.default_rng(0), monitor))
    assert monitor.losses[-1] < monitor.losses[0]
    assert learned.curves is levels.curves
    np.testing.assert_array_equal(learned.class_log_weights, levels.class_log_weights)
    np.testing.assert_array_equal(learned.point_log_weights, levels.point_log_weights)
    assert levels.point_matrices is None


@pytest.mark.parametrize("determinant", [False, True])
def test_the_penalty_holds_matrices_at_their_start(levels, determinant):
    free, held = (
        learn_matrices(
            levels, Settings(alpha=penalty, smoothing=0.0, determinant=determinant),
            Run(1, np.random.default_rng(0), Monitor(1)),
        ).point_matrices
        for penalty in (0.0, 100.0)
    )  # fmt: skip

    def departure(maps):
        values = np.linalg.svd(maps)[1]
        return np.mean((values - 1) ** 2)

    assert departure(held) < 0.5 * departure(free)


def test_smoothing_brings_like_neighbors_together(levels):
    spread = [
        learn_matrices(levels, Settings(smoothing=smoothing), Run(1, np.random.default_rng(0), Monitor(1)))
        .point_matrices.std(axis=0)
        .mean()
        for smoothing in (0.0, 0.1)
    ]
    assert spread[1] < 0.7 * spread[0]


def test_the_same_generator_gives_the_same_bits():
    rng = np.random.default_rng(2)
    levels = Levels.plain(rng.normal(size=(300, 5)), rng.integers(0, 2, 300), 2)
    one, other = (
        learn_matrices(levels, Settings(n_jobs=n), Run(1, np.random.default_rng(3), Monitor(1)))
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one.point_matrices, other.point_matrices)


def test_single_precision_learns_the_same(monkeypatch, levels):
    double = learn_matrices(levels, Settings(), Run(1, np.random.default_rng(0), Monitor(1)))
    monkeypatch.setattr(matrices, "SINGLE_FROM", 0)
    single = learn_matrices(levels, Settings(), Run(1, np.random.default_rng(0), Monitor(1)))
    assert single.point_matrices.dtype == np.float32
    np.testing.assert_allclose(single.point_matrices, double.point_matrices, rtol=1e-2, atol=1e-3)


def test_it_stops_when_held_out_queries_stop_gaining(levels):
    monitor = Monitor(40, patience=1)
    held_out = np.arange(0, 30, 3)
    learned = learn_matrices(
        levels, Settings(learning_rate=1.0), Run(40, np.random.default_rng(0), monitor, held_out)
    )
    assert len(monitor.losses) == len(monitor.held_out_losses) < 40
    assert np.all(np.isfinite(learned.point_matrices))


def test_matrices_find_a_direction_across_the_features():
    """The classes differ along (1, 1) alone; weights could not say that, matrices can."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 100)
    along, across = rng.normal(size=200) + 2 * y, 10 * rng.normal(size=200)
    X = np.column_stack([along + across, along - across]) / np.sqrt(2)
    settings = Settings(alpha=0.1, feature_dropout=0.0)
    learned = learn_matrices(Levels.plain(X, y, 2), settings, Run(4, np.random.default_rng(0), Monitor(4)))
    metric = np.mean(learned.point_matrices @ learned.point_matrices.swapaxes(1, 2), axis=0)
    direction = np.linalg.eigh(metric)[1][:, -1]
    assert abs(direction @ [1, 1]) / np.sqrt(2) > 0.98
    assert np.linalg.eigvalsh(metric)[1] > 1.5 * np.linalg.eigvalsh(metric)[0]
