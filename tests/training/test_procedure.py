import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import Settings, train
from lann.training.monitor import Monitor
from lann.training.points import PointStage
from lann.training.procedure import planned_epochs
from lann.training.temperature import usual_temperature


@pytest.mark.parametrize(
    ("settings", "max_iter", "expected"),
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
def test_epochs_are_shared_out(settings, max_iter, expected):
    assert planned_epochs(Settings(**settings), max_iter) == expected


def test_with_no_level_to_learn_no_epochs_are_planned():
    nothing = Settings(curves=False, linear_map=False, class_metrics=False, point_metrics=False)
    assert planned_epochs(nothing, 5) == (0, 0)


def test_training_learns_every_level(plain, learned):
    assert learned.X is plain.X
    assert not learned.curves.is_identity
    assert learned.map is not None
    assert learned.class_log_weights.any()


def test_the_losses_are_told(plain):
    heard = []
    outcome = train(
        plain, Settings(), np.random.default_rng(0), max_iter=4, listener=lambda epoch: heard.append(epoch)
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
    chosen = train(plain, settings, np.random.default_rng(0), max_iter=1).temperature
    given = train(plain, settings.replace(temperature=7.0), np.random.default_rng(0), max_iter=1).temperature
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
        outcome = train(start, Settings(), np.random.default_rng(0), max_iter=14)
        kept = train(start, Settings(drop_levels=False), np.random.default_rng(0), max_iter=14)
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
    assert outcome.monitor.left_out == ["point"]
    assert "point" not in outcome.levels.in_use
    assert len(outcome.monitor.losses) == 13
    # Also where points start from what an earlier training has left.
    again = train(
        outcome.levels.replace(point_log_weights=np.ones(X.shape)), Settings(), np.random.default_rng(0)
    )
    assert not again.levels.point_log_weights.any()


def test_what_was_best_before_a_level_was_left_out_is_forgotten(rings, monkeypatch):
    """Early stopping keeps the best model, but none that has a level which the judges have left out."""
    X, y = rings
    monkeypatch.setattr("lann.training.shared.clearly_fewer", lambda found, usual: True)
    losses = iter(np.linspace(0.1, 0.9, 12))  # the first epoch looks best
    monkeypatch.setattr("lann.training.shared.loss_of", lambda stage, rows: next(losses))
    settings = Settings(point_metrics=False)
    outcome = train(
        Levels.plain(X, y, 2), settings, np.random.default_rng(0), validation_fraction=0.1, patience=20
    )
    assert outcome.monitor.left_out == ["map", "class", "curves"]
    assert outcome.levels.map is None
    assert not outcome.levels.class_log_weights.any()


def test_early_stopping_keeps_the_best_of_both_halves(rings, monkeypatch):
    """Judges ask in the middle of the points' stage; what was best before is not lost by that."""
    X, y = rings
    weights = []
    true_levels = PointStage.levels
    monkeypatch.setattr(
        PointStage,
        "levels",
        lambda self: weights.append(true_levels(self).point_log_weights) or true_levels(self),
    )
    losses = iter([0.1, 0.9])

    def run(self, stage, n_epochs, learn, snapshot, held_out_loss=None, give_up=None):
        return true_run(self, stage, n_epochs, learn, snapshot, lambda: next(losses), give_up)

    true_run = Monitor.run
    monkeypatch.setattr(Monitor, "run", run)
    settings = Settings(curves=False, linear_map=False, class_metrics=False)
    outcome = train(Levels.plain(X, y, 2), settings, np.random.default_rng(0), validation_fraction=0.1)
    np.testing.assert_array_equal(outcome.levels.point_log_weights, weights[1])


def test_a_short_training_has_no_judges(rings):
    X, y = rings
    start = Levels.plain(X, y, 2)
    for max_iter in (1, 2):
        judged, not_judged = (
            train(start, Settings(drop_levels=p), np.random.default_rng(0), max_iter=max_iter).levels
            for p in (True, False)
        )
        assert judged.curves.slopes.shape == not_judged.curves.slopes.shape


@pytest.fixture
def rings():
    """Two features decide together: whether one of them alone is far from 0."""
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2000, 5))
    far = np.abs(X) > 0.6
    return X, (far[:, 0] != far[:, 1]).astype(np.int64)
