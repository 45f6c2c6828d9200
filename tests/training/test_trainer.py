import numpy as np

from lann.metric import Levels
from lann.training._procedure import Trainer

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


def test_a_stage_ends_when_the_best_epoch_is_patience_epochs_ago():
    trainer = Trainer(9, patience=2)
    best = trainer.run(ScriptedStage([0.5, 0.4, 0.41, 0.399999, 0.1]))
    assert trainer.validation_losses == [0.5, 0.4, 0.41, 0.399999]
    assert n_trained(best) == 2


def test_levels_from_before_a_level_was_dropped_are_not_kept():
    trainer = Trainer(4, patience=2)
    best = trainer.run(ScriptedStage([0.1, 0.11, 0.9, 0.8], drop_before=2))
    assert n_trained(best) == 4
    assert trainer.dropped_levels == ["map"]
