import numpy as np
import pytest

from lann.metrics import Levels
from lann.training import OnlineSettings, Settings
from lann.training._settings import regularization_factor
from lann.vote import SHARES, SOFTMAX, VoteChoice


def test_the_rules_of_the_losses():
    assert Settings(n_neighbors=7, power=3.0, floor=0.05).loss_rule(2) == (SHARES, 7, 3.0, 0.05, 2)
    assert OnlineSettings(n_neighbors=7).loss_rule(3, 2.5) == (SOFTMAX, 7, 1.0, 2.5, 3)


def test_rows_count_as_their_weights_times_those_of_their_classes():
    levels = Levels.plain(np.zeros((3, 1)), np.array([0, 1, 1]), 2)
    weighted = levels.replace(row_weights=np.array([2.0, 3.0, 0.5]))
    settings = Settings(class_weight=np.array([1.0, 4.0]))
    np.testing.assert_array_equal(Settings().targets(levels).labels, [0, 1, 1])
    np.testing.assert_array_equal(Settings().targets(levels).weights, np.ones(3))
    np.testing.assert_array_equal(settings.targets(levels).weights, [1.0, 4.0, 4.0])
    np.testing.assert_array_equal(Settings().targets(weighted).weights, [2.0, 3.0, 0.5])
    np.testing.assert_array_equal(settings.targets(weighted).weights, [2.0, 12.0, 2.0])


def test_few_rows_are_regularized_more():
    assert regularization_factor(500) == 1.0
    assert regularization_factor(2) == 6.0
    assert regularization_factor(10**6) == 0.3
    assert regularization_factor(400) > regularization_factor(600)


@pytest.mark.parametrize("level", ["curves", "linear_map", "class_metrics", "point_metrics"])
def test_shared_levels_are_those_other_than_the_points(level):
    none = Settings(curves=False, linear_map=False, class_metrics=False, point_metrics=False)
    assert not none.shared_levels
    assert none.replace(**{level: True}).shared_levels == (level != "point_metrics")


@pytest.mark.parametrize(
    ("vote", "loss"),
    [
        ((7, 3.0), (10, 4.0)),
        ((35, 4.0), (10, 4.0)),
        ((10, 1.0), (10, 4.0)),
        ((15, 2.0), (20, 3.0)),
        ((100, 0.5), (20, 3.0)),
    ],
)
def test_a_flat_vote_of_many_neighbors_has_a_flatter_loss(vote, loss):
    settings = Settings().for_vote(VoteChoice.fixed(*vote, 0.02))
    assert (settings.n_neighbors, settings.power) == loss
