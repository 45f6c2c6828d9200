import numpy as np
import pytest

from benchmarks.common.protocols import PROTOCOLS, choose_protocol, scale


@pytest.fixture
def data():
    y = np.repeat([0, 1], [120, 80])
    return np.arange(400.0).reshape(200, 2), y


def test_the_paper_trains_on_a_quarter(data):
    X, y = data
    splits = PROTOCOLS["paper"].splits(X, y, seed=0)
    assert len(splits) == 10
    for train, test in splits:
        assert (len(train), len(test)) == (50, 150)
        assert not set(train) & set(test)
        assert np.bincount(y[train]).tolist() == [30, 20]


def test_folds_test_every_row_once(data):
    X, y = data
    splits = PROTOCOLS["cv"].splits(X, y, seed=0)
    assert sorted(np.concatenate([test for _, test in splits])) == list(range(200))
    assert all(len(train) == 180 for train, _ in splits)


@pytest.mark.parametrize("name", ["paper", "cv"])
def test_fewer_splits_are_a_part_of_the_ten(name, data):
    first, all_of_them = (PROTOCOLS[name].splits(*data, seed=0, n_splits=n) for n in (3, 10))
    assert len(first) == 3
    for (train, _), (same, _) in zip(first, all_of_them, strict=False):
        np.testing.assert_array_equal(train, same)


@pytest.mark.parametrize("name", ["paper", "cv"])
def test_tuning_has_splits_of_its_own(name, data):
    reported, tuning = (PROTOCOLS[name].splits(*data, seed=seed) for seed in (0, 1000))
    assert not any(np.array_equal(a, b) for (a, _) in reported for (b, _) in tuning)


def test_rows_are_scaled_by_the_training_rows(data):
    X, _ = data
    train, test = np.arange(100), np.arange(100, 200)
    X_train, X_test = scale(X, (train, test))
    np.testing.assert_allclose(X_train.mean(axis=0), 0, atol=1e-12)
    np.testing.assert_allclose(X_train.std(axis=0), 1)
    np.testing.assert_allclose(X_test, (X[test] - X[train].mean(axis=0)) / X[train].std(axis=0))


def test_an_unknown_protocol_is_named():
    with pytest.raises(ValueError, match="no protocol 'loo'; the protocols are paper, cv"):
        choose_protocol("loo")
