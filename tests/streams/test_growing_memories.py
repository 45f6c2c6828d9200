"""Columns that are added while a stream goes on: earlier rows miss them, or have other categories."""

import numpy as np
import pytest

from lann.streams import SAMKNN, SAMLANN
from lann.streams._feature_columns import NewColumn
from lann.streams._growing_memories import GrowingMemories

SMALL = {"window_size": 120, "min_window_size": 20, "random_state": 0}


def rows_with_drift(n_rows):
    """Return rows of two classes; what decides changes now and then."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(n_rows, 4))
    turned = np.arange(n_rows) // 150 % 2 == 1
    return X, (np.where(turned, X[:, 0], X[:, 3]) > 0).astype(np.int64)


def learned_with(model, X, labels, appears, new):
    """Learn rows, of which the last column is known from one row on; return probabilities of later rows."""
    n_columns = X.shape[1]
    for row, label in zip(X[:appears], labels[:appears], strict=True):
        model.learn(row[None, : n_columns - 1], [label], [])
    model.learn(X[appears : appears + 1], [labels[appears]], [new])
    found = []
    for row, label in zip(X[appears + 1 :], labels[appears + 1 :], strict=True):
        found.append(model.probabilities(row[None])[0])
        model.learn(row[None], [label], [])
    return np.array(found)


@pytest.mark.parametrize("appears", [1, 40, 170, 400])
def test_a_new_feature_is_as_if_earlier_rows_had_missed_it(appears):
    X, labels = rows_with_drift(600)
    found = learned_with(GrowingMemories(SAMKNN(**SMALL)), X, labels, appears, NewColumn(None))
    X[:appears, -1] = np.nan
    clf = SAMKNN(**SMALL).partial_fit(X[: appears + 1], labels[: appears + 1], classes=[0, 1])
    expected = clf.test_then_train(X[appears + 1 :], labels[appears + 1 :])
    # All distances are scaled up by the same factor before the feature is there, which may round.
    np.testing.assert_allclose(found, expected, rtol=1e-9)


@pytest.mark.parametrize("appears", [5, 170, 400])
def test_a_new_category_is_as_if_earlier_rows_had_another_one(appears):
    X, labels = rows_with_drift(600)
    rng = np.random.default_rng(1)
    category = rng.integers(2, size=len(X))
    category[:appears], category[appears] = 0, 1
    X[:, 2:] = np.sqrt(0.5) * np.eye(2)[category]
    found = learned_with(GrowingMemories(SAMKNN(**SMALL)), X, labels, appears, NewColumn(2))
    clf = SAMKNN(**SMALL).partial_fit(X[: appears + 1], labels[: appears + 1], classes=[0, 1])
    expected = clf.test_then_train(X[appears + 1 :], labels[appears + 1 :])
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_rows_whose_category_is_missing_miss_a_new_one_too(cls):
    X, labels = rows_with_drift(50)
    X[::5, 3] = np.nan
    model = GrowingMemories(cls(**SMALL))
    model.learn(X, labels.tolist(), [])
    model.learn(np.array([[0.0, 0.0, 0.0, 0.0, 1.0]]), [1], [NewColumn(3)])
    stored = model.estimator.memories_.short_X[:, :51]
    np.testing.assert_array_equal(stored[4], [*np.where(np.arange(50) % 5 == 0, np.nan, 0.0), 1.0])
    np.testing.assert_array_equal(stored[:4, :50], X.T)
    assert np.isfinite(model.probabilities(np.zeros((1, 5)))).all()


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_rows_at_once_are_as_rows_one_by_one(cls):
    X, labels = rows_with_drift(400)
    labels[200:220] = 5  # classes between have no rows
    labels[300:] += 2
    one, many = GrowingMemories(cls(**SMALL)), GrowingMemories(cls(**SMALL))
    for row, label in zip(X, labels.tolist(), strict=True):
        one.learn(row[None], [label], [])
    for start, stop in [(0, 1), (1, 150), (150, 390), (390, 400)]:
        many.learn(X[start:stop], labels[start:stop].tolist(), [])
    assert many.probabilities(X).shape == (400, 6)
    np.testing.assert_array_equal(many.probabilities(X), one.probabilities(X))
    assert (one.probabilities(X) > 0).all()


@pytest.mark.parametrize("cls", [SAMKNN, SAMLANN])
def test_a_feature_that_decides_from_now_on_is_used(cls):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(900, 4))
    labels = (X[:, 3] > 0).astype(np.int64)
    found = learned_with(GrowingMemories(cls(**SMALL)), X, labels, 300, NewColumn(None))
    assert (found.argmax(axis=1) == labels[301:])[-200:].mean() > 0.8
