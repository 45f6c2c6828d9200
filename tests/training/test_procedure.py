import numpy as np
import pytest

from lann.metrics.levels import Levels
from lann.training import Settings, train
from lann.training.points import PointStage
from lann.training.procedure import planned_epochs
from lann.training.temperature import usual_temperature


@pytest.mark.parametrize(
    ("settings", "max_epochs", "expected"),
    [
        ({}, None, (12, 2)),
        ({}, 0, (0, 0)),
        ({}, 7, (6, 1)),
        ({}, 1, (1, 0)),
        ({"point_weights": False}, 5, (5, 0)),
        ({"curves": False, "map": False, "class_weights": False}, 5, (0, 5)),
        ({"curves": False, "map": False, "class_weights": False, "solver": "online"}, None, (0, 20)),
        ({"curves": False, "map": False, "class_weights": False, "point_weights": False}, None, (0, 0)),
    ],
)
def test_epochs_are_shared_out(settings, max_epochs, expected):
    assert planned_epochs(Settings(**settings), max_epochs) == expected


def test_with_no_level_to_learn_no_epochs_are_planned():
    nothing = Settings(curves=False, map=False, class_weights=False, point_weights=False)
    assert planned_epochs(nothing, 5) == (0, 0)


def test_training_learns_every_level(plain, learned):
    assert learned.X is plain.X
    assert not learned.curves.is_identity
    assert learned.map is not None
    assert learned.class_log_weights.any()


def test_the_losses_are_told(plain):
    heard = []
    outcome = train(
        plain, Settings(), np.random.default_rng(0), max_epochs=4, listener=lambda epoch: heard.append(epoch)
    )
    assert [epoch.number for epoch in heard] == [1, 2, 3, 4]
    assert [epoch.loss for epoch in heard] == outcome.monitor.losses
    assert heard[0].snapshot().X is plain.X
    assert outcome.temperature is None


def test_a_listener_that_says_stop_ends_the_training(plain):
    outcome = train(plain, Settings(), np.random.default_rng(0), listener=lambda epoch: epoch.number == 2)
    assert len(outcome.monitor.losses) == 2


@pytest.mark.parametrize("loss", ["shares", "softmax"])
def test_the_temperature_is_that_given_or_chosen(plain, loss):
    settings = Settings(loss=loss, power=1.0, n_neighbors=5)
    chosen = train(plain, settings, np.random.default_rng(0), max_epochs=1).temperature
    given = train(
        plain, settings.replace(temperature=7.0), np.random.default_rng(0), max_epochs=1
    ).temperature
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


def test_many_points_judge_the_levels_and_few_do_not(rings):
    X, y = rings
    for n, judged in ((500, False), (2000, True)):
        start = Levels.plain(X[:n], y[:n], 2)
        outcome = train(start, Settings(), np.random.default_rng(0), max_epochs=14)
        kept = train(start, Settings(prune=False), np.random.default_rng(0), max_epochs=14)
        assert kept.monitor.left_out == []
        same = np.array_equal(outcome.levels.curves.slopes, kept.levels.curves.slopes)
        assert same != judged
        assert (outcome.levels.map is None) == ("map" in outcome.monitor.left_out)


def test_a_level_that_harms_is_left_out(rings, monkeypatch):
    """Points that learn nonsense: the judges see that, and the level goes."""
    X, y = rings

    def learn_nonsense(self, *_):
        self.height[y == 1] = -6.0  # the points of one class think that they are near to all
        self._measure()

    monkeypatch.setattr(PointStage, "step", learn_nonsense)
    outcome = train(Levels.plain(X, y, 2), Settings(), np.random.default_rng(0))
    assert "point" in outcome.monitor.left_out
    assert not outcome.levels.point_log_weights.any()
    assert len(outcome.monitor.losses) == 13


@pytest.fixture
def rings():
    """Two features decide together: whether one of them alone is far from 0."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 5))
    far = np.abs(X) > 0.6
    return X, (far[:, 0] != far[:, 1]).astype(np.int64)
