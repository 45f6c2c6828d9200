import numpy as np
import pytest

from lann.training import OnlineSettings, _initial, train_online
from lann.training._online_procedure import choose_temperature


def run(levels, callback=None, **settings):
    return train_online(levels, OnlineSettings(**settings), np.random.default_rng(0), callback=callback)


@pytest.mark.parametrize("form", ["diagonal", "full", "low_rank"])
@pytest.mark.parametrize("constraint", ["norm", "determinant", "bounded"])
def test_training_lowers_the_loss(plain, form, constraint):
    result = run(plain, form=form, constraint=constraint, n_components=3, max_iter=5)
    assert len(result.losses) == 5
    assert result.losses[-1] < result.losses[0]
    n_axes = 3 if form == "low_rank" else 4
    assert (result.levels.components is None) == (form != "low_rank")
    if form == "diagonal":
        assert result.levels.point_matrices is None
        assert result.levels.point_log_weights.any()
    else:
        assert result.levels.point_matrices.shape == (90, n_axes, n_axes)


@pytest.mark.parametrize("form", ["diagonal", "full"])
def test_the_final_metrics_have_the_norm(plain, form):
    levels = run(plain, form=form, max_iter=2).levels
    metrics = levels.local_matrices(np.arange(90))
    np.testing.assert_allclose(np.trace(metrics, axis1=1, axis2=2), 4.0)


def test_the_final_weights_have_the_determinant(plain):
    levels = run(plain, constraint="determinant", max_iter=2).levels
    np.testing.assert_allclose(np.log(levels.weights).sum(axis=1), 0.0, atol=1e-9)


def test_without_epochs_nothing_is_learned(plain):
    result = run(plain, form="low_rank", n_components=2, max_iter=0)
    assert result.losses == []
    assert result.levels.in_use == ()


def test_the_temperature_is_the_given_or_the_chosen_one(plain):
    assert run(plain, temperature=7.0, max_iter=0).temperature == 7.0
    assert run(plain, temperature=None, max_iter=0).temperature == choose_temperature(plain)


def test_the_callback_gets_every_epoch_and_can_stop_the_training(plain):
    epochs = []
    result = run(plain, callback=lambda epoch: epochs.append(epoch) or epoch.number == 2, max_iter=5)
    assert [epoch.number for epoch in epochs] == [1, 2]
    assert [epoch.loss for epoch in epochs] == result.losses
    assert {epoch.stage for epoch in epochs} == {"point weights"}


def test_matrices_that_take_too_much_memory_raise(monkeypatch, plain):
    monkeypatch.setattr(_initial, "MOST_NUMBERS", 100)
    assert len(run(plain, max_iter=1).losses) == 1
    with pytest.raises(ValueError, match="Matrices over 4 axes for 90 rows"):
        run(plain, form="full", max_iter=1)
