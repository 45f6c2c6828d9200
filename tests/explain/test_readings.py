"""Readings: the vectorized computation equals a loop over rows, features and values."""

import numpy as np
import pytest
from sklearn.preprocessing import scale

from lann.baselines import GMLVQ, LGRLVQ
from lann.explain import _readings
from lann.explain._contrast_rows import nearest_contrasts
from lann.explain._readings import Readings, read_alone, read_prototypes
from lann.explain._walks import walk_supports


def votes(rows, origins):
    """Return a smooth vote of two classes that does not depend on feature 2."""
    p = 1.0 / (1.0 + np.exp(-rows[:, 0] * (1.0 + rows[:, 1]) - 0.1 * origins))
    return np.column_stack([p, 1.0 - p])


def reference(rows, values):
    n_rows, n_features = rows.shape
    changes = np.zeros((n_rows, n_features))
    for i, row in enumerate(rows):
        before = votes(row[None], np.array([i]))[0]
        for feature in range(n_features):
            for value in values[:, feature]:
                changed = row.copy()
                changed[feature] = value
                after = votes(changed[None], np.array([i]))[0]
                changes[i, feature] += np.abs(before - after).sum() / 2 / len(values)
    return changes


def test_equals_the_loop(monkeypatch):
    rng = np.random.default_rng(0)
    rows, values = rng.normal(size=(7, 3)), rng.normal(size=(4, 3))
    expected = reference(rows, values)
    for at_once in (1, 30, 10_000):
        monkeypatch.setattr(_readings, "CHANGED_AT_ONCE", at_once)
        np.testing.assert_allclose(read_alone(votes, rows, values, range(3)), expected)
    assert (expected[:, 2] == 0).all()
    assert (expected[:, 0] > 0).all()
    some = read_alone(votes, rows, values, [1])
    np.testing.assert_allclose(some[:, 1], expected[:, 1])
    assert (some[:, [0, 2]] == 0).all()


def test_means_over_rows():
    rng = np.random.default_rng(1)
    readings = Readings(rng.random((5, 2)), rng.random((5, 3)), rng.random((5, 3)))
    np.testing.assert_allclose(readings.relevances, (readings.alone + readings.contrast) / 2)
    near = np.array([[0, 4, 2], [1, 1, 3]])
    for found, values in (
        (readings.mean_votes(near), readings.votes),
        (readings.mean_relevances(near), readings.relevances),
    ):
        np.testing.assert_allclose(found, [values[row].mean(axis=0) for row in near])


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [GMLVQ, LGRLVQ])
def test_readings_of_prototypes_equal_the_votes_on_changed_rows(kind, wine, monkeypatch):
    X, y = scale(wine[0]), wine[1]
    clf = kind(prototypes_per_class=2, max_iter=10, random_state=0).fit(X, y)
    expected = read_alone(
        lambda rows, _: clf.predict_proba(rows), X[:9], clf.model_.typical_values, range(13)
    )
    probabilities = clf.predict_proba(X[:9])
    ends = nearest_contrasts(clf.model_, X[:9], probabilities.argmax(axis=1))
    for at_once in (1, 10_000):
        monkeypatch.setattr(_readings, "CHANGED_AT_ONCE", at_once)
        found = read_prototypes(clf.model_, X[:9])
        np.testing.assert_array_equal(found.votes, probabilities)
        np.testing.assert_allclose(found.alone, expected, atol=1e-9)
        np.testing.assert_allclose(found.contrast, walk_supports(clf.model_, X[:9], ends).changes)
