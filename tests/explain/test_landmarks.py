"""Landmarks: drawn from all classes, without their own vote, the same bits at any n_jobs."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_wine

from lann import LANNClassifier, load, save
from lann._sampling import stratified_rows
from lann.datasets import make_local_relevance
from lann.explain import _landmarks, class_relevances
from lann.explain._landmarks import LandmarkReader, compute_landmarks, landmarks_of
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


@pytest.fixture
def large(monkeypatch):
    """Return new models of the same data whose landmarks are those of a sample of the rows."""
    monkeypatch.setattr(_landmarks, "MOST_ROWS", 100)
    monkeypatch.setattr(_landmarks, "N_SAMPLED", 90)
    monkeypatch.setattr(_landmarks, "MOST_LANDMARKS", 40)
    X, y = load_wine(return_X_y=True)
    fitted = LANNClassifier(max_iter=4, random_state=0).fit(X, y)
    return lambda: pickle.loads(pickle.dumps(fitted)), X + 0.01


def test_the_landmarks_of_many_rows_are_those_of_a_sample(large):
    new, _ = large
    model = new().model_
    sampled = stratified_rows(model.labels, 90)
    found, own = compute_landmarks(model), LandmarkReader(model.subset(sampled))
    np.testing.assert_array_equal(found.rows, sampled[own.rows])
    readings, ends = own.read(np.array([3, 17]))
    np.testing.assert_allclose(found.readings.relevances[[3, 17]], readings.relevances, rtol=1e-10)
    np.testing.assert_array_equal(found.contrast_rows[[3, 17]], sampled[ends])
    assert np.isin(found.representatives, np.append(sampled, -1)).all()
    other = model.labels[found.contrast_rows] != model.labels[found.rows][:, None]
    assert other[found.contrast_rows >= 0].all()


def test_few_queries_read_the_landmarks_near_them_with_the_same_result(large):
    new, queries = large
    whole, single = new(), new()
    expected = whole.explain(queries)
    assert "landmarks" in whole.model_.derived
    for start in (0, 70, 150):
        part = slice(start, start + 2)
        found = single.explain(queries[part])
        np.testing.assert_allclose(found.relevances, expected.relevances[part], rtol=1e-10)
        np.testing.assert_allclose(found.supports, expected.supports[part], rtol=1e-9, atol=1e-12)
        assert "landmarks" not in single.model_.derived
    some = single.model_.derived["some_landmarks"]
    assert 0 < some.known.sum() < len(some.known)
    again = pickle.loads(pickle.dumps(single))
    np.testing.assert_allclose(
        again.explain(queries[90:92]).relevances, expected.relevances[90:92], rtol=1e-10
    )
    some.read(single.model_, np.arange(len(some.known)))
    single.explain(queries[:1])
    assert single.model_.derived.keys() >= {"landmarks"}
    assert "some_landmarks" not in single.model_.derived
    np.testing.assert_array_equal(
        single.model_.derived["landmarks"].contrast_rows, whole.model_.derived["landmarks"].contrast_rows
    )


def test_a_file_of_a_model_with_some_landmarks_has_none(large, tmp_path):
    new, queries = large
    clf = new()
    clf.explain(queries[:1])
    save(clf, tmp_path / "model.lann")
    loaded = load(tmp_path / "model.lann")
    assert "landmarks" not in loaded.model_.derived
    np.testing.assert_array_equal(loaded.explain(queries[:1]).relevances, clf.explain(queries[:1]).relevances)
