import numpy as np
import pytest

from lann.metric import Levels
from lann.training import Settings, _initial, n_epochs_of, train
from lann.training._train import plan_epochs

ONLY_POINTS = {"curves": False, "linear_map": False, "class_metrics": False}


def run(levels, settings=None, *, seed=0, callback=None, **changes):
    settings = Settings(**changes) if settings is None else settings
    return train(levels, settings, np.random.default_rng(seed), callback=callback)


@pytest.mark.parametrize(
    ("settings", "expected"),
    [
        ({}, (12, 2)),
        ({"max_iter": 0}, (0, 0)),
        ({"max_iter": 7}, (6, 1)),
        ({"max_iter": 1}, (1, 0)),
        ({"max_iter": 5, "point_metrics": False}, (5, 0)),
        ({"max_iter": 5, **ONLY_POINTS}, (0, 5)),
        ({"point_metrics": False, **ONLY_POINTS}, (0, 0)),
        ({"max_iter": 5, "point_metrics": False, **ONLY_POINTS}, (0, 0)),
    ],
)
def test_epochs_are_divided_between_the_stages(settings, expected):
    assert plan_epochs(Settings(**settings)) == expected
    assert n_epochs_of(Settings(**settings), 100) == sum(expected)


def test_training_learns_every_level(plain):
    result = run(plain, max_iter=4)
    assert result.levels.in_use == ("curves", "map", "class", "point")
    assert result.levels.X is plain.X
    assert len(result.losses) == 4
    assert result.validation_losses == []
    assert result.dropped_levels == []
    assert result.index is None


def test_curves_jump_where_the_class_does():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(600, 4)) * [1.0, 5.0, 1.0, 1.0] + [0.0, 20.0, 0.0, 0.0]
    y = ((X[:, 0] > 0.3) & (X[:, 1] <= 19.0)).astype(np.int64)
    start = Levels.plain(X, y, 2)
    curves = run(start).levels.curves
    assert abs(curves.thresholds[0, curves.jumps[0].argmax()] - 0.3) < 0.02
    assert abs(curves.thresholds[1, curves.jumps[1].argmax()] - 19.0) < 0.1
    assert curves.jumps[:2].max(axis=1).min() > 2 * curves.jumps[2:].max()
    for other in (run(start, n_jobs=2).levels.curves, run(start, n_jobs=1).levels.curves):
        np.testing.assert_array_equal(other.thresholds, curves.thresholds)
        np.testing.assert_array_equal(other.jumps, curves.jumps)
    assert run(start, n_steps=0, max_iter=2).levels.curves.n_steps == 0
    # Jumps are learned further, at the same thresholds.
    again = run(start.with_curves(curves), max_iter=2).levels.curves
    before = curves.thresholds[np.isfinite(curves.thresholds)]
    after = again.thresholds[again.jumps > 0]
    assert len(after) > 0
    assert np.abs(after[:, None] - before).min(axis=1).max() < 1e-9


def test_the_callback_gets_every_epoch_in_the_units_of_the_user(plain):
    epochs, levels = [], []
    result = run(
        plain, max_iter=4, callback=lambda epoch: epochs.append(epoch) or levels.append(epoch.levels())
    )
    assert [epoch.number for epoch in epochs] == [1, 2, 3, 4]
    assert [epoch.loss for epoch in epochs] == result.losses
    assert [epoch.stage for epoch in epochs] == [*["shared levels"] * 3, "point weights"]
    assert all(some.X is plain.X for some in levels)
    np.testing.assert_array_equal(levels[-1].points, result.levels.points)


def test_early_stopping_has_a_validation_loss_for_every_epoch(plain):
    result = run(plain, max_iter=4, validation_fraction=0.2)
    assert len(result.validation_losses) == len(result.losses) == 4
    assert run(plain, max_iter=0, validation_fraction=0.2).validation_losses == []


def test_many_rows_select_the_levels_and_few_do_not(rings):
    X, y = rings
    for n_rows, selected in ((500, False), (2000, True)):
        start = Levels.plain(X[:n_rows], y[:n_rows], 2)
        result, kept = (run(start, max_iter=14, drop_levels=drop) for drop in (True, False))
        assert kept.dropped_levels == []
        same = np.array_equal(result.levels.curves.slopes, kept.levels.curves.slopes)
        assert same != selected
        assert (result.levels.components is None) == ("map" in result.dropped_levels)


def test_matrices_that_take_too_much_memory_raise(monkeypatch, plain):
    monkeypatch.setattr(_initial, "MOST_NUMBERS", 100)
    for form in ("full", "low_rank"):
        with pytest.raises(ValueError, match="Matrices over 4 axes for 90 rows"):
            run(plain, form=form)


@pytest.mark.parametrize("form", ["diagonal", "full", "low_rank"])
def test_copies_are_trained_as_one_row_with_a_weight(plain, form):
    counts = np.random.default_rng(0).integers(1, 4, 90)
    rows = np.random.default_rng(1).permutation(np.repeat(np.arange(90), counts))
    weighted = plain.replace(row_weights=2.0 * counts)
    repeated = plain.subset(rows)
    callbacks = []
    settings = {"max_iter": 4, "form": form, "n_components": 2}
    one = run(weighted, **settings)
    other = run(repeated, callback=lambda epoch: callbacks.append(epoch.levels()), **settings)
    assert one.losses == other.losses
    assert one.levels.row_weights is weighted.row_weights
    assert other.levels.row_weights is None
    assert other.levels.X is repeated.X
    np.testing.assert_array_equal(other.levels.weights, one.levels.weights[rows])
    if form != "diagonal":
        np.testing.assert_array_equal(other.levels.point_matrices, one.levels.point_matrices[rows])
    assert len(callbacks) == 4
    assert callbacks[0].X is repeated.X
    np.testing.assert_array_equal(callbacks[-1].weights, other.levels.weights)
