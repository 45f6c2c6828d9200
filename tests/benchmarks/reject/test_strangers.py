import numpy as np
import pytest

from benchmarks.reject.strangers import OtherSet, all_outside, one_outside, other_rows, permuted


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.mark.parametrize("n_features", [2, 5, 12])
def test_rows_of_another_data_set_have_the_same_number_of_columns(rng, n_features):
    other = OtherSet("other", np.arange(50.0).reshape(10, 5))
    rows = other_rows(other, n_features, rng, matched=False)
    assert rows.shape == (10, n_features)
    assert {tuple(np.sort(column)) for column in rows.T} <= {tuple(column) for column in other.X.T}
    first = {tuple(np.sort(column)) for column in rows.T[:5]}
    assert len(first) == min(n_features, 5)


def test_matched_columns_have_the_same_mean_and_deviation(rng):
    X = rng.normal(5, 7, size=(40, 3))
    X[:, 2] = 1.0
    rows = other_rows(OtherSet("other", X), 3, rng, matched=True)
    np.testing.assert_allclose(rows.mean(axis=0), 0, atol=1e-9)
    np.testing.assert_allclose(np.sort(rows.std(axis=0)), [0, 1, 1], atol=1e-9)


def test_permuted_features_keep_their_values(rng):
    X = np.column_stack([np.arange(100), np.arange(100)])
    rows = permuted(X, rng)
    np.testing.assert_array_equal(np.sort(rows, axis=0), X)
    assert (rows[:, 0] != rows[:, 1]).mean() > 0.9


def test_values_outside(rng):
    X_train, X = rng.normal(size=(80, 4)), rng.normal(size=(20, 4))
    low, high = X_train.min(axis=0), X_train.max(axis=0)
    rows = all_outside(X, X_train, rng)
    assert ((rows < low) | (rows > high)).all()
    rows = one_outside(X, X_train, rng)
    assert ((rows != X).sum(axis=1) == 1).all()
    changed = rows != X
    assert ((rows < low) | (rows > high))[changed].all()
