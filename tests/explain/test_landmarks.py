"""Relevances equal the votes on changed rows."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_wine
from sklearn.preprocessing import scale

from lann import LANNClassifier
from lann._support.rows import stratified_rows
from lann.baselines import GMLVQ, LGRLVQ
from lann.datasets import make_local_relevance
from lann.explain import _readings, class_relevances
from lann.explain._landmarks import landmarks_of
from lann.explain._readings import compute_landmarks, read_prototypes
from lann.explain._training_rows import Queries
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
    monkeypatch.setattr(_readings, "MOST_LANDMARKS", 40)
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


def test_they_are_computed_once_and_pickled_with_the_model(fitted, monkeypatch):
    model = fitted.model_
    landmarks = landmarks_of(model)
    assert landmarks_of(model) is landmarks
    queries = model.X[:3]
    expected = fitted.explain(queries).relevances
    again = pickle.loads(pickle.dumps(fitted))
    monkeypatch.setattr(_readings, "compute_landmarks", None)  # nothing is computed again
    np.testing.assert_array_equal(again.explain(queries).relevances, expected)


def test_relevances_by_class_are_means_over_landmarks(fitted):
    landmarks = landmarks_of(fitted.model_)
    for label, found in enumerate(class_relevances(fitted)):
        own = fitted.model_.labels[landmarks.rows] == label
        np.testing.assert_allclose(found, landmarks.readings.relevances[own].mean(axis=0))


def test_two_rows_are_enough():
    clf = LANNClassifier(1, max_iter=0).fit([[0.0, 1.0], [5.0, 1.0]], [0, 1])
    explanation = clf.explain([[1.0, 1.0]])
    assert np.isfinite(explanation.relevances).all()
    assert explanation.relevances[0, 1] == 0.0


def test_the_landmarks_of_many_rows_are_those_of_a_sample(monkeypatch):
    monkeypatch.setattr(_readings, "MOST_ROWS", 100)
    monkeypatch.setattr(_readings, "N_SAMPLED", 90)
    monkeypatch.setattr(_readings, "MOST_LANDMARKS", 40)
    model = LANNClassifier(max_iter=4, random_state=0).fit(*load_wine(return_X_y=True)).model_
    sampled = stratified_rows(model.labels, 90)
    found, own = compute_landmarks(model), compute_landmarks(model.subset(sampled))
    np.testing.assert_array_equal(found.rows, sampled[own.rows])
    np.testing.assert_array_equal(found.readings.relevances, own.readings.relevances)
    np.testing.assert_array_equal(found.references, own.references)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("kind", [GMLVQ, LGRLVQ])
def test_readings_of_prototypes_equal_the_votes_on_changed_rows(kind, wine):
    X, y = scale(wine[0]), wine[1]
    clf = kind(prototypes_per_class=2, max_iter=10, random_state=0).fit(X, y)
    found = read_prototypes(Queries(clf.model_, X[:4]))
    before = clf.predict_proba(X[:4])
    np.testing.assert_array_equal(found.votes, before)
    values = clf.model_.typical_values
    for feature in (0, 6, 12):
        changed = np.repeat(X[:4, None], len(values), axis=1)
        changed[:, :, feature] = values[:, feature]
        after = clf.predict_proba(changed.reshape(-1, 13)).reshape(4, len(values), -1)
        expected = np.abs(after - before[:, None]).sum(axis=2).mean(axis=1) / 2
        np.testing.assert_allclose(found.alone[:, feature], expected, atol=1e-9)
