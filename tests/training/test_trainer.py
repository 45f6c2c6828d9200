import numpy as np
import pytest

from lann.metric import Levels
from lann.training._procedure import Epoch, Trainer

PLAIN = Levels.plain(np.zeros((2, 1)), np.zeros(2, np.int64), 1)


class ScriptedStage:
    """A stage with given validation losses, whose class weights count its epochs."""

    name = "scripted stage"

    def __init__(self, validation_losses, *, drop_before=None, ends_before=None):
        self.n_epochs = len(validation_losses)
        self.dropped_levels = []
        self._validation_losses, self._drop_before, self._ends_before = (
            validation_losses,
            drop_before,
            ends_before,
        )
        self._n_trained = 0

    def prepare_epoch(self, epoch):
        if epoch == self._drop_before:
            self.dropped_levels.append("map")
        return epoch != self._ends_before

    def train_epoch(self, epoch):
        self._n_trained += 1
        return float(epoch)

    def validation_loss(self):
        return self._validation_losses[self._n_trained - 1]

    def levels(self):
        return PLAIN.replace(class_log_weights=np.full((1, 1), float(self._n_trained)))


def n_trained(levels):
    return levels.class_log_weights[0, 0]


def test_without_validation_rows_all_epochs_run_and_the_last_levels_are_kept():
    trainer = Trainer(9)
    assert n_trained(trainer.run(ScriptedStage([None] * 9))) == 9
    assert trainer.losses == list(range(9))
    assert trainer.validation_losses == []


def test_a_stage_ends_when_the_best_epoch_is_patience_epochs_ago():
    trainer = Trainer(9, patience=2)
    best = trainer.run(ScriptedStage([0.5, 0.4, 0.41, 0.399999, 0.1]))
    assert trainer.validation_losses == [0.5, 0.4, 0.41, 0.399999]
    assert n_trained(best) == 2


def test_the_levels_with_the_lowest_validation_loss_are_kept():
    trainer = Trainer(4, patience=5)
    assert n_trained(trainer.run(ScriptedStage([0.5, 0.6, 0.3, 0.4]))) == 3
    assert len(trainer.losses) == 4


def test_every_stage_has_a_best_epoch_of_its_own():
    trainer = Trainer(4, patience=1)
    assert n_trained(trainer.run(ScriptedStage([0.1, 0.2]))) == 1
    assert n_trained(trainer.run(ScriptedStage([0.5, 0.4]))) == 2


@pytest.mark.parametrize("loss", [float("nan"), float("inf")])
def test_a_validation_loss_that_is_not_finite_is_never_the_best(loss):
    trainer = Trainer(3, patience=2)
    assert n_trained(trainer.run(ScriptedStage([loss, loss, 0.1]))) == 0
    assert len(trainer.losses) == 2


def test_levels_from_before_a_level_was_dropped_are_not_kept():
    trainer = Trainer(4, patience=2)
    best = trainer.run(ScriptedStage([0.1, 0.11, 0.9, 0.8], drop_before=2))
    assert n_trained(best) == 4
    assert trainer.dropped_levels == ["map"]


def test_a_stage_can_end_itself():
    trainer = Trainer(4)
    best = trainer.run(ScriptedStage([0.1, 0.2, 0.3, 0.4], drop_before=2, ends_before=2))
    assert len(trainer.losses) == 2
    assert n_trained(best) == 2


def test_the_callback_gets_every_epoch_and_can_stop_the_training():
    epochs = []

    def callback(epoch):
        epochs.append((epoch.stage, epoch.number, epoch.n_epochs, epoch.loss, epoch.validation_loss))
        assert n_trained(epoch.levels()) == epoch.number
        return epoch.number == 2

    trainer = Trainer(3, callback)
    trainer.run(ScriptedStage([0.5, 0.4, 0.3]))
    assert epochs == [("scripted stage", 1, 3, 0.0, 0.5), ("scripted stage", 2, 3, 1.0, 0.4)]
    assert trainer.stopped


def test_an_epoch_as_text():
    epoch = Epoch("shared levels", 3, 14, 0.25, None, lambda: PLAIN)
    assert str(epoch) == "epoch 3/14, shared levels: loss 0.2500"
    epoch = Epoch("point weights", 13, 14, 0.25, 0.5, lambda: PLAIN)
    assert str(epoch) == "epoch 13/14, point weights: loss 0.2500, validation loss 0.5000"
