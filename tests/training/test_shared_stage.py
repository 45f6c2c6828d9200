import numpy as np

from lann.metric import FeatureCurves, Levels
from lann.training import Settings
from lann.training._candidates import find_candidates
from lann.training._loss import Batch
from lann.training._procedure import Trainer
from lann.training._shared_stage import (
    SharedParameters,
    SharedStage,
    without_harmful_levels,
)
from lann.vote import zero_distance_guard

NO_ROWS = np.empty(0, np.int64)


def run(levels, settings, n_epochs, *, seed=0, validation_rows=NO_ROWS, patience=3):
    trainer = Trainer(n_epochs, patience=patience)
    rng = np.random.default_rng(seed)
    stage = SharedStage(levels, settings, n_epochs, validation_rows, NO_ROWS, rng)
    return trainer.run(stage), trainer


def with_threshold(n_rows=150):
    """The class depends on whether the first feature is above 0.3."""
    X = np.random.default_rng(0).uniform(-1.7, 1.7, size=(n_rows, 3))
    return Levels.plain(X, (X[:, 0] > 0.3).astype(np.int64), 2).with_curves(FeatureCurves.straight(X, 8))


def test_the_feature_and_the_values_that_matter_are_found():
    levels = with_threshold()
    learned, trainer = run(levels, Settings(), 6)
    assert len(trainer.losses) == 6
    assert trainer.losses[-1] < trainer.losses[0]
    slopes = learned.curves.slopes_at(levels.X).mean(axis=0)
    assert slopes[0] > 2 * slopes[1:].max()
    at_threshold, elsewhere = learned.curves.slopes_at(np.array([[0.3, 0, 0], [-1.5, 0, 0]]))[:, 0]
    assert at_threshold > elsewhere
    np.testing.assert_array_equal(learned.X, levels.X)
    assert learned.point_log_weights.shape == levels.X.shape


def test_the_map_finds_a_difference_of_features():
    """The class depends on the difference of two features; a third one is noise."""
    X = np.random.default_rng(0).normal(size=(300, 3))
    X[:, 1] += 3.0 * X[:, 0]
    X[:, 1] /= X[:, 1].std()
    levels = Levels.plain(X, (X[:, 1] > X[:, 0]).astype(np.int64), 2)
    learned, _ = run(levels.with_curves(FeatureCurves.straight(X, 8)), Settings(), 12)
    metric = learned.components.T @ learned.components
    assert metric[0, 1] < -0.1
    assert np.abs(metric[:2, 2]).max() < 0.3 * abs(metric[0, 1])


def loss_of(parameters, rows):
    """Return the mean loss of some rows, with nothing dropped."""
    candidates, distances = find_candidates(parameters.metric(), rows, parameters.settings.n_candidates)
    epsilon = zero_distance_guard(distances[:, :5])
    return parameters.loss(Batch(rows, candidates, np.ones(parameters.n_axes), epsilon))[0]


def test_harmful_levels_are_dropped():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    levels = Levels.plain(X, (X[:, 0] > 0).astype(np.int64), 2).with_curves(FeatureCurves.straight(X, 4))
    parameters = SharedParameters(levels.replace(class_log_weights=rng.normal(size=(2, 3))), Settings())
    parameters.learn_map()
    parameters.map[0] = [0.1, 2.0, 2.0]  # as wrong as the class weights
    rows = np.arange(100)
    before = loss_of(parameters, rows)
    better, dropped = without_harmful_levels(parameters, rows)
    assert "map" in dropped
    assert "class" in dropped
    assert loss_of(better, rows) < before
