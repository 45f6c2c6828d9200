import pytest

from lann.training.settings import Settings, restraint


def test_the_constant_of_the_loss():
    assert Settings(loss="shares", floor=0.05).strength == 0.05
    assert Settings(loss="softmax", temperature=2.5).strength == 2.5


def test_a_softmax_without_temperature_says_so():
    with pytest.raises(ValueError, match="temperature"):
        _ = Settings(loss="softmax").strength


def test_restraint_is_for_few_points():
    assert restraint(500) == 1.0
    assert restraint(2) == 6.0
    assert restraint(10**6) == 0.3
    assert restraint(400) > restraint(600)


def test_replace_gives_another():
    settings = Settings()
    assert settings.replace(n_bins=3).n_bins == 3
    assert settings.n_bins == 16
