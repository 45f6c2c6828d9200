"""Landmarks: drawn from all classes, without their own vote, the same bits at any n_jobs."""

import pickle

import numpy as np
import pytest

from lann import LANNClassifier
from lann.datasets import make_local_relevance
from lann.explain import _landmarks, class_relevances
from lann.explain._landmarks import compute_landmarks, landmarks_of
from lann.model import typical_values


@pytest.fixture(scope="module")
def planted():
    return make_local_relevance(900, 8, random_state=0)


@pytest.fixture(scope="module", params=["diagonal", "full"])
def fitted(planted, request):
    X, y, _ = planted
    return LANNClassifier(metric=request.param, random_state=0, max_iter=8).fit(X[:600], y[:600])


def test_readings_equal_votes_on_changed_rows(fitted, planted, monkeypatch):
    """One landmark by hand: the 20 nearest of all other training rows."""
    monkeypatch.setattr(_landmarks, "MOST_LANDMARKS", 40)
    X, y, _ = planted
    model = fitted.model_
    found = compute_landmarks(model)
    row = found.rows[7]
    others = np.delete(np.arange(600), row)

    def vote(changed):
        distances = model.distances(changed[None], others[None])[0]
        nearest = np.lexsort((others, distances))[:20]
        shares = 1.0 / (distances[nearest] + model.vote_rule.epsilon)
        return np.bincount(y[others[nearest]], shares, 2) / shares.sum()

    before = vote(X[row])
    np.testing.assert_allclose(found.readings.votes[7], before)
    for feature in (0, 3):
        changes = []
        for value in typical_values(X[:600])[:, feature]:
            changed = X[row].copy()
            changed[feature] = value
            changes.append(np.abs(vote(changed) - before).sum() / 2)
        np.testing.assert_allclose(found.readings.alone[7, feature], np.mean(changes), atol=1e-12)


def test_same_bits_at_any_number_of_threads(fitted):
    one, two = (compute_landmarks(fitted.model_, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.readings.alone, two.readings.alone)
    assert np.array_equal(one.readings.contrast, two.readings.contrast)
    assert np.array_equal(one.contrast_rows, two.contrast_rows)
    assert np.array_equal(one.representatives, two.representatives)


def test_they_are_computed_once_and_pickled_with_the_model(fitted, monkeypatch):
    model = fitted.model_
    landmarks = landmarks_of(model)
    assert landmarks_of(model) is landmarks
    queries = model.X[:3]
    expected = fitted.explain(queries).relevances
    again = pickle.loads(pickle.dumps(fitted))
    monkeypatch.setattr(_landmarks, "compute_landmarks", None)  # nothing is computed again
    np.testing.assert_array_equal(again.explain(queries).relevances, expected)


def test_relevances_by_class_are_means_over_landmarks(fitted):
    landmarks = landmarks_of(fitted.model_)
    for label, found in enumerate(class_relevances(fitted)):
        own = fitted.model_.labels[landmarks.rows] == label
        np.testing.assert_allclose(found, landmarks.readings.relevances[own].mean(axis=0))


def test_wide_data_has_fewer_landmarks(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 40)), rng.integers(0, 2, 300)
    clf = LANNClassifier(random_state=0, max_iter=0).fit(X, y)
    monkeypatch.setattr(_landmarks, "WORK", 1e7)
    assert len(compute_landmarks(clf.model_).rows) < 100


def test_two_rows_are_enough():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0, 1.0], [5.0, 1.0]], [0, 1])
    explanation = clf.explain([[1.0, 1.0]])
    assert np.isfinite(explanation.relevances).all()
    assert explanation.relevances[0, 1] == 0.0
