"""Landmarks: spread over the classes, never asked about themselves, the same bits at any n_jobs."""

import pickle

import numpy as np
import pytest

from lann import LANNClassifier
from lann.datasets import make_local_relevance
from lann.explain import landmarks
from lann.explain.landmarks import Landmarks, spread


def test_spread_keeps_the_shares_of_the_classes():
    labels = np.array([0] * 60 + [1] * 30 + [2] * 10)[np.random.default_rng(0).permutation(100)]
    rows = spread(labels, 20)
    assert len(np.unique(rows)) == 20
    assert np.bincount(labels[rows]).tolist() == [12, 6, 2]
    assert spread(labels, 100).tolist() == list(range(100))
    assert len(spread(labels, 0)) == 1


@pytest.fixture(scope="module")
def planted():
    return make_local_relevance(900, 8, random_state=0)


@pytest.fixture(scope="module", params=["diagonal", "full"])
def fitted(planted, request):
    X, y, _ = planted
    return LANNClassifier(metric=request.param, random_state=0, max_iter=8).fit(X[:600], y[:600])


def test_readings_equal_votes_on_changed_places(fitted, planted, monkeypatch):
    """One landmark, by hand: the 20 nearest of all other training points, measured one by one."""
    monkeypatch.setattr(landmarks, "MOST_LANDMARKS", 40)
    X, y, _ = planted
    model = fitted._model
    found = Landmarks(model)
    row = found.rows[7]
    others = np.delete(np.arange(600), row)

    def vote(place):
        placed = model.place(place[None])
        distances = model.metric.distances(placed, others[None])[0]
        nearest = np.lexsort((others, distances))[:20]
        shares = 1.0 / (distances[nearest] + model.epsilon)
        return np.bincount(y[others[nearest]], shares, 2) / shares.sum()

    before = vote(X[row])
    np.testing.assert_allclose(found.readings.votes[7], before)
    for feature in (0, 3):
        changes = []
        for value in landmarks.usual_values(X[:600])[:, feature]:
            changed = X[row].copy()
            changed[feature] = value
            changes.append(np.abs(vote(changed) - before).sum() / 2)
        np.testing.assert_allclose(found.readings.relevances[7, feature], np.mean(changes), atol=1e-12)


def test_same_bits_at_any_number_of_threads(fitted):
    one, two = (Landmarks(fitted._model, n_jobs=n_jobs) for n_jobs in (1, 2))
    assert np.array_equal(one.readings.relevances, two.readings.relevances)
    assert np.array_equal(one.readings.supports, two.readings.supports)


def test_they_are_found_once_and_not_saved(fitted):
    model = fitted._model
    assert model.landmarks() is model.landmarks()
    again = pickle.loads(pickle.dumps(fitted))
    assert "_landmarks" not in vars(again._model)
    queries = model.levels.X[:3]
    assert np.array_equal(again.explain(queries).relevances, fitted.explain(queries).relevances)


def test_wide_data_is_read_at_fewer_places(monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 40)), rng.integers(0, 2, 300)
    clf = LANNClassifier(random_state=0, max_iter=0).fit(X, y)
    monkeypatch.setattr(landmarks, "WORK", 1e8)
    assert len(Landmarks(clf._model).rows) < 100


def test_two_points_are_enough():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0, 1.0], [5.0, 1.0]], [0, 1])
    explanation = clf.explain([[1.0, 1.0]])
    assert np.isfinite(explanation.relevances).all()
    assert explanation.relevances[0, 1] == 0.0
