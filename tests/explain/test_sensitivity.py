"""What a vote hangs on: the vectorized reading equals one loop over places, features and values."""

import numpy as np

from lann.explain import sensitivity
from lann.explain.sensitivity import Readings, read, usual_values


def votes(places, origins):
    """A smooth vote of two classes that feature 2 has no part in."""
    p = 1.0 / (1.0 + np.exp(-places[:, 0] * (1.0 + places[:, 1]) - 0.1 * origins))
    return np.column_stack([p, 1.0 - p])


def reference(places, values):
    n_places, n_features = places.shape
    relevances, supports = np.zeros((n_places, n_features)), np.zeros((n_places, 2, n_features))
    for i, place in enumerate(places):
        before = votes(place[None], np.array([i]))[0]
        for feature in range(n_features):
            for value in values[:, feature]:
                changed = place.copy()
                changed[feature] = value
                after = votes(changed[None], np.array([i]))[0]
                relevances[i, feature] += np.abs(before - after).sum() / 2 / len(values)
                supports[i, :, feature] += (before - after) / len(values)
    return relevances, supports


def test_equals_the_loop(monkeypatch):
    rng = np.random.default_rng(0)
    places, values = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    relevances, supports = reference(places, values)
    for at_once in (1, 30, 10_000):
        monkeypatch.setattr(sensitivity, "CHANGED_AT_ONCE", at_once)
        readings = read(votes, places, values)
        np.testing.assert_allclose(readings.relevances, relevances)
        np.testing.assert_allclose(readings.supports, supports)
        np.testing.assert_array_equal(readings.votes, votes(places, np.arange(7)))
    assert (relevances[:, 2] == 0).all()
    assert (relevances[:, 0] > 0).all()
    np.testing.assert_allclose(supports.sum(axis=1), 0.0, atol=1e-12)


def test_means_over_places():
    rng = np.random.default_rng(1)
    readings = Readings(rng.random((5, 2)), rng.random((5, 3)), rng.random((5, 2, 3)))
    near = np.array([[0, 4, 2], [1, 1, 3]])
    for found, values in (
        (readings.votes_near(near), readings.votes),
        (readings.relevances_near(near), readings.relevances),
        (readings.supports_near(near), readings.supports),
    ):
        np.testing.assert_allclose(found, [values[row].mean(axis=0) for row in near])


def test_usual_values_are_of_the_data():
    X = np.column_stack([np.arange(100.0), np.repeat([1.0, 5.0], 50)])
    values = usual_values(X, 4)
    assert values.shape == (4, 2)
    assert np.isin(values[:, 0], X[:, 0]).all()
    assert values[:, 1].tolist() == [1.0, 1.0, 5.0, 5.0]
    assert values[:, 0].tolist() == sorted(values[:, 0])
