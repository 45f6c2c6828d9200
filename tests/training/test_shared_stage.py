import numpy as np
import pytest

from lann.encoding import FeatureCurves
from lann.metrics import Levels
from lann.training import Settings, _shared_stage
from lann.training._shared_parameters import SharedParameters
from lann.training._shared_stage import (
    SharedStage,
    loss_without_dropout,
    sample_reference,
    without_harmful_levels,
)
from lann.training._trainer import Trainer

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


def test_the_same_generator_gives_the_same_bits_for_any_number_of_threads():
    levels = with_threshold()
    one, other = (run(levels, Settings(n_jobs=n), 2, seed=3)[0] for n in (1, 2))
    np.testing.assert_array_equal(one.curves.slopes, other.curves.slopes)
    np.testing.assert_array_equal(one.class_log_weights, other.class_log_weights)
    np.testing.assert_array_equal(one.components, other.components)


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


def test_entries_of_the_map_whose_gradients_disagree_keep_their_value():
    learned, _ = run(with_threshold(), Settings(), 12)
    between_noise = learned.components[1:, 1:][~np.eye(2, dtype=bool)]
    assert np.abs(between_noise).max() < 0.05


def test_harmful_levels_are_dropped():
    rng = np.random.default_rng(2)
    X = rng.normal(size=(400, 3))
    levels = Levels.plain(X, (X[:, 0] > 0).astype(np.int64), 2).with_curves(FeatureCurves.straight(X, 4))
    parameters = SharedParameters(levels.replace(class_log_weights=rng.normal(size=(2, 3))), Settings())
    parameters.learn_map()
    parameters.map[0] = [0.1, 2.0, 2.0]  # as wrong as the class weights
    rows = np.arange(100)
    before = loss_without_dropout(parameters, rows)
    better, dropped = without_harmful_levels(parameters, rows)
    assert "map" in dropped
    assert "class" in dropped
    assert loss_without_dropout(better, rows) < before


def test_early_stopping_keeps_no_model_with_a_dropped_level(rings, monkeypatch):
    X, y = rings
    monkeypatch.setattr(_shared_stage, "is_significantly_better", lambda errors, others: True)
    losses = iter(np.linspace(0.1, 0.9, 12))  # the first epoch has the lowest loss
    monkeypatch.setattr(_shared_stage, "loss_without_dropout", lambda parameters, rows: next(losses))
    levels = Levels.plain(X, y, 2).with_curves(FeatureCurves.straight(X, 4))
    learned, trainer = run(levels, Settings(), 12, validation_rows=np.arange(0, 2000, 10), patience=20)
    assert trainer.dropped_levels == ["map", "class", "curves"]
    assert len(trainer.validation_losses) == 12
    assert learned.components is None
    assert not learned.class_log_weights.any()


def test_validation_rows_are_no_queries(monkeypatch):
    levels, validation_rows = with_threshold(), np.arange(0, 150, 3)
    queries = []
    loss = SharedParameters.loss
    monkeypatch.setattr(SharedParameters, "loss", lambda self, b: queries.append(b.rows) or loss(self, b))
    stage = SharedStage(levels, Settings(), 1, validation_rows, NO_ROWS, np.random.default_rng(0))
    stage.train_epoch(0)
    assert set(np.concatenate(queries)) == set(range(150)) - set(validation_rows)
    queries.clear()
    assert stage.validation_loss() > 0
    np.testing.assert_array_equal(np.concatenate(queries), validation_rows)


def test_of_many_rows_some_are_no_candidates_instead_of_being_dropped_later():
    rng = np.random.default_rng(0)
    all_rows, keep_probability = sample_reference(500, 0.7, rng)
    np.testing.assert_array_equal(all_rows, np.arange(500))
    assert keep_probability == pytest.approx(0.3)
    some, keep_probability = sample_reference(10_000, 0.7, rng)
    assert len(set(some)) == len(some) == 3000
    assert keep_probability == pytest.approx(1.0)
