import numpy as np
import pytest

from lann.curves import FeatureCurves
from lann.metrics.levels import Levels
from lann.training import Settings, join, train
from lann.training.procedure import Units, inherit, planned_epochs, usual_temperature


@pytest.fixture
def plain(blobs):
    return Levels.plain(*blobs, 3)


@pytest.fixture
def learned(plain):
    levels, _, _ = train(plain, Settings(), np.random.default_rng(0), max_epochs=4)
    return levels


@pytest.mark.parametrize(
    ("settings", "max_epochs", "expected"),
    [
        ({}, None, (12, 2)),
        ({}, 0, (0, 0)),
        ({}, 7, (6, 1)),
        ({}, 1, (1, 0)),
        ({"point_weights": False}, 5, (5, 0)),
        ({"curves": False, "class_weights": False}, 5, (0, 5)),
        ({"curves": False, "class_weights": False, "solver": "online"}, None, (0, 20)),
        ({"curves": False, "class_weights": False, "point_weights": False}, None, (0, 0)),
    ],
)
def test_epochs_are_shared_out(settings, max_epochs, expected):
    assert planned_epochs(Settings(**settings), max_epochs) == expected


def test_with_no_level_to_learn_no_epochs_are_planned():
    nothing = Settings(curves=False, class_weights=False, point_weights=False)
    assert planned_epochs(nothing, 5) == (0, 0)


def test_entering_and_leaving_units_changes_nothing(blobs):
    X, y = blobs
    X = X * [1e-3, 1.0, 1e3, 7.0] + [5.0, 0.0, -1e4, 3.0]
    levels = Levels.plain(X, y, 3).replace(curves=FeatureCurves.straight(X, 6))
    units = Units.of(X)
    inside = units.enter(levels, 16)
    np.testing.assert_allclose(inside.X.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(inside.X.std(axis=0), 1)
    back = units.leave(inside, X)
    assert back.X is X
    np.testing.assert_allclose(back.curves.slopes, levels.curves.slopes)
    np.testing.assert_allclose(back.curves.edges, levels.curves.edges)


@pytest.mark.parametrize("value", [0.0, 1.0, 0.1, 1 / 3, 1e-9, 123456.789])
def test_a_constant_feature_is_measured_by_its_size(value):
    units = Units.of(np.column_stack([np.full(150, value), np.arange(150.0)]))
    assert units.scale[0] == pytest.approx(max(abs(value), 1.0))  # not the rounding of its mean


def test_training_learns_every_level(plain, learned):
    assert learned.X is plain.X
    assert not learned.curves.is_identity
    assert learned.class_log_weights.any()


def test_the_losses_are_told(plain):
    heard = []
    _, monitor, temperature = train(
        plain, Settings(), np.random.default_rng(0), max_epochs=4, listener=lambda epoch: heard.append(epoch)
    )
    assert [epoch.number for epoch in heard] == [1, 2, 3, 4]
    assert [epoch.loss for epoch in heard] == monitor.losses
    assert heard[0].snapshot().X is plain.X
    assert temperature is None


def test_a_listener_that_says_stop_ends_the_training(plain):
    _, monitor, _ = train(
        plain, Settings(), np.random.default_rng(0), listener=lambda epoch: epoch.number == 2
    )
    assert len(monitor.losses) == 2


@pytest.mark.parametrize("loss", ["shares", "softmax"])
def test_the_temperature_is_that_given_or_chosen(plain, loss):
    settings = Settings(loss=loss, power=1.0, n_neighbors=5)
    chosen = train(plain, settings, np.random.default_rng(0), max_epochs=1)[2]
    given = train(plain, settings.replace(temperature=7.0), np.random.default_rng(0), max_epochs=1)[2]
    if loss == "shares":
        assert chosen is None
        assert given is None
    else:
        assert chosen > 0
        assert given == 7.0


def test_the_usual_temperature_follows_the_scale_of_the_data(blobs):
    X, y = blobs
    settings = Settings(loss="softmax", power=1.0)
    one, other = (usual_temperature(Levels.plain(X * s, y, 3), settings) for s in (1.0, 10.0))
    assert one == pytest.approx(100 * other, rel=1e-6)


@pytest.mark.parametrize("n_points", [90, 7])
def test_a_point_that_is_there_already_inherits_its_own_weights(learned, n_points):
    rng = np.random.default_rng(1)
    levels = learned.replace(point_log_weights=rng.normal(size=learned.X.shape))
    rows = rng.permutation(90)[:n_points]
    inherited = inherit(levels, levels.X[rows], levels.labels[rows], Settings())
    np.testing.assert_allclose(inherited, levels.point_log_weights[rows], atol=1e-6)


def test_a_new_point_inherits_from_its_own_class(learned):
    levels = learned.replace(
        point_log_weights=np.where(learned.labels == 1, 1.0, -1.0)[:, None] * np.ones(learned.X.shape)
    )
    new = levels.X[:5] + 0.01
    np.testing.assert_allclose(inherit(levels, new, np.full(5, 1), Settings()), 1.0)
    np.testing.assert_allclose(inherit(levels, new, np.full(5, 0), Settings()), -1.0)


def test_the_first_point_of_a_class_inherits_nothing(blobs):
    X, y = blobs
    levels = Levels.plain(X[:60], y[:60], 3).replace(point_log_weights=np.ones((60, 4)))
    np.testing.assert_array_equal(inherit(levels, X[60:], y[60:], Settings()), np.zeros((30, 4)))


@pytest.mark.parametrize("point_weights", [True, False])
def test_points_join(learned, point_weights):
    settings = Settings(point_weights=point_weights)
    joined = join(learned, learned.X[:3] + 0.05, learned.labels[:3], settings)
    assert joined.X.shape == (93, 4)
    assert joined.point_log_weights.shape == (93, 4)
    np.testing.assert_array_equal(joined.labels[90:], learned.labels[:3])
    assert joined.curves is learned.curves
    np.testing.assert_array_equal(joined.class_log_weights, learned.class_log_weights)
    moved = np.any(joined.point_log_weights[:90] != learned.point_log_weights, axis=1).sum()
    assert (moved > 0) == point_weights
