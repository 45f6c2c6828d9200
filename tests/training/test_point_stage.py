import numpy as np
import pytest

from lann.metric import Levels
from lann.training import Settings
from lann.training._point_stage import PointStage
from lann.training._procedure import Trainer

NO_ROWS = np.empty(0, np.int64)
WEIGHTS, MATRICES = Settings(), Settings(form="full")


def run(levels, settings, n_epochs, *, seed=0, validation_rows=NO_ROWS, patience=3):
    trainer = Trainer(n_epochs, patience=patience)
    rng = np.random.default_rng(seed)
    stage = PointStage(levels, settings, n_epochs, validation_rows, NO_ROWS, rng)
    return trainer.run(stage), trainer


@pytest.mark.parametrize("settings", [WEIGHTS, MATRICES], ids=["weights", "matrices"])
def test_training_lowers_the_loss_and_changes_only_point_metrics(small_levels, settings):
    learned, trainer = run(small_levels, settings, 3)
    assert trainer.losses[-1] < trainer.losses[0]
    assert learned.curves is small_levels.curves
    np.testing.assert_array_equal(learned.class_log_weights, small_levels.class_log_weights)
    if settings is WEIGHTS:
        assert learned.point_log_weights.any()
        assert learned.point_matrices is None
    else:
        assert not learned.point_log_weights.any()
        assert not np.allclose(learned.point_matrices, np.eye(3))


@pytest.mark.parametrize("settings", [WEIGHTS, MATRICES], ids=["weights", "matrices"])
def test_the_same_generator_gives_the_same_bits_for_any_number_of_threads(settings):
    rng = np.random.default_rng(2)
    levels = Levels.plain(rng.normal(size=(300, 5)), rng.integers(0, 2, 300), 2)
    one, other = (run(levels, settings.replace(n_jobs=n), 1, seed=3)[0] for n in (1, 2))
    if settings is WEIGHTS:
        np.testing.assert_array_equal(one.point_log_weights, other.point_log_weights)
    else:
        np.testing.assert_array_equal(one.point_matrices, other.point_matrices)


def test_matrices_find_a_direction_across_the_features():
    """The classes differ along (1, 1) alone, which weights cannot express."""
    rng = np.random.default_rng(5)
    y = np.repeat([0, 1], 100)
    along, across = rng.normal(size=200) + 2 * y, 10 * rng.normal(size=200)
    X = np.column_stack([along + across, along - across]) / np.sqrt(2)
    learned, _ = run(Levels.plain(X, y, 2), MATRICES.replace(alpha=0.1, feature_dropout=0.0), 4)
    metric = np.mean(learned.point_matrices @ learned.point_matrices.swapaxes(1, 2), axis=0)
    direction = np.linalg.eigh(metric)[1][:, -1]
    assert abs(direction @ [1, 1]) / np.sqrt(2) > 0.98
    assert np.linalg.eigvalsh(metric)[1] > 1.5 * np.linalg.eigvalsh(metric)[0]
