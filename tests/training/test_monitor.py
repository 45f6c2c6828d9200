import numpy as np
import pytest

from lann.metrics import Levels
from lann.training.monitor import Monitor

LEVELS = Levels.plain(np.zeros((2, 1)), np.zeros(2, np.int64), 1)


def run(monitor, held_out_losses):
    monitor.start_stage("a stage")
    return [monitor.epoch(1.0, loss, lambda: LEVELS) for loss in held_out_losses]


def test_without_held_out_losses_it_never_stops():
    monitor = Monitor(9)
    assert run(monitor, [None] * 9) == [False] * 9
    assert monitor.losses == [1.0] * 9
    assert monitor.held_out_losses == []


def test_it_stops_when_the_best_is_old():
    monitor = Monitor(9, patience=2)
    assert run(monitor, [0.5, 0.4, 0.41, 0.399999]) == [False, False, False, True]
    assert not monitor.is_best
    assert monitor.held_out_losses == [0.5, 0.4, 0.41, 0.399999]


def test_it_knows_the_best_epoch():
    monitor = Monitor(9, patience=5)
    monitor.start_stage("a stage")
    best = []
    for loss in (0.5, 0.6, 0.3, 0.4):
        monitor.epoch(1.0, loss, lambda: LEVELS)
        best.append(monitor.is_best)
    assert best == [True, False, True, False]


def test_a_stage_starts_afresh():
    monitor = Monitor(9, patience=1)
    assert run(monitor, [0.1, 0.2]) == [False, True]
    assert run(monitor, [0.5, 0.4]) == [False, False]


def test_a_listener_hears_every_epoch_and_may_stop():
    heard = []

    def listener(epoch):
        heard.append((epoch.stage, epoch.number, epoch.n_epochs, epoch.loss, epoch.held_out_loss))
        return epoch.number == 2

    monitor = Monitor(3, listener=listener)
    assert run(monitor, [None, 0.5, None]) == [False, True, False]
    assert heard == [("a stage", 1, 3, 1.0, None), ("a stage", 2, 3, 1.0, 0.5), ("a stage", 3, 3, 1.0, None)]


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_loss_that_is_no_number_is_never_best(loss):
    monitor = Monitor(3, patience=2)
    assert run(monitor, [loss, loss]) == [False, True]
    assert not monitor.is_best
